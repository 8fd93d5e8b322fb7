//! Talking to runs from outside the process that runs them: what the command `perennial` does with `send`, `signal`,
//! `fulfil`, `pause`, `resume`, `fork`, `list`, `show`, `history`, `messages`, `waiting`, `view` and `stream`.
//!
//! [`Runs::at`] finds runs wherever they are, and [`Runs::ask`] asks: one [`Request`], one [`Answer`];
//! [`Runs::follow`] has what comes handed on. A program
//! that has its store open is asked through its control socket, if it was
//! [built](crate::Builder::control_socket) with one; a store that nobody has open is opened; of an export everything
//! can be asked that changes nothing.
//!
//! # The protocol
//!
//! The socket is [`SOCKET`] in the folder of the store. Its mode is 0600 from its first moment. A line is one JSON
//! object, and both sides begin with one that says which version of the protocol they speak:
//!
//! ```text
//! > {"perennial":1}
//! < {"perennial":1,"software":"perennial 0.1.0"}
//! > {"send":{"run":{"namespace":"default","id":"order-42"},"channel":"message","name":"approval","payload":true}}
//! < {"sent":{"number":7,"at":1764000000000,"duplicate":false}}
//! > {"fly":{}}
//! < {"refused":{"code":"unknown_request","text":"there is no request \"fly\"; ..","help":".."}}
//! ```
//!
//! What a run gives out or shows is pushed to whoever [follows](Follow) it, once it is durable, and nobody asks again
//! and again. To follow is a line as a request is, and is answered with any number of lines and a last one:
//!
//! ```text
//! > {"follow":{"stream":{"run":{"namespace":"default","id":"order-42"},"stream":"output","after":7}}}
//! < {"items":{"items":[{"number":8,"at":1764000000000,"value":"quoted"}],"more":true}}
//! < {"items":{"items":[{"number":9,"at":1764000001000,"value":"approved"}],"more":true}}
//! < {"ended":{"finished":true}}
//! ```
//!
//! Who follows need say nothing for as long as it takes. Whatever they say ends it, and is answered after the last line;
//! who ends their side of the connection ends it too. A program that is stopped says so.
//!
//! A program takes 64 connections at a time, of which 32 may follow something, and lines of at most the largest value and 64 KiB. Who says nothing for
//! 30 seconds, or takes more than 10 for a line or to read an answer, is let go. After a line that is too long or too
//! slow the connection ends; what is not understood is refused with its code, and the next line may be.
//!
//! Points in time are milliseconds since 1970. Fields may come to requests and answers; a reader passes over those
//! that it does not know.

#[cfg(unix)]
mod ask;
#[cfg(unix)]
mod conversation;
mod declared;
mod error;
mod follow;
#[cfg(unix)]
mod line;
#[cfg(unix)]
mod listen;
#[cfg(not(unix))]
#[path = "no_listen.rs"]
mod listen;
mod offers;
mod pause;
mod place;
mod publications;
mod refused;
mod request;
mod room;
mod runs;
mod serve;
#[cfg(unix)]
mod types;
mod unpublished;

pub use error::{AskError, ControlError};
pub use follow::{Ended, Follow};
pub(crate) use listen::{Bound, Control};
pub use offers::{Fulfil, ListWaiting};
pub use place::{SOCKET, socket_path};
pub use publications::{ItemPage, ReadStream, Views};
pub use refused::Refused;
pub use request::{
    Answer, Ask, Attempts, HistoryPart, ListMessages, ListRuns, Publishes, Receives, Request,
    RunDetails, StubType, Tell, UpdateType,
};
pub use runs::{Runs, Whereabouts};
