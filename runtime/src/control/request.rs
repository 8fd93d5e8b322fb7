//! What can be asked from outside, and what is answered.

use std::fmt;

use perennial::history::{Channel, Unit};
use perennial::value::Value;
use perennial::{Namespace, RunId, RunKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::offers::{Fulfil, ListWaiting};
use super::publications::{ItemPage, ReadStream, Views};
use crate::client::{
    Answered, Forked, MessagePage, OfferInfo, OfferPage, PauseError, Paused, Receipt, Resumed,
    RunInfo, RunPage, SendError, UpdateError,
};
use crate::error::{ReadError, Unavailable};
use crate::fork::ForkError;
use crate::manifest::TypeManifest;
use crate::store::{AttemptRecord, Queued, Status, StreamRange, Task, ViewRecord};

/// What can be asked. As JSON it is an object with one member, whose name says what is asked:
/// `{"show":{"run":{"namespace":"default","id":"order-42"}}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Request {
    /// A message or a signal for a run. Answered with [`Answer::Sent`].
    Send(Tell),
    /// Nothing is to be told to a run any more. Answered with [`Answer::Paused`].
    Pause {
        /// The run.
        run: RunKey,
    },
    /// A run that was paused is to go on. Answered with [`Answer::Resumed`].
    Resume {
        /// The run.
        run: RunKey,
    },
    /// A new run is to go on from where another one was after an event. Answered with [`Answer::Forked`]; only by a
    /// program that has the code of the workflow, since that has to come to the same.
    Fork {
        /// The other run.
        run: RunKey,
        /// The number of the event, in the history of its last generation.
        event: u64,
        /// The id of the new run, in the same namespace.
        to: RunId,
    },
    /// A change that a run is asked for: only a running program can do that, since the run's own code says whether it
    /// may be. Answered with [`Answer::Updated`].
    Update(Ask),
    /// A page of runs. Answered with [`Answer::Runs`].
    List(ListRuns),
    /// How a run stands, and what is kept of it beside its history. Answered with [`Answer::Run`].
    Show {
        /// The run.
        run: RunKey,
    },
    /// A part of the history of a run's last generation. Answered with [`Answer::History`].
    History {
        /// The run.
        run: RunKey,
        /// The number of the first event that is asked for, from 1.
        from: u64,
    },
    /// A page of what a run was sent. Answered with [`Answer::Messages`].
    Messages(ListMessages),
    /// A value for a call of a stub. Answered with [`Answer::Fulfilled`].
    Fulfil(Fulfil),
    /// A page of what the runs of a namespace wait for from people. Answered with [`Answer::Offers`].
    Waiting(ListWaiting),
    /// A page of what a run has given out in a stream. Answered with [`Answer::Items`].
    Stream(ReadStream),
    /// What a run shows. Answered with [`Answer::Views`].
    View {
        /// The run.
        run: RunKey,
        /// Of which view; `None`: of all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

#[cfg(any(unix, test))]
impl Request {
    /// The names of the requests that this program knows, as they stand in JSON.
    pub(super) const NAMES: &[&str] = &[
        "send", "update", "pause", "resume", "fork", "list", "show", "history", "messages",
        "fulfil", "waiting", "stream", "view",
    ];
}

/// A message or a signal for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tell {
    /// The run.
    pub run: RunKey,
    /// Which of the two it is.
    pub channel: Channel,
    /// The name.
    pub name: String,
    /// What it says.
    pub payload: Value,
    /// What the sender calls it, so that it is not stored twice (S26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When that key was first used; `None`: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Timestamp>,
}

/// A change that a run is asked for: see [`Client::update`](crate::Client::update).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The run.
    pub run: RunKey,
    /// The name of the update.
    pub name: String,
    /// What is asked.
    pub input: Value,
    /// What the sender calls it, so that it is not done twice (S26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When that key was first used; `None`: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Timestamp>,
}

/// Which runs to list: see [`List`](crate::List).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListRuns {
    /// In which namespace.
    pub namespace: Namespace,
    /// Only runs of this workflow.
    pub workflow: Option<String>,
    /// Only runs that stand like this. A blocked run counts as running.
    pub status: Option<Status>,
    /// Only runs that are blocked, or only those that are not.
    pub blocked: Option<bool>,
    /// Only runs that are paused, or only those that are not.
    pub paused: Option<bool>,
    /// Only runs whose ids begin like this.
    pub prefix: String,
    /// At most so many; 0: 100.
    pub limit: usize,
    /// The `next` of the page before.
    pub after: Option<String>,
}

