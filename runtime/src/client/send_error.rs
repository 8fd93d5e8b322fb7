//! What can go wrong when a run is told something.

use std::fmt;

use perennial::history::Channel;
use perennial::value::{Digest, EncodeError};
use perennial::{RunId, RunKey, Timestamp};

use crate::error::{Unavailable, cut};
use crate::store::{KeyConflict, MAX_KEY_BYTES, Refusal, Status, StoreError};

/// A message or a signal that was not sent. Nothing of it is stored, save where it is [`Unacknowledged`]: then it may
/// be.
///
/// [`Unacknowledged`]: Self::Unacknowledged
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum SendError {
    /// There is no such run (M6).
    RunNotFound {
        /// The run.
        run: RunKey,
    },
    /// The run has ended (M7).
    RunFinished {
        /// The run.
        run: RunKey,
        /// How it ended.
        status: Status,
        /// When.
        finished: Timestamp,
        /// The run to which it was moved, in the same namespace.
        migrated_to: Option<RunId>,
    },
    /// The run has as many messages as it may have that it has not taken, or signals in its queue (M12).
    InboxFull {
        /// The run.
        run: RunKey,
        /// How many that are.
        limit: u64,
    },
    /// The idempotency key was used for another message (M15).
    IdempotencyConflict {
        /// The run.
        run: RunKey,
        /// The key.
        key: String,
        /// The name of the message that it was used for.
        name: String,
        /// The digest of that message, with its name and kind.
        known: Box<Digest>,
        /// The digest of the one that was to be sent.
        given: Box<Digest>,
    },
    /// The run does not know any more whether the idempotency key was used, since it was first used too long ago
    /// (S26).
    KeyTooOld {
        /// The run.
        run: RunKey,
        /// The key.
        key: String,
        /// When the sender first used it, by its own clock.
        at: Timestamp,
    },
    /// The idempotency key is empty or too long.
    InvalidKey {
        /// How many bytes it has.
        length: usize,
        /// How many it may have.
        limit: usize,
    },
    /// It is longer than what is stored of one value (M11).
    PayloadTooLarge {
        /// The name of the message or signal.
        name: String,
        /// How many bytes it has.
        size: u64,
        /// How many it may have.
        limit: u64,
    },
    /// More messages are to come with a run than it may have.
    TooManyMessages {
        /// How many.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// It has something that cannot be stored.
    Unstorable {
        /// The name of the message or signal.
        name: String,
        /// What.
        error: EncodeError,
    },
    /// The run's workflow waits for no message, or signal, of that name (M38).
    NoSuchMessage {
        /// The workflow.
        workflow: String,
        /// Which of the two it is.
        channel: Channel,
        /// The name.
        name: String,
        /// The names that the workflow waits for.
        declared: Vec<String>,
        /// The one that is most like the name.
        closest: Option<String>,
    },
    /// It may be stored or not: the answer was lost (S4).
    Unacknowledged {
        /// The run.
        run: RunKey,
        /// What happened.
        reason: String,
    },
    /// The store or the engine could not do it.
    Unavailable(Unavailable),
}

impl SendError {
    pub(crate) fn of(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoRun { run } => Self::RunNotFound { run },
            Refusal::InboxFull { run, limit } => Self::InboxFull { run, limit },
            Refusal::KeyTooOld { run, key, at } => Self::KeyTooOld { run, key, at },
            Refusal::KeyConflict(conflict) => {
                let KeyConflict {
                    run,
                    key,
                    name,
                    known,
                    given,
                } = *conflict;
                Self::IdempotencyConflict {
                    run,
                    key,
                    name,
                    known: known.into(),
                    given: given.into(),
                }
            }
            other => Self::Unavailable(StoreError::Refused(other).into()),
        }
    }

    /// What was handed to the store, and then this happened.
    pub(crate) fn unavailable(run: &RunKey, error: Unavailable) -> Self {
        let reason = match &error {
            Unavailable::Store(StoreError::Unknown { reason }) => reason.clone(),
            Unavailable::Broken { reason } => format!("the engine stopped, since {reason}"),
            Unavailable::Stopped => "the runtime was stopped".to_owned(),
            Unavailable::Store(_) | Unavailable::Draining => return Self::Unavailable(error),
        };
        let run = run.clone();
        Self::Unacknowledged { run, reason }
    }

    pub(super) fn unstorable(name: &str, error: EncodeError) -> Self {
        let name = name.to_owned();
        match error {
            EncodeError::TooLarge { size, limit } => Self::PayloadTooLarge {
                name,
                size: size as u64,
                limit: limit as u64,
            },
            error => Self::Unstorable { name, error },
        }
    }

    /// Whether a key can be one.
    pub(crate) fn check_key(key: &str) -> Result<(), Self> {
        let (length, limit) = (key.len(), MAX_KEY_BYTES);
        if length == 0 || length > limit {
            return Err(Self::InvalidKey { length, limit });
        }
        Ok(())
    }
}

