//! Why something was not done, with a code for each error that a client's call may end with.

use std::fmt;

use perennial::value::{DecodeError, Value};
use serde::{Deserialize, Serialize};

use crate::client::{PauseError, SendError, UpdateError};
use crate::error::{ReadError, Unavailable};
use crate::fork::ForkError;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refused {
    /// Which error it is: one of the codes below, which stay as they are. There may come others.
    pub code: String,
    /// What happened.
    pub text: String,
    /// What to do about it, as a program would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// A name that there is and that is like the one that was given, where there is one. The help says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<String>,
    /// Of missed items of a stream: the number after which they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_after: Option<u64>,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        impl Refused {
            $($(#[$doc])* pub const $name: &'static str = $code;)*
        }
    };
}

codes! {
    /// There is no such run.
    RUN_NOT_FOUND = "run_not_found";
    /// The run was moved to a new one, which goes on in its place.
    RUN_MIGRATED = "run_migrated";
    /// The run has ended.
    RUN_FINISHED = "run_finished";
    /// The run was purged: what was asked for is not kept.
    RUN_PURGED = "run_purged";
    /// The run is in the export, and not whole.
    RUN_NOT_WHOLE = "run_not_whole";
    /// The run is blocked.
    RUN_BLOCKED = "run_blocked";
    /// The run is paused.
    RUN_PAUSED = "run_paused";
    /// The run's own code refuses the update.
    UPDATE_REFUSED = "update_refused";
    /// The run does not handle the update now.
    NO_HANDLER = "no_handler";
    /// The workflow handles no update of that name.
    NO_SUCH_UPDATE = "no_such_update";
    /// The code that says whether the update may be done has panicked.
    VALIDATOR_PANICKED = "validator_panicked";
    /// No program has the store open that could do it.
    NO_PROGRAM = "no_program";
    /// The run takes no more messages.
    INBOX_FULL = "inbox_full";
    /// The idempotency key was used for another message.
    KEY_CONFLICT = "key_conflict";
    /// Whether the idempotency key was used is not known any more.
    KEY_TOO_OLD = "key_too_old";
    /// The idempotency key is empty or too long.
    INVALID_KEY = "invalid_key";
    /// The name cannot be that of a message or signal.
    INVALID_NAME = "invalid_name";
    /// What was to be sent is too large.
    PAYLOAD_TOO_LARGE = "payload_too_large";
    /// What was to be sent cannot be stored.
    UNSTORABLE = "unstorable";
    /// The workflow waits for no message or signal of that name.
    NO_SUCH_MESSAGE = "no_such_message";
    /// The run's workflow has no stream of that name.
    NO_SUCH_STREAM = "no_such_stream";
    /// The run's workflow has no view of that name.
    NO_SUCH_VIEW = "no_such_view";
    /// The run has not come to that operation.
    NO_SUCH_OPERATION = "no_such_operation";
    /// The operation is no call of a stub.
    NOT_A_STUB = "not_a_stub";
    /// The operation is a call of another stub.
    OTHER_STUB = "other_stub";
    /// The value is not of the type of the message, the stub or the update.
    WRONG_TYPE = "wrong_type";
    /// The operation has another value already.
    VALUE_CONFLICT = "value_conflict";
    /// The run waits no more for the operation.
    OFFER_CLOSED = "offer_closed";
    /// The items of the stream that come next were purged.
    ITEMS_MISSED = "items_missed";
    /// The program is being stopped.
    STOPPING = "stopping";
    /// No page has given that cursor.
    INVALID_CURSOR = "invalid_cursor";
    /// A page was asked for in both directions.
    BOTH_DIRECTIONS = "both_directions";
    /// There is a run of the new id.
    RUN_EXISTS = "run_exists";
    /// The id of the new run cannot be one.
    INVALID_ID = "invalid_id";
    /// The run's history has no such event.
    NO_SUCH_EVENT = "no_such_event";
    /// The run has no events yet: no program has begun it.
    NO_EVENTS = "no_events";
    /// The run has ended with that event.
    AT_END = "at_end";
    /// The history does not fit the code that runs now, or there is no such code. The text has the exact error.
    DOES_NOT_FIT = "does_not_fit";
    /// The history is too large.
    TOO_LARGE = "too_large";
    /// It cannot be done in an export.
    READ_ONLY = "read_only";
    /// It may have been done or not: the answer was lost.
    UNACKNOWLEDGED = "unacknowledged";
    /// The store or the engine could not do it.
    UNAVAILABLE = "unavailable";
    /// The program speaks another version of the protocol.
    UNKNOWN_PROTOCOL = "unknown_protocol";
    /// The program knows no such request.
    UNKNOWN_REQUEST = "unknown_request";
    /// The line is no request.
    MALFORMED = "malformed";
    /// The line is longer than a request may be.
    TOO_LONG = "too_long";
    /// The rest of the line did not come in time.
    TOO_SLOW = "too_slow";
    /// There are as many connections as there may be.
    BUSY = "busy";
}