/// Which messages of a run to list: see [`ListMessages`](crate::ListMessages).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListMessages {
    /// The run.
    pub run: RunKey,
    /// Only messages with greater numbers.
    #[serde(default)]
    pub after: Option<u64>,
    /// Only messages with smaller numbers, the last of them.
    #[serde(default)]
    pub before: Option<u64>,
    /// At most so many; 0: 100.
    #[serde(default)]
    pub limit: usize,
    /// Only messages of this name.
    #[serde(default)]
    pub named: Option<String>,
}

/// What is answered. As JSON it is an object with one member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// The run has it, durably.
    Sent(Receipt),
    /// The run is paused, durably.
    Paused(Paused),
    /// The run is not paused, durably.
    Resumed(Resumed),
    /// The new run is there, durably.
    Forked(Forked),
    /// The run has done it, durably, and this is its answer.
    Updated(Answered),
    /// A page of runs.
    Runs(RunPage),
    /// How a run stands.
    Run(Box<RunDetails>),
    /// A part of a history.
    History(HistoryPart),
    /// A page of what a run was sent.
    Messages(MessagePage),
    /// The call of a stub has the value, durably.
    Fulfilled(Receipt),
    /// A page of calls of stubs.
    Offers(OfferPage),
    /// What a run has given out in a stream.
    Items(ItemPage),
    /// What a run shows.
    Views(Views),
    /// Nothing more comes of what was [followed](super::Follow).
    Ended(super::Ended),
    /// It was not done.
    Refused(Refused),
}

/// How a run stands, and what is kept of it beside its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunDetails {
    /// The run.
    pub info: RunInfo,
    /// When this was so: of an export, when it was written.
    pub at: Timestamp,
    /// Activities that have no result that the run knows of.
    pub tasks: Vec<Task>,
    /// What waits to be told to it, in order, messages and signals that it does not wait for among them; as much as
    /// an answer has room for.
    pub queue: Vec<Queued>,
    /// How many rows more there are in the queue.
    pub more_queue: u64,
    /// What became of attempts that brought no result, by operation.
    pub attempts: Vec<Attempts>,
    /// The messages and signals that its workflow waits for anywhere, as far as the newest program tells that has
    /// had the store open and has the workflow.
    pub receives: Vec<Receives>,
    /// Whether it may wait for others too.
    pub receives_others: bool,
    /// The calls of stubs that it waits for, as far as an answer has room for them.
    #[serde(default)]
    pub offers: Vec<OfferInfo>,
    /// The stubs that its workflow calls anywhere, as far as that program tells.
    #[serde(default)]
    pub stubs: Vec<StubType>,
    /// What it shows.
    #[serde(default)]
    pub views: Vec<ViewRecord>,
    /// The streams in which it has given out items.
    #[serde(default)]
    pub streams: Vec<StreamRange>,
}

/// What became of the attempts of an activity that brought no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Attempts {
    /// How many there were.
    pub count: u64,
    /// The last of them.
    pub last: AttemptRecord,
}

/// A message or a signal that a workflow waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Receives {
    /// Which of the two it is.
    pub channel: Channel,
    /// The name.
    pub name: String,
    /// The type of what it says.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub data: Option<TypeManifest>,
}

/// A stub that a workflow calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StubType {
    /// The name.
    pub name: String,
    /// The type of what it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TypeManifest>,
}

