//! Pausing a run, and letting it go on.

use std::fmt;
use std::sync::Arc;

use perennial::{RunId, RunKey, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::engine::{Message, PauseReply, PauseRequest, PauseWish, Shared};
use crate::error::Unavailable;
use crate::store::Status;

/// A run that is paused: nothing is told to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Paused {
    /// The run.
    pub run: RunKey,
    /// Since when.
    pub at: Timestamp,
    /// It was paused before.
    pub already: bool,
}

/// A run that is not paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Resumed {
    /// The run.
    pub run: RunKey,
    /// Since when it was paused until now; `None`: it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// Why a run was not paused, or not let go on. Nothing was changed, unless it is [`Unavailable`](Self::Unavailable)
/// and says that this is not known: then it can be asked for again.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum PauseError {
    /// There is no such run.
    NotFound {
        /// The run.
        run: RunKey,
    },
    /// It has ended.
    Finished {
        /// The run.
        run: RunKey,
        /// How it ended.
        status: Status,
        /// The run to which it was moved, in the same namespace.
        migrated_to: Option<RunId>,
    },
    /// The store or the engine could not do it.
    Unavailable(Unavailable),
}

impl fmt::Display for PauseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { run } => write!(
                f,
                "there is no run {run}\n\nhelp: `client.list()` shows the runs of a namespace"
            ),
            Self::Finished {
                run,
                migrated_to: Some(to),
                ..
            } => write!(
                f,
                "run {run} is neither paused nor resumed, since it was moved to run {to}\n\n\
                 help: name run {to}, which goes on in its place"
            ),
            Self::Finished { run, .. } => write!(
                f,
                "run {run} is neither paused nor resumed, since it has ended\n\n\
                 help: `client.status(..)` tells how"
            ),
            Self::Unavailable(error) => error.fmt(f),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for PauseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for PauseError {}

pub(crate) async fn pause(shared: &Arc<Shared>, run: RunKey) -> Result<Paused, PauseError> {
    let reply = ask(shared, &run, PauseWish::Pause).await?;
    Ok(Paused::new(run, reply))
}

pub(crate) async fn resume(shared: &Arc<Shared>, run: RunKey) -> Result<Resumed, PauseError> {
    let reply = ask(shared, &run, PauseWish::Resume).await?;
    Ok(Resumed::new(run, reply))
}

impl Paused {
    pub(crate) fn new(run: RunKey, reply: PauseReply) -> Self {
        Self {
            run,
            // A run that is paused is so since some time.
            at: reply.since.unwrap_or_default(),
            already: reply.already,
        }
    }
}

impl Resumed {
    pub(crate) fn new(run: RunKey, reply: PauseReply) -> Self {
        let since = reply.since;
        Self { run, since }
    }
}

pub(crate) async fn ask(
    shared: &Arc<Shared>,
    run: &RunKey,
    wish: PauseWish,
) -> Result<PauseReply, PauseError> {
    let (reply, answer) = oneshot::channel();
    let request = PauseRequest {
        run: run.clone(),
        wish,
        reply,
    };
    shared.tell(run, Message::Pause(request));
    let stopped = |_| Err(PauseError::Unavailable(Unavailable::Stopped));
    answer.await.unwrap_or_else(stopped)
}
