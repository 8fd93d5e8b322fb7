//! Durable workflows as ordinary async functions.
//!
//! Annotate a function with [`#[workflow]`](macro@workflow), the code that touches the world with
//! [`#[activity]`](macro@activity), and give both to a runtime (`perennial-runtime`). The workflow then
//! survives crashes, restarts and long waits: after each of them it is run again over its *history* until
//! it stands where it stood.
//!
//! ```
//! use perennial::prelude::*;
//!
//! /// Greets by mail. The provider deduplicates by key, so running twice is harmless.
//! #[activity(idempotent, attempt = "30s")]
//! async fn send_mail(acx: &ActivityCx, to: String) -> Result<u64, Failure> {
//!     let key = acx.idempotency_key();
//!     Ok(key.len() as u64 + to.len() as u64)
//! }
//!
//! #[workflow]
//! async fn welcome(cx: &Cx, name: String) -> Result<u64, Error> {
//!     let first = send_mail(cx, name.clone()).await?;
//!     cx.sleep(days(7)).await?;
//!     let second = send_mail(cx, name).await?;
//!     Ok(first + second)
//! }
//! # fn main() { assert_eq!(welcome::NAME, "welcome"); }
//! ```
//!
//! # Where things are
//!
//! * [`Cx`]: what a workflow can do. [`ActivityCx`]: what an activity can see.
//! * [`Durable`]: what a workflow may wait for; [`join!`], [`try_join!`], [`select!`], [`join_all`],
//!   [`JoinSet`].
//! * [`Outcome`], [`ActivityError`], [`Failure`]: how activities end.
//! * [`#[migration]`](macro@migration), [`OldRun`]: moving a run to a new one.
//! * `testing`, with the feature of that name: tests of workflows.
//! * The feature `schemars`: manifests have the schemas of types that implement `schemars::JsonSchema`.
//! * [`history`]: events and their forms. [`machine`]: the replay machine, for those who write drivers.
//!
//! This crate knows no clock, thread, file or socket: those belong to drivers. (Its test kit knows threads and files.)
//!
//! References such as (S6), (O13) or (M22) in these pages number the rules of the project's design, so that
//! code, tests and texts can cite the same one.

#![warn(missing_docs)]

mod activity;
mod allowed;
mod blocked;
mod channel;
mod cx;
mod durable;
mod error;
mod fulfilled;
mod handles;
pub mod history;
mod ids;
mod incompatible;
mod listens;
pub mod machine;
mod migration;
mod outcome;
pub mod prelude;
mod prose;
mod publishes;
mod sent;
mod stub;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
mod types;
pub mod value;
pub mod wire;
mod workflow;

pub use activity::{
    Activity, ActivityCx, ActivityDefinition, ActivityFn, ActivityOptions, ActivityResult,
    ActivitySet, Attempt, AttemptEnd, Attempted, Call, CallFuture, Class, Failure, Retry,
    StateType, States, Stop,
};
pub use blocked::{Blocked, NotDurable, Panicked, Runaway, Unstorable};
pub use channel::{
    MAX_CHANNEL_NAME, MAX_STREAMS, MAX_UPDATES, MAX_VIEWS, Message, Signal, Stream, Update, View,
    is_channel_name,
};
pub use cx::{
    Cx, Draw, Fulfilling, MAX_SLEEP, Receive, ReceiveError, ReceiveTimeout, Sending, Sleep,
    SleepError, Until,
};
pub use durable::{
    BoxDurable, Durable, Durably, JoinSet, MemberId, Next, NextWithId, Take, Task, join_all,
};
pub use error::Error;
pub use fulfilled::FulfilFailure;
pub use handles::Handled;
pub use history::Close;
pub use ids::{IdProblem, InvalidId, MAX_ID_LENGTH, Namespace, OperationId, RunId, RunKey};
pub use incompatible::{Coloured, Incompatible, IncompatibleKind, MarkerMismatch, Remedy, Side};
pub use listens::Receives;
pub use migration::{
    BlockedBy, Migrates, Migration, MigrationDefinition, MigrationFn, OldFulfilment, OldRun,
    OldSend, Open, OpenKind, Refuse,
};
pub use outcome::{ActivityError, Cancelled, Effect, Never, Outcome, Spent};
#[cfg(feature = "testing")]
pub use perennial_macros::test;
pub use perennial_macros::{activity, allow_nondeterminism, durable, migration, stub, workflow};
pub use publishes::{Publication, Publishes};
pub use sent::{Receipt, RunEnd, SendFailure};
pub use stub::{
    Mailbox, NextMail, Offer, Stub, StubCall, StubDefinition, StubError, StubFn, StubFuture,
    StubTimeout,
};
pub use time::{Timestamp, days, hours, millis, minutes, seconds};
pub use types::{DataType, DataTypes};
pub use workflow::{
    BodyEnd, BodyFuture, Callee, CalleeKind, Child, Graph, MarkerRange, RetiredMarker, Workflow,
    WorkflowDefinition, WorkflowFn, WorkflowResult, WorkflowSet,
};

