//! What can go wrong when a run is asked for a change.

use std::fmt;

use perennial::value::{DecodeError, Digest, EncodeError, Value};
use perennial::{Data, RunId, RunKey, Timestamp};

use crate::error::{Unavailable, cut};
use crate::store::{MAX_KEY_BYTES, Status};

/// An update that was not done. Nothing of it is stored, save where it is [`Unacknowledged`] or [`Undecodable`].
///
/// [`Unacknowledged`]: Self::Unacknowledged
/// [`Undecodable`]: Self::Undecodable
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum UpdateError<Refused> {
    /// The run's validator says no, and this is why. Its history does not have it (O21).
    Refused(Refused),
    /// The run does not handle it now: it has not come to that, or will not.
    NoHandler {
        /// The run.
        run: RunKey,
        /// The name of the update.
        name: String,
        /// The names of those that it handles now.
        handled: Vec<String>,
        /// The one that is most like the name.
        closest: Option<String>,
    },
    /// The run's workflow handles no update of that name (M38).
    NoSuchUpdate {
        /// The workflow.
        workflow: String,
        /// The name.
        name: String,
        /// The names that the workflow handles.
        declared: Vec<String>,
        /// The one that is most like the name.
        closest: Option<String>,
    },
    /// There is no such run.
    RunNotFound {
        /// The run.
        run: RunKey,
    },
    /// The run had ended before it was asked.
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
    /// The run has ended while the update waited for it (S11).
    RunEnded {
        /// The run.
        run: RunKey,
        /// How it ended.
        status: Status,
        /// When.
        finished: Timestamp,
        /// The run to which it was moved, in the same namespace.
        migrated_to: Option<RunId>,
    },
    /// This program cannot go on with the run (S16).
    RunBlocked {
        /// The run.
        run: RunKey,
        /// The stable code of the error.
        code: String,
        /// The whole text of the error.
        text: String,
    },
    /// The run is paused: it is told nothing until it goes on (M45).
    RunPaused {
        /// The run.
        run: RunKey,
        /// Since when.
        since: Timestamp,
    },
    /// What is asked is not of the type that the run takes.
    WrongType {
        /// The run.
        run: RunKey,
        /// The name of the update.
        name: String,
        /// The type.
        expected: String,
        /// What is wrong, and where.
        error: DecodeError,
    },
    /// The run's validator panicked, or did what it may not. The run is as it was, and goes on.
    Panicked {
        /// The run.
        run: RunKey,
        /// The name of the update.
        name: String,
        /// What it said.
        text: String,
    },
    /// What is asked is longer than what is stored of one value.
    PayloadTooLarge {
        /// The name of the update.
        name: String,
        /// How many bytes it has.
        size: u64,
        /// How many it may have.
        limit: u64,
    },
    /// What is asked, or why it was refused, has something that cannot be stored.
    Unstorable {
        /// The name of the update.
        name: String,
        /// What.
        error: EncodeError,
    },
    /// The idempotency key was used for another update.
    IdempotencyConflict {
        /// The run.
        run: RunKey,
        /// The key.
        key: String,
        /// The name of the update that it was used for.
        name: String,
        /// The digest of that one, with its name.
        known: Box<Digest>,
        /// The digest of the one that was asked for.
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
    /// The run has answered, or refused, and what it says is not of the type that is expected here.
    Undecodable {
        /// The run.
        run: RunKey,
        /// The name of the update.
        name: String,
        /// What does not fit.
        error: DecodeError,
    },
    /// It may be done or not: the answer was lost (S4).
    Unacknowledged {
        /// The run.
        run: RunKey,
        /// What happened.
        reason: String,
    },
    /// The store or the engine could not do it.
    Unavailable(Unavailable),
}

impl UpdateError<Value> {
    /// What was under way, and then this happened.
    pub(crate) fn lost(run: &RunKey, error: Unavailable) -> Self {
        match error.lost() {
            Some(reason) => Self::Unacknowledged {
                run: run.clone(),
                reason,
            },
            None => Self::Unavailable(error),
        }
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
    pub(super) fn check_key(key: &str) -> Result<(), Self> {
        let (length, limit) = (key.len(), MAX_KEY_BYTES);
        if length == 0 || length > limit {
            return Err(Self::InvalidKey { length, limit });
        }
        Ok(())
    }

    /// With the type of that by which the run refuses what was asked of it under that name.
    pub(super) fn typed<Refused: Data>(self, run: &RunKey, name: &str) -> UpdateError<Refused> {
        use UpdateError as To;
        match self {
            Self::Refused(why) => match Refused::from_value(&why) {
                Ok(why) => To::Refused(why),
                Err(error) => To::Undecodable {
                    run: run.clone(),
                    name: name.to_owned(),
                    error,
                },
            },
            Self::NoHandler {
                run,
                name,
                handled,
                closest,
            } => To::NoHandler {
                run,
                name,
                handled,
                closest,
            },
            Self::NoSuchUpdate {
                workflow,
                name,
                declared,
                closest,
            } => To::NoSuchUpdate {
                workflow,
                name,
                declared,
                closest,
            },
            Self::RunNotFound { run } => To::RunNotFound { run },
            Self::RunFinished {
                run,
                status,
                finished,
                migrated_to,
            } => To::RunFinished {
                run,
                status,
                finished,
                migrated_to,
            },
            Self::RunEnded {
                run,
                status,
                finished,
                migrated_to,
            } => To::RunEnded {
                run,
                status,
                finished,
                migrated_to,
            },
            Self::RunBlocked { run, code, text } => To::RunBlocked { run, code, text },
            Self::RunPaused { run, since } => To::RunPaused { run, since },
            Self::WrongType {
                run,
                name,
                expected,
                error,
            } => To::WrongType {
                run,
                name,
                expected,
                error,
            },
            Self::Panicked { run, name, text } => To::Panicked { run, name, text },
            Self::PayloadTooLarge { name, size, limit } => {
                To::PayloadTooLarge { name, size, limit }
            }
            Self::Unstorable { name, error } => To::Unstorable { name, error },
            Self::IdempotencyConflict {
                run,
                key,
                name,
                known,
                given,
            } => To::IdempotencyConflict {
                run,
                key,
                name,
                known,
                given,
            },
            Self::KeyTooOld { run, key, at } => To::KeyTooOld { run, key, at },
            Self::InvalidKey { length, limit } => To::InvalidKey { length, limit },
            Self::Undecodable { run, name, error } => To::Undecodable { run, name, error },
            Self::Unacknowledged { run, reason } => To::Unacknowledged { run, reason },
            Self::Unavailable(error) => To::Unavailable(error),
        }
    }
}

/// Those of a list, for people.
fn named(f: &mut fmt::Formatter<'_>, before: &str, names: &[String]) -> fmt::Result {
    if names.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = names
        .iter()
        .map(|name| format!("\"{}\"", name.escape_debug()))
        .collect();
    write!(f, "{before}{}", names.join(", "))
}

fn ended(
    f: &mut fmt::Formatter<'_>,
    run: &RunKey,
    status: Status,
    finished: Timestamp,
    migrated_to: Option<&RunId>,
) -> fmt::Result {
    match (migrated_to, status) {
        (Some(to), _) => write!(
            f,
            "run {run} was migrated to run {to} at {finished}\n\nhelp: ask run {to}, which goes on in its place"
        ),
        (None, Status::Failed) => write!(f, "run {run} failed at {finished}\n\n{LOOK}"),
        (None, _) => write!(f, "run {run} completed at {finished}\n\n{LOOK}"),
    }
}

const LOOK: &str = "help: `client.status(..)` shows how a run stands; the result of one that has ended does not change";

impl<R: fmt::Display> fmt::Display for UpdateError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "the run refuses it: {why}"),
            Self::NoHandler {
                run,
                name,
                handled,
                closest,
            } => {
                write!(
                    f,
                    "\"{}\" was not done, since run {run} does not handle it now",
                    name.escape_debug()
                )?;
                named(f, "; it handles ", handled)?;
                match closest {
                    Some(closest) => write!(f, "\n\nhelp: there is one called \"{}\"", closest.escape_debug()),
                    None => f.write_str(
                        "\n\nhelp: a run handles an update from where its workflow calls `cx.handle(..)`; ask again when \
                         it has come there, or call that before the workflow waits for anything",
                    ),
                }
            }
            Self::NoSuchUpdate {
                workflow,
                name,
                declared,
                closest,
            } => {
                write!(
                    f,
                    "\"{}\" was not done, since the workflow `{workflow}` handles no update of that name",
                    name.escape_debug()
                )?;
                named(f, "; those that it handles: ", declared)?;
                match closest {
                    Some(closest) => write!(f, "\n\nhelp: there is one called \"{}\"", closest.escape_debug()),
                    None => f.write_str(
                        "\n\nhelp: declare the name once, as a `const`, and use that where it is asked for and where it is \
                         handled",
                    ),
                }
            }
            Self::RunNotFound { run } => write!(
                f,
                "nothing was done, since there is no run {run}\n\n\
                 help: `client.list()` shows the runs of a namespace"
            ),
            Self::RunFinished {
                run,
                status,
                finished,
                migrated_to,
            } => {
                f.write_str("nothing was done, since ")?;
                ended(f, run, *status, *finished, migrated_to.as_ref())
            }
            Self::RunEnded {
                run,
                status,
                finished,
                migrated_to,
            } => {
                f.write_str("nothing was done, since while the update waited ")?;
                ended(f, run, *status, *finished, migrated_to.as_ref())
            }
            Self::RunBlocked { text, .. } => {
                let first = text.lines().next().unwrap_or_default();
                write!(
                    f,
                    "nothing was done, since {first}\n\n\
                     help: `client.status(..)` has the whole error, and what to do about it; ask again when the run goes on"
                )
            }
            Self::RunPaused { run, since } => write!(
                f,
                "nothing was done, since run {run} is paused since {since}\n\n\
                 help: `client.resume(..)` lets it go on, and `perennial resume` does so from a shell; then ask again"
            ),
            Self::WrongType {
                run,
                name,
                expected,
                error,
            } => write!(
                f,
                "\"{}\" was not done, since run {run} takes a value of type `{expected}` with it, and this is none: {}\n\n\
                 help: ask with a value of that type",
                name.escape_debug(),
                error.problem
            ),
            Self::Panicked { run, name, text } => write!(
                f,
                "\"{}\" was not done, since the validator of run {run} did not come back: {}\n\n\
                 help: the run is as it was and goes on; repair the validator, which only looks and gives `Err(..)` for what \
                 it refuses",
                name.escape_debug(),
                text.split("\n\n").next().unwrap_or_default()
            ),
            Self::PayloadTooLarge { name, size, limit } => write!(
                f,
                "\"{}\" was not asked for, since it is {size} bytes long; at most {limit} can be stored\n\n\
                 help: store the data elsewhere and give its address or digest",
                name.escape_debug()
            ),
            Self::Unstorable { name, error } => {
                write!(f, "\"{}\" was not done: {error}", name.escape_debug())
            }
            Self::IdempotencyConflict {
                run,
                key,
                name,
                known,
                given,
            } => write!(
                f,
                "nothing was done, since run {run} knows the idempotency key \"{}\" as that of another update:\n  \
                 that one is \"{}\" with the digest {}…, this one has {}…\n\n\
                 help: a key stands for one update, its name and all that it asks; give another one another key",
                key.escape_debug(),
                name.escape_debug(),
                cut(&known.to_string()),
                cut(&given.to_string())
            ),
            Self::KeyTooOld { run, key, at } => write!(
                f,
                "nothing was done, since the idempotency key \"{}\" was first used at {at}, and run {run} does not know \
                 any more whether it has accepted that update\n\n\
                 help: `client.history(..)` shows what the run has accepted; ask under a new key if it is not there",
                key.escape_debug()
            ),
            Self::InvalidKey { length, limit } => write!(
                f,
                "nothing was done, since its idempotency key has {length} bytes\n\n\
                 help: a key has 1 to {limit} bytes; of longer texts a digest will do"
            ),
            Self::Undecodable { run, name, error } => write!(
                f,
                "what run {run} says to \"{}\" is not of the type that is expected here: {}\n\n\
                 help: use the `const` by which the workflow handles it, in a program of the same version; \
                 `client.history(..)` shows whether it was accepted",
                name.escape_debug(),
                error.problem
            ),
            Self::Unacknowledged { run, reason } => write!(
                f,
                "it is not known whether run {run} has accepted what it was asked for: {reason}\n\n\
                 help: ask again once a runtime is there; under the same idempotency key it is not done twice"
            ),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl<R: fmt::Display> fmt::Debug for UpdateError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<R: fmt::Display> std::error::Error for UpdateError<R> {}