impl Refused {
    /// An error with its text, of which the help is told apart.
    pub(super) fn new(code: &str, error: impl fmt::Display) -> Self {
        let text = error.to_string();
        let (text, help) = match text.split_once("\n\nhelp: ") {
            Some((text, help)) => (text.to_owned(), Some(help.to_owned())),
            None => (text, None),
        };
        Self {
            code: code.to_owned(),
            text,
            help,
            closest: None,
            kept_after: None,
        }
    }

    pub(super) fn with_closest(mut self, closest: Option<String>) -> Self {
        self.closest = closest;
        self
    }

    /// Of what was sent to a run whose workflow could not read it.
    pub(super) fn wrong_type(name: &str, workflow: &str, error: &DecodeError) -> Self {
        let DecodeError {
            expected, problem, ..
        } = error;
        let text = format!(
            "\"{name}\" was not sent, since workflow `{workflow}` takes it with a value of type `{expected}`, and this is \
             none: {problem}\n\n\
             help: nothing was stored; send a value of that type"
        );
        Self::new(Self::WRONG_TYPE, text)
    }

    /// Whether it may have been done all the same.
    #[must_use]
    pub fn may_be_done(&self) -> bool {
        self.code == Self::UNACKNOWLEDGED
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.help {
            Some(help) => write!(f, "\n\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refused {}

impl From<SendError> for Refused {
    fn from(error: SendError) -> Self {
        let code = match &error {
            SendError::RunNotFound { .. } => Self::RUN_NOT_FOUND,
            SendError::RunFinished {
                migrated_to: Some(_),
                ..
            } => Self::RUN_MIGRATED,
            SendError::RunFinished { .. } => Self::RUN_FINISHED,
            SendError::InboxFull { .. } | SendError::TooManyMessages { .. } => Self::INBOX_FULL,
            SendError::IdempotencyConflict { .. } => Self::KEY_CONFLICT,
            SendError::KeyTooOld { .. } => Self::KEY_TOO_OLD,
            SendError::InvalidKey { .. } => Self::INVALID_KEY,
            SendError::PayloadTooLarge { .. } => Self::PAYLOAD_TOO_LARGE,
            SendError::Unstorable { .. } => Self::UNSTORABLE,
            SendError::NoSuchMessage { .. } => Self::NO_SUCH_MESSAGE,
            SendError::Unacknowledged { .. } => Self::UNACKNOWLEDGED,
            SendError::Unavailable(_) => Self::UNAVAILABLE,
        };
        let closest = match &error {
            SendError::NoSuchMessage { closest, .. } => closest.clone(),
            _ => None,
        };
        Self::new(code, error).with_closest(closest)
    }
}

impl From<PauseError> for Refused {
    fn from(error: PauseError) -> Self {
        let code = match &error {
            PauseError::NotFound { .. } => Self::RUN_NOT_FOUND,
            PauseError::Finished {
                migrated_to: Some(_),
                ..
            } => Self::RUN_MIGRATED,
            PauseError::Finished { .. } => Self::RUN_FINISHED,
            PauseError::Unavailable(error) if error.lost().is_some() => Self::UNACKNOWLEDGED,
            PauseError::Unavailable(_) => Self::UNAVAILABLE,
        };
        Self::new(code, error)
    }
}

impl From<ForkError> for Refused {
    fn from(error: ForkError) -> Self {
        let code = match &error {
            ForkError::InvalidId(_) => Self::INVALID_ID,
            ForkError::NotFound { .. } => Self::RUN_NOT_FOUND,
            ForkError::Purged { .. } => Self::RUN_PURGED,
            ForkError::NoSuchEvent { events: 0, .. } => Self::NO_EVENTS,
            ForkError::NoSuchEvent { .. } => Self::NO_SUCH_EVENT,
            ForkError::AtEnd { .. } => Self::AT_END,
            ForkError::TargetExists { .. } => Self::RUN_EXISTS,
            ForkError::Blocked { .. } => Self::DOES_NOT_FIT,
            ForkError::TooLarge { .. } => Self::TOO_LARGE,
            ForkError::Unavailable(error) if error.lost().is_some() => Self::UNACKNOWLEDGED,
            ForkError::Unavailable(_) => Self::UNAVAILABLE,
        };
        Self::new(code, error)
    }
}

impl From<UpdateError<Value>> for Refused {
    fn from(error: UpdateError<Value>) -> Self {
        let code = match &error {
            UpdateError::Refused(_) => Self::UPDATE_REFUSED,
            UpdateError::NoHandler { .. } => Self::NO_HANDLER,
            UpdateError::NoSuchUpdate { .. } => Self::NO_SUCH_UPDATE,
            UpdateError::RunNotFound { .. } => Self::RUN_NOT_FOUND,
            UpdateError::RunFinished {
                migrated_to: Some(_),
                ..
            }
            | UpdateError::RunEnded {
                migrated_to: Some(_),
                ..
            } => Self::RUN_MIGRATED,
            UpdateError::RunFinished { .. } | UpdateError::RunEnded { .. } => Self::RUN_FINISHED,
            UpdateError::RunBlocked { .. } => Self::RUN_BLOCKED,
            UpdateError::RunPaused { .. } => Self::RUN_PAUSED,
            UpdateError::WrongType { .. } => Self::WRONG_TYPE,
            UpdateError::Panicked { .. } => Self::VALIDATOR_PANICKED,
            UpdateError::PayloadTooLarge { .. } => Self::PAYLOAD_TOO_LARGE,
            // A value is read as it is.
            UpdateError::Unstorable { .. } | UpdateError::Undecodable { .. } => Self::UNSTORABLE,
            UpdateError::IdempotencyConflict { .. } => Self::KEY_CONFLICT,
            UpdateError::KeyTooOld { .. } => Self::KEY_TOO_OLD,
            UpdateError::InvalidKey { .. } => Self::INVALID_KEY,
            UpdateError::Unacknowledged { .. } => Self::UNACKNOWLEDGED,
            UpdateError::Unavailable(_) => Self::UNAVAILABLE,
        };
        let closest = match &error {
            UpdateError::NoHandler { closest, .. } | UpdateError::NoSuchUpdate { closest, .. } => {
                closest.clone()
            }
            _ => None,
        };
        Self::new(code, error).with_closest(closest)
    }
}

impl From<ReadError> for Refused {
    fn from(error: ReadError) -> Self {
        let code = match &error {
            // An id that cannot be used names no run.
            ReadError::InvalidId(_) | ReadError::NotFound { .. } => Self::RUN_NOT_FOUND,
            ReadError::Purged { .. } => Self::RUN_PURGED,
            ReadError::InvalidCursor { .. } => Self::INVALID_CURSOR,
            ReadError::BothDirections => Self::BOTH_DIRECTIONS,
            ReadError::Unavailable(_) => Self::UNAVAILABLE,
        };
        Self::new(code, error)
    }
}

impl From<Unavailable> for Refused {
    fn from(error: Unavailable) -> Self {
        Self::new(Self::UNAVAILABLE, error)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_help_is_told_apart_from_what_happened() {
        let error = ReadError::NotFound {
            run: "order-42".parse().unwrap(),
        };
        let refused = Refused::from(error.clone());
        assert_eq!(refused.code, Refused::RUN_NOT_FOUND);
        assert_eq!(refused.text, "there is no run order-42");
        assert_eq!(refused.to_string(), error.to_string());
    }
}