/// A part of the history of a run's last generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryPart {
    /// Which generation it is; the first is 1.
    pub generation: u64,
    /// How many events that one has.
    pub events: u64,
    /// The units, from the one on that has the first event that was asked for. There is at least one, unless that
    /// is the end.
    pub units: Vec<Unit>,
}

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
    /// The run has not come to that operation.
    NO_SUCH_OPERATION = "no_such_operation";
    /// The operation is no call of a stub.
    NOT_A_STUB = "not_a_stub";
    /// The operation is a call of another stub.
    OTHER_STUB = "other_stub";
    /// The value is not of the type of the stub, or of the update.
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
        let code = code.to_owned();
        Self { code, text, help }
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
        Self::new(code, error)
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
        Self::new(code, error)
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
    use super::super::follow::{Follow, FollowLine};
    use super::*;

    fn run() -> RunKey {
        "order-42".parse().unwrap()
    }

    /// One of each kind. A match without `_` tells when one is missing here.
    fn requests() -> Vec<Request> {
        let send = Tell {
            run: run(),
            channel: Channel::Message,
            name: "approval".into(),
            payload: Value::from_json(r#"{"approved": true, "cents": 1.50}"#).unwrap(),
            key: Some("approve-42".into()),
            first: None,
        };
        let messages = ListMessages {
            run: run(),
            after: Some(7),
            before: None,
            limit: 0,
            named: None,
        };
        let update = Ask {
            run: run(),
            name: "set-limit".into(),
            input: Value::from_json("500").unwrap(),
            key: None,
            first: None,
        };
        let all = vec![
            Request::Send(send),
            Request::Pause { run: run() },
            Request::Resume { run: run() },
            Request::Fork {
                run: run(),
                event: 7,
                to: "order-42-b".parse().unwrap(),
            },
            Request::Update(update),
            Request::List(ListRuns::default()),
            Request::Show { run: run() },
            Request::History {
                run: run(),
                from: 1,
            },
            Request::Messages(messages),
            Request::Fulfil(Fulfil {
                run: run(),
                operation: 7,
                stub: "review".into(),
                value: Value::from_json("1.50").unwrap(),
            }),
            Request::Waiting(ListWaiting {
                after: Some("order-42~7".parse().unwrap()),
                ..ListWaiting::default()
            }),
            Request::Stream(ReadStream {
                run: run(),
                stream: "output".into(),
                after: 7,
                limit: 0,
            }),
            Request::View {
                run: run(),
                name: None,
            },
        ];
        for one in &all {
            match one {
                Request::Send(_)
                | Request::Pause { .. }
                | Request::Resume { .. }
                | Request::Fork { .. }
                | Request::Update(_)
                | Request::List(_)
                | Request::Show { .. }
                | Request::History { .. }
                | Request::Messages(_)
                | Request::Fulfil(_)
                | Request::Waiting(_)
                | Request::Stream(_)
                | Request::View { .. } => {}
            }
        }
        all
    }

    #[test]
    fn each_request_is_known_by_its_name_and_reads_back() {
        let mut names = Vec::new();
        for request in requests() {
            let json = serde_json::to_string(&request).unwrap();
            let object: serde_json::Map<_, _> = serde_json::from_str(&json).unwrap();
            names.extend(object.into_iter().map(|(name, _)| name));
            assert_eq!(serde_json::from_str::<Request>(&json).unwrap(), request);
        }
        assert_eq!(names, Request::NAMES);
    }

    #[test]
    fn what_is_followed_is_known_by_the_name_of_its_line_and_reads_back() {
        let follows = [
            Follow::Stream {
                run: run(),
                stream: "output".into(),
                after: 7,
            },
            Follow::View {
                run: run(),
                name: "status".into(),
            },
        ];
        for follow in follows {
            let line = serde_json::to_string(&FollowLine { follow: &follow }).unwrap();
            let wish = line
                .strip_prefix(&format!("{{\"{}\":", Follow::NAME))
                .unwrap();
            let wish = wish.strip_suffix('}').unwrap();
            assert_eq!(serde_json::from_str::<Follow>(wish).unwrap(), follow);
            assert!(!Request::NAMES.contains(&Follow::NAME));
        }
    }

    #[test]
    fn a_value_in_a_request_stays_as_it_is_to_the_byte() {
        let json = serde_json::to_string(&requests()[0]).unwrap();
        assert_eq!(
            json,
            r#"{"send":{"run":{"namespace":"default","id":"order-42"},"channel":"message","name":"approval","payload":{"approved": true, "cents": 1.50},"key":"approve-42"}}"#
        );
    }

    #[test]
    fn what_is_left_out_of_a_list_is_as_by_default() {
        let list: Request = serde_json::from_str(r#"{"list":{}}"#).unwrap();
        assert_eq!(list, Request::List(ListRuns::default()));
    }

    #[test]
    fn the_help_is_told_apart_from_what_happened() {
        let error = ReadError::NotFound { run: run() };
        let refused = Refused::from(error.clone());
        assert_eq!(refused.code, Refused::RUN_NOT_FOUND);
        assert_eq!(refused.text, "there is no run order-42");
        assert_eq!(refused.to_string(), error.to_string());
    }
}