// For the attributes, in the tests of this crate.
#[cfg(test)]
extern crate self as perennial;

use serde::Serialize;
use serde::de::DeserializeOwned;

use self::value::{DecodeError, EncodeError, Value};

/// Data that crosses the history: inputs, results, errors and recorded values.
///
/// Implemented for all that is `Serialize + DeserializeOwned + Send + 'static`. Values are stored as JSON,
/// at most 1 MiB each; floats must be finite and the keys of maps strings.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in a workflow history: recorded values need `serde::Serialize`, `serde::Deserialize` and `Send + 'static`",
    label = "this type is written to the history",
    note = "derive both serde traits on it: `#[derive(serde::Serialize, serde::Deserialize)]`"
)]
// Not `: Serialize + DeserializeOwned`: where an associated type is bounded on it, rustc would speak of
// those traits, at length, and not of this one.
pub trait Data: Send + 'static {
    #[doc(hidden)]
    fn to_value(&self) -> Result<Value, EncodeError>;
    #[doc(hidden)]
    fn from_value(value: &Value) -> Result<Self, DecodeError>
    where
        Self: Sized;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> Data for T {
    fn to_value(&self) -> Result<Value, EncodeError> {
        Value::encode(self)
    }

    fn from_value(value: &Value) -> Result<Self, DecodeError> {
        value.decode()
    }
}

/// What the attributes expand to. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::__schemas as schemas;
    pub use crate::activity::AttemptFuture;
    pub use crate::allowed::{Allowed, is_allowed};
    pub use crate::durable::{
        At, Either, Elsewhere, Start, await_durable, durably, join, race, try_join,
    };
    pub use crate::types::Schemas;
    #[cfg(feature = "schemars")]
    pub use crate::types::schema;
    pub use crate::workflow::Site;
    #[cfg(feature = "testing")]
    pub use ::insta;

    /// What finds out which message or signal a constant is.
    pub mod listened {
        pub use crate::listens::{Known, Listened, Typed, Unknown};
    }

    /// The same for a stream or a view.
    pub mod published {
        pub use crate::publishes::{Known, Published, Typed, Unknown};
    }

    /// The same for an update.
    pub mod handled {
        pub use crate::handles::{Known, OfUpdate, Typed, Unknown};
    }

    /// The arm that `match cx.version(..)` has besides those of the supported versions: the call gives no other.
    #[cold]
    pub fn no_such_version() -> ! {
        unreachable!("a marker gives the versions that its call supports")
    }

    /// Where this crate's own source is, as its debug information has it: those who show a user's stack leave
    /// these frames out.
    #[cfg(feature = "testing")]
    pub const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");

    /// An input, by its number, where there are several: so that an error names the one that is at fault, and
    /// before the one about all of them together. An `impl` takes the compiler less time than a call.
    pub trait Input<const INDEX: usize> {
        type Type: crate::Data;
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    #[activity(pure)]
    async fn double(_acx: &ActivityCx, n: u32) -> Result<u32, Failure> {
        Ok(n * 2)
    }

    #[workflow]
    async fn quadruple(cx: &Cx, n: u32) -> Result<u32, Error> {
        let (twice, ()) = join!(double(cx, n), nothing(cx));
        Ok(double(cx, twice?).await?)
    }

    #[durable]
    async fn nothing(_cx: &Cx) {}

    #[test]
    fn rw37_the_attributes_work_inside_of_this_crate() {
        let callees = quadruple::GRAPH.callees;
        assert_eq!(callees.len(), 1, "{callees:?}");
        assert_eq!(callees[0].name, double::NAME);
    }
}