/// What a channel's are called.
fn kind(channel: Channel) -> &'static str {
    match channel {
        Channel::Message => "message",
        Channel::Signal => "signal",
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RunNotFound { run } => write!(
                f,
                "nothing was sent, since there is no run {run}\n\n\
                 help: a message can come with the start of its run: `client.start(..).send(..)`; `client.list()` \
                 shows the runs of a namespace"
            ),
            Self::RunFinished {
                run,
                migrated_to: Some(to),
                finished,
                ..
            } => write!(
                f,
                "nothing was sent, since run {run} was migrated to run {to} at {finished}\n\n\
                 help: send it to run {to}, which goes on in its place"
            ),
            Self::RunFinished {
                run,
                status,
                finished,
                ..
            } => write!(
                f,
                "nothing was sent, since run {run} {} at {finished}\n\n\
                 help: `client.status(..)` shows how a run stands; `.reuse(Reuse::AfterFinish)` begins it anew",
                match status {
                    Status::Failed => "failed",
                    _ => "completed",
                }
            ),
            Self::InboxFull { run, limit } => write!(
                f,
                "nothing was sent, since run {run} has {limit} messages or signals that it has not taken, and takes no \
                 more\n\n\
                 help: `client.list_messages(..)` shows them; send again when the run has taken some"
            ),
            Self::IdempotencyConflict {
                run,
                key,
                name,
                known,
                given,
            } => write!(
                f,
                "nothing was sent, since run {run} knows the idempotency key \"{}\" as that of another message:\n  \
                 that one is \"{}\" with the digest {}…, this one has {}…\n\n\
                 help: a key stands for one message, its name and all that it says; give another message another key",
                key.escape_debug(),
                name.escape_debug(),
                cut(&known.to_string()),
                cut(&given.to_string())
            ),
            Self::KeyTooOld { run, key, at } => write!(
                f,
                "nothing was sent, since the idempotency key \"{}\" was first used at {at}, and run {run} does not \
                 know any more whether it has that message\n\n\
                 help: `client.list_messages(..)` shows what the run has; send it under a new key if it is not there",
                key.escape_debug()
            ),
            Self::InvalidKey { length, limit } => write!(
                f,
                "nothing was sent, since its idempotency key has {length} bytes\n\n\
                 help: a key has 1 to {limit} bytes; of longer texts a digest will do"
            ),
            Self::PayloadTooLarge { name, size, limit } => write!(
                f,
                "\"{}\" was not sent, since it is {size} bytes long; at most {limit} can be stored\n\n\
                 help: store the data elsewhere and send its address or digest",
                name.escape_debug()
            ),
            Self::TooManyMessages { count, limit } => write!(
                f,
                "{count} messages were to come with the run, which may have {limit}\n\n\
                 help: put what they say into the run's input, or send them when it has taken some"
            ),
            Self::Unstorable { name, error } => {
                write!(f, "\"{}\" was not sent: {error}", name.escape_debug())
            }
            Self::NoSuchMessage {
                workflow,
                channel,
                name,
                declared,
                closest,
            } => no_such_message(f, workflow, *channel, name, declared, closest.as_deref()),
            Self::Unacknowledged { run, reason } => write!(
                f,
                "it is not known whether run {run} has what it was sent: {reason}\n\n\
                 help: send it again once a runtime is there; under the same idempotency key it is not stored twice"
            ),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

fn no_such_message(
    f: &mut fmt::Formatter<'_>,
    workflow: &str,
    channel: Channel,
    name: &str,
    declared: &[String],
    closest: Option<&str>,
) -> fmt::Result {
    let (kind, quoted) = (kind(channel), format!("\"{}\"", name.escape_debug()));
    write!(
        f,
        "{quoted} was not sent, since the workflow `{workflow}` waits for no {kind} of that name"
    )?;
    if !declared.is_empty() {
        let names: Vec<_> = declared.iter().map(|name| format!("\"{name}\"")).collect();
        write!(f, "; those that it waits for: {}", names.join(", "))?;
    }
    match closest {
        Some(closest) => write!(f, "\n\nhelp: there is one called \"{closest}\""),
        None => f.write_str(
            "\n\nhelp: declare the name once, as a `const`, and use that where it is sent and where it is waited for",
        ),
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SendError {}
