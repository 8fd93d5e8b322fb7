//! What a shard is told.

use std::convert::Infallible;

use perennial::history::Observation;
use perennial::value::{Digest, Value};
use perennial::{RunId, RunKey, Timestamp, WorkflowDefinition};
use tokio::sync::{mpsc, oneshot};

use super::fulfil::FulfilRequest;
use super::migrate::MigrateRequest;
use super::pause::PauseRequest;
use super::reply::ReplyRequest;
use super::reuse::Reuse;
use super::send::SendRequest;
use super::unblock::UnblockReply;
use super::update::UpdateRequest;
use crate::activity::{AttemptReport, Slot, Waiting};
use crate::error::Unavailable;
use crate::store::{Arrival, Committed, Created, Delivered, Head, SendKey, Status, StoreError};

/// Everything that reaches a shard.
#[derive(Debug)]
pub(crate) enum Message {
    /// A client starts a run.
    Start(StartRequest),
    /// A client waits for a run's end.
    Await {
        run: RunKey,
        reply: oneshot::Sender<Result<Ended, WaitError>>,
    },
    /// A client asks for a blocked run to be tried again.
    Unblock { run: RunKey, reply: UnblockReply },
    /// A client has a run paused, or go on.
    Pause(PauseRequest),
    /// A client moves a run to a new one.
    Migrate(MigrateRequest),
    /// The store has answered that.
    Migrated {
        run: RunKey,
        result: Result<Created, StoreError>,
    },
    /// A client tells a run something.
    Send(SendRequest),
    /// A client completes an operation of a run.
    Fulfil(FulfilRequest),
    /// A client asks for a change of a run.
    Update(UpdateRequest),
    /// A client waits for the answer to that.
    AwaitReply(ReplyRequest),
    /// The store has answered that.
    Delivered {
        run: RunKey,
        /// Which send it was.
        ticket: u64,
        result: Result<Delivered, StoreError>,
    },
    /// Another run has told the run something, durably.
    Arrived(Arrival),
    /// The run has something to do.
    Wake { run: RunKey },
    /// A timer of the run has reached its deadline.
    Due { run: RunKey, deadline: Timestamp },
    /// The back-off before an operation's next attempt is over, or the time that it may wait for one.
    Retry { run: RunKey, operation: u64 },
    /// It is an attempt's turn.
    Slot { waiting: Waiting, slot: Slot },
    /// An attempt has ended.
    Attempt {
        run: RunKey,
        operation: u64,
        attempt: u32,
        report: AttemptReport,
    },
    /// The store has answered a commit.
    Committed {
        run: RunKey,
        result: Result<Committed, StoreError>,
    },
    /// The store has answered a create.
    Created {
        run: RunKey,
        result: Result<Created, StoreError>,
    },
    /// The store has answered a claim.
    Claimed {
        run: RunKey,
        result: Result<Head, StoreError>,
    },
    /// The next slice of a replay.
    Replay { run: RunKey },
    /// The sender is dropped once no attempt is under way and nothing is to be committed.
    Drain { rest: mpsc::Sender<Infallible> },
    /// The engine cannot go on.
    Failed(Unavailable),
    /// Stop at once.
    Stop,
}

impl Message {
    /// The run that it is about.
    pub(crate) fn run(&self) -> Option<&RunKey> {
        match self {
            Self::Start(request) => Some(&request.run),
            Self::Pause(request) => Some(&request.run),
            Self::Migrate(request) => Some(&request.run),
            Self::Send(request) => Some(&request.run),
            Self::Arrived(arrival) => Some(&arrival.run),
            Self::Fulfil(request) => Some(&request.run),
            Self::Update(request) => Some(&request.run),
            Self::AwaitReply(request) => Some(&request.run),
            Self::Slot { waiting, .. } => Some(&waiting.run),
            Self::Await { run, .. }
            | Self::Unblock { run, .. }
            | Self::Migrated { run, .. }
            | Self::Delivered { run, .. }
            | Self::Wake { run }
            | Self::Due { run, .. }
            | Self::Retry { run, .. }
            | Self::Attempt { run, .. }
            | Self::Committed { run, .. }
            | Self::Created { run, .. }
            | Self::Claimed { run, .. }
            | Self::Replay { run } => Some(run),
            Self::Drain { .. } | Self::Failed(_) | Self::Stop => None,
        }
    }
}

/// A client's wish for a run.
#[derive(Debug)]
pub(crate) struct StartRequest {
    pub(crate) run: RunKey,
    pub(crate) workflow: WorkflowDefinition,
    pub(crate) input: Value,
    pub(crate) digest: Digest,
    /// Messages that come with it.
    pub(crate) messages: Vec<Observation>,
    /// By which of them the run knows them (S26).
    pub(crate) keys: Vec<SendKey>,
    /// When a new generation is begun of a run that has finished.
    pub(crate) reuse: Reuse,
    pub(crate) reply: oneshot::Sender<Result<StartReply, Unavailable>>,
}

/// What became of a start.
#[derive(Clone, Debug)]
pub(crate) enum StartReply {
    /// The run was begun.
    New,
    /// There is a run of that name.
    Exists(Box<Head>),
}

/// How a run ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) status: Status,
    /// The result or the error.
    pub(crate) value: Value,
}

/// Why a run's end cannot be waited for.
#[derive(Clone, Debug)]
pub(crate) enum WaitError {
    /// There is no such run.
    NotFound,
    /// It has ended, and was purged since.
    Purged {
        status: Status,
        finished: Timestamp,
        at: Timestamp,
    },
    /// It was moved to a new run, in the same namespace.
    Migrated { to: RunId },
    /// This program cannot go on with it.
    Blocked { code: String, text: String },
    /// The store or the engine cannot say.
    Unavailable(Unavailable),
}
