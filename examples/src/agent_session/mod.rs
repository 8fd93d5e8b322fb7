//! A session with an agent that works in steps, and goes on where it was after every kill.
//!
//! [`session`] is the workflow. Each step is one call of a model, [`answer`]. What the user says comes in through a
//! mailbox, [`hear`], whatever the session is at; what happens goes out through a stream, [`OUTPUT`]; how it stands is
//! a view, [`STANDING`]. Nothing is kept in memory alone: a program that is killed in the middle of a step leaves a
//! session that the next one goes on with.
//!
//! | what the user says | is |
//! |---|---|
//! | while the agent waits | the beginning of a step |
//! | while a step is at work | heard at once, and seen by the model before its next step |
//! | while no program runs, or in the moment of a kill | said again under the same reference, and heard once |
//! | `/stop` | the end of the step: what the model still says to it is not heard |
//! | `/quit`, or nothing for too long | the end of the session |
//! | when that has ended | refused |
//!
//! | what goes wrong | is |
//! |---|---|
//! | the model is not there, has too much to do, is too slow | asked again, with the same key and after a while |
//! | it does not take the key or the request, or answers with something else | said in the session, which waits |
//! | the program is killed in the middle of a call | asked again, with the same key: see [`answer`] for what that costs |
//! | the model does not come to an end | bounded: so many steps without a word of the user, and then it waits |
//!
//! ```text
//! a line ─ Desk ─ fulfil ─▶ mailbox ─▶ session ─▶ answer ─ HTTP ─▶ a model, or StandIn
//!                                       │   ▲        │
//!                 Desk ◀── OUTPUT ──────┘   └────────┘
//! ```

mod command;
mod desk;
mod events;
mod look;
mod model;
mod problem;
mod stand_in;
mod talk;
mod wire;
mod workflow;

pub use command::{Chat, Command};
pub use desk::{Desk, Refused};
pub use events::{
    Doing, Ended, Event, INSTRUCTIONS, OUTPUT, STANDING, Settings, Standing, Why, hear,
};
pub use look::Look;
pub use model::{ADDRESS, Answer, Model, PATIENCE, Prompt, answer};
pub use problem::{ModelError, SettingError};
pub use stand_in::{Call, Reply, StandIn};
pub use talk::{CONTEXT, LONGEST_WORD, Line, Talk, Who, Word};
pub use wire::Message;
pub use workflow::session;
