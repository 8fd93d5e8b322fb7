//! Starting runs and asking about them.

mod answers;
mod awaits;
mod count;
mod export;
mod fork;
mod fulfil;
mod fulfil_error;
mod list;
mod messages;
mod migrate;
mod offers;
mod pause;
mod publications;
mod purge;
mod request;
mod run;
mod send;
mod send_error;
mod start;
mod stream;
mod stream_error;
mod unblock;
mod update;
mod update_error;
mod view;

use std::sync::Arc;

use perennial::history::History;
use perennial::value::Value;
use perennial::{
    Data, InvalidId, Message, Namespace, RunId, RunKey, Signal, Timestamp, Workflow, WorkflowFn,
};
use serde::{Deserialize, Serialize};

pub use awaits::Awaits;
pub use count::BlockedCount;
pub use fork::Forked;
pub use fulfil::Fulfil;
pub use fulfil_error::{Ended, FulfilError};
pub use list::{List, RunPage};
pub use messages::{ListMessages, MessageInfo, MessagePage, MessageState};
pub use offers::{ListOffers, ListWaiting, OfferInfo, OfferPage, OfferStatus};
pub use pause::{PauseError, Paused, Resumed};
pub use perennial::Receipt;
pub use request::{Reply, Request, RequestError};
pub use run::RunHandle;
pub use send::SendMessage;
pub use send_error::SendError;
pub use start::{Start, generate_run_id};
pub use stream::{Item, Items};
pub use stream_error::StreamError;
pub use unblock::Unblocked;
pub use update::{Answered, UpdateRun};
pub use update_error::UpdateError;
pub use view::{UndecodableView, ViewError, Viewed, Watch};

#[cfg(unix)]
pub(crate) use fork::fork;
pub(crate) use list::{after as cursor, limit as page_limit, page as list_page};
pub(crate) use messages::{MessageFilter, page as message_page};
#[cfg(unix)]
pub(crate) use pause::ask as ask_pause;
#[cfg(unix)]
pub(crate) use send::send;
pub(crate) use stream::stored_items;
#[cfg(unix)]
pub(crate) use update::update;

use crate::engine::{Reuse, Shared};
use crate::error::{PurgeError, ReadError, StartError, Unavailable, UnblockError};
use crate::fork::{ForkError, Wish};
use crate::store::{
    AttemptRecord, BlockedRecord, Head, Loaded, ProgramRecord, Purged, Status, Store, StoreError,
};

/// Starts runs and asks about them.
#[derive(Clone, Debug)]
pub struct Client {
    shared: Arc<Shared>,
    namespace: Namespace,
}

impl Client {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            namespace: Namespace::default(),
        }
    }

    /// A client for another namespace. The first one is called `default`.
    #[must_use]
    pub fn in_namespace(&self, namespace: Namespace) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            namespace,
        }
    }

    /// Starts a run of `workflow` under an id: a text, or a [`RunId`] such as [`generate_run_id`] gives.
    ///
    /// Where there is a run of that id with the same workflow and the same input, finished or not, it is
    /// that one. So a start can be repeated until it is answered.
    ///
    /// # Errors
    ///
    /// [`StartError::Conflict`] where there is a run of that id that is another one;
    /// [`StartError::InvalidId`], [`StartError::Input`], [`StartError::UnknownWorkflow`],
    /// [`StartError::Unavailable`].
    pub fn start<M, F: WorkflowFn<M>>(
        &self,
        workflow: F,
        id: impl TryInto<RunId, Error: Into<InvalidId>>,
        input: <F::W as Workflow>::Input,
    ) -> Start<F::W> {
        let _ = workflow;
        Start::new(self.clone(), id.try_into().map_err(Into::into), &input)
    }

    /// Starts a run of the workflow called `name` over a JSON input, for who has no types: a command line,
    /// another language.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start), and [`StartError::Undecodable`].
    pub async fn start_named(
        &self,
        name: &str,
        id: RunId,
        input: Value,
    ) -> Result<RunKey, StartError> {
        let Some(definition) = self.shared.registry.workflows.get(name) else {
            let closest = self.shared.registry.closest_workflow(name);
            return Err(StartError::UnknownWorkflow {
                name: name.to_owned(),
                closest,
            });
        };
        (definition.accepts)(&input).map_err(|error| StartError::Undecodable {
            workflow: name.to_owned(),
            error,
        })?;
        let run = RunKey::new(self.namespace.clone(), id);
        start::send(
            &self.shared,
            run.clone(),
            definition.name,
            input,
            Reuse::Never,
            Vec::new(),
        )
        .await?;
        Ok(run)
    }

    /// The run of `workflow` with this id, which need not exist.
    ///
    /// # Errors
    ///
    /// [`InvalidId`].
    pub fn run<M, F: WorkflowFn<M>>(
        &self,
        workflow: F,
        id: impl TryInto<RunId, Error: Into<InvalidId>>,
    ) -> Result<RunHandle<F::W>, InvalidId> {
        let _ = workflow;
        let id = id.try_into().map_err(Into::into)?;
        Ok(RunHandle::new(
            Arc::clone(&self.shared),
            RunKey::new(self.namespace.clone(), id),
        ))
    }

    /// How a run stands.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub async fn status(&self, id: &RunId) -> Result<RunInfo, ReadError> {
        status(
            &self.shared,
            RunKey::new(self.namespace.clone(), id.clone()),
        )
        .await
    }

    /// The history of a run's last generation, with the attempts that brought no result.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub async fn history(&self, id: &RunId) -> Result<RunHistory, ReadError> {
        history(
            &self.shared,
            RunKey::new(self.namespace.clone(), id.clone()),
        )
        .await
    }

    /// Purges a run that has ended: its history, what it returned and what came too late for it go at once,
    /// and not when the [retention](crate::Builder::retention) of the runtime says so. Its id, the digest of its
    /// input and how it ended stay for as long as [`keep_ids`](crate::Builder::keep_ids) says.
    ///
    /// # Errors
    ///
    /// [`PurgeError`]: it has not ended, or activities of it have not; then nothing was purged.
    pub async fn purge(&self, id: &RunId) -> Result<(), PurgeError> {
        let run = RunKey::new(self.namespace.clone(), id.clone());
        purge::purge(&self.shared, run).await
    }

    /// Tries a blocked run again, now and in this process, whatever its records say (S16): after the cause of a
    /// panic was repaired outside the code, for one. Answers when it has gone on, which is durable then.
    ///
    /// A program of which the history does not fit comes to the same error again; another program that is
    /// started tries all blocked runs by itself.
    ///
    /// # Errors
    ///
    /// [`UnblockError`]: it is still blocked, was not blocked, or is not there; then nothing was changed.
    pub async fn unblock(&self, id: &RunId) -> Result<Unblocked, UnblockError> {
        let run = RunKey::new(self.namespace.clone(), id.clone());
        unblock::unblock(&self.shared, run).await
    }

    /// Pauses a run: nothing is told to it any more, over restarts too, until it is let [go on](Self::resume). Answers
    /// when that is durable; a run that is busy has ended its step then.
    ///
    /// What arrives meanwhile is kept, in its order (M45): messages, values for its stubs, and what its activities come
    /// to, which go on. Time goes on too. A deadline that passes counts as missed by what came after it, and by nothing
    /// that came before. A run that is [blocked](RunState::Blocked) can be paused, and is tried when it goes on.
    ///
    /// # Errors
    ///
    /// [`PauseError`]: the run is not there, or has ended.
    pub async fn pause(&self, id: &RunId) -> Result<Paused, PauseError> {
        let run = RunKey::new(self.namespace.clone(), id.clone());
        pause::pause(&self.shared, run).await
    }

    /// Lets a run go on that was [paused](Self::pause): it is told what has arrived, in the order in which that did.
    /// Answers when that is durable. One that was not paused goes on as it did.
    ///
    /// # Errors
    ///
    /// [`PauseError`]: the run is not there, or has ended.
    pub async fn resume(&self, id: &RunId) -> Result<Resumed, PauseError> {
        let run = RunKey::new(self.namespace.clone(), id.clone());
        pause::resume(&self.shared, run).await
    }

    /// Forks a run: makes a new one, in the same namespace, that goes on from where this one was after an event, by its
    /// number in the history. The unit that has the event is taken whole, and what it came to last is
    /// [`Forked::last`]. The other run is only read, and may be at work, paused, blocked, or ended.
    ///
    /// The history up to there is the new run's own. The code that runs now replays it first, and where it does not come
    /// to the same nothing is made. What had a result keeps it. What was open then:
    ///
    /// - Timers keep their deadlines. One that has passed since fires at once.
    /// - Activities are scheduled anew, with another idempotency key: **what they do may happen a second time**, once for
    ///   each of the two runs.
    /// - Stubs are offered anew, under references of the new run.
    /// - A message to another run, or a value for what that offers, whose receipt is not in that history is sent once
    ///   more.
    ///
    /// It begins with an empty inbox (M43): a message that the other run had not taken by then is that one's alone, and so
    /// are its idempotency keys. The numbers of its streams are counted on.
    ///
    /// Up to the event the code knows itself by the id of the other run, since what it made of that is compared; from
    /// then on `cx.run_id()` is the new one.
    ///
    /// # Errors
    ///
    /// [`ForkError`], also where the history up to there has more than 64 MiB: no run was made, unless it is [`ForkError::Unavailable`] and says that this is not known.
    pub async fn fork(
        &self,
        id: &RunId,
        event: u64,
        to: impl TryInto<RunId, Error: Into<InvalidId>>,
    ) -> Result<Forked, ForkError> {
        let to = to.try_into().map_err(Into::into)?;
        let run = RunKey::new(self.namespace.clone(), id.clone());
        fork::fork(&self.shared, Wish { run, event, to }).await
    }

    /// How many runs of the namespace are blocked, by workflow and code. It takes a look at each of them, and at
    /// no other run.
    ///
    /// # Errors
    ///
    /// [`ReadError::Unavailable`].
    pub async fn count_blocked(&self) -> Result<BlockedCount, ReadError> {
        count::blocked(&self.shared, self.namespace.clone()).await
    }

    /// The programs that have had the store open, and what each of them could run, the newest first: at most
    /// [`MAX_PROGRAMS`](crate::store::MAX_PROGRAMS).
    ///
    /// # Errors
    ///
    /// [`ReadError::Unavailable`].
    pub async fn programs(&self) -> Result<Vec<ProgramRecord>, ReadError> {
        read(&self.shared, |shared| Ok(shared.store.programs()?)).await
    }

    /// Sends a message to a run: one wait of the run for that name takes it, the oldest message first, whether it
    /// begins before or after this (S25). Answered when the run has it durably; from then on it is not lost, and not
    /// taken twice. A run that is blocked has it too, and takes it when it goes on.
    ///
    /// Sent again after an error, it may be there twice; under an
    /// [idempotency key](SendMessage::idempotency_key) it is not.
    ///
    /// ```no_run
    /// # use perennial::prelude::*;
    /// # use perennial_runtime::{Client, SendError};
    /// const APPROVAL: Message<bool> = Message::new("approval");
    ///
    /// # async fn approve(client: &Client, run: &RunId) -> Result<(), SendError> {
    /// let receipt = client.send(run, APPROVAL, &true).idempotency_key("approve-42").await?;
    /// println!("it is number {} of what the run was sent", receipt.number);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn send<T: Data>(&self, run: &RunId, message: Message<T>, value: &T) -> SendMessage {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        SendMessage::new(Arc::clone(&self.shared), run, message, value)
    }

    /// Sends a signal to a run: it reaches the waits for that name that the run has when its turn comes, all of them,
    /// and nobody where there are none (M54). Answered when that is durable. What must not be missed is a
    /// [message](Self::send).
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn signal<T: Data>(
        &self,
        run: &RunId,
        signal: Signal<T>,
        value: &T,
    ) -> impl Future<Output = Result<(), SendError>> + Send + use<T> {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        send::signal(Arc::clone(&self.shared), run, signal, value)
    }

    /// Asks a run for a change, and waits for its answer (S27). The run's own validator says whether it may be: what that
    /// refuses leaves no trace in the run's history, what it accepts is recorded with the answer before that is given
    /// (O21).
    ///
    /// It waits until the run has been told all that has come for it, and has nothing else to do; a run that is not in
    /// memory is brought there. While it waits nothing of it is stored: where the program ends first it has not been
    /// done, and who asks gets no answer. Asked for again after an error, it may be done twice; under an
    /// [idempotency key](UpdateRun::idempotency_key) it is not.
    ///
    /// ```no_run
    /// # use perennial::prelude::*;
    /// # use perennial_runtime::{Client, UpdateError};
    /// const SET_LIMIT: Update<u64, u64, String> = Update::new("set-limit");
    ///
    /// # async fn raise(client: &Client, run: &RunId) -> Result<(), UpdateError<String>> {
    /// let before = client.update(run, SET_LIMIT, &500).idempotency_key("raise-42").await?;
    /// println!("the limit was {before}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`UpdateError`].
    pub fn update<In: Data, Out: Data, Refused: Data>(
        &self,
        run: &RunId,
        update: perennial::Update<In, Out, Refused>,
        input: &In,
    ) -> UpdateRun<Out, Refused> {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        UpdateRun::new(Arc::clone(&self.shared), run, update, input)
    }

    /// Lists the messages that a run was sent, page by page: those that it has taken, with the place, and those that
    /// it has not (M39).
    pub fn list_messages(&self, run: &RunId) -> ListMessages {
        let run = RunKey::new(self.namespace.clone(), run.clone());
        ListMessages::new(Arc::clone(&self.shared), run)
    }

    /// Lists runs, page by page, in the order of their ids.
    pub fn list(&self) -> List {
        List::new(Arc::clone(&self.shared), self.namespace.clone())
    }
}

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunInfo {
    /// The run.
    pub run: RunKey,
    /// The name of its workflow.
    pub workflow: String,
    /// How it stands.
    pub state: RunState,
    /// Which generation this is; the first is 1.
    pub generation: u64,
    /// How many events its history has.
    pub events: u64,
    /// When it began.
    pub created: Timestamp,
    /// When it ended.
    pub finished: Option<Timestamp>,
    /// When it was purged: its history and what it returned are gone.
    pub purged: Option<Timestamp>,
    /// The run to which it was moved, in the same namespace.
    pub migrated_to: Option<RunId>,
    /// What it waits for from outside, and what it has and did not take.
    #[serde(default)]
    pub awaits: Awaits,
    /// Since when it is [paused](Client::pause), whatever else its state is; `None`: it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<Timestamp>,
}

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunState {
    /// It goes on, or waits.
    Running,
    /// No program that has tried could go on with it.
    Blocked {
        /// Why, by program.
        errors: Vec<BlockedRecord>,
    },
    /// It returned a result.
    Completed,
    /// It returned an error.
    Failed,
    /// It was moved to a new run, which goes on in its place ([`RunInfo::migrated_to`]).
    Migrated,
}

impl RunInfo {
    pub(crate) fn new(run: RunKey, head: Head, errors: Vec<BlockedRecord>) -> Self {
        let state = match head.status {
            Status::Completed => RunState::Completed,
            Status::Failed => RunState::Failed,
            Status::Migrated => RunState::Migrated,
            Status::Running if head.blocked => RunState::Blocked { errors },
            Status::Running => RunState::Running,
        };
        Self {
            awaits: Awaits::of(&head.inbox),
            run,
            workflow: head.workflow,
            state,
            generation: head.generation,
            events: head.sequence,
            created: head.created,
            finished: head.finished,
            purged: head.purged.map(|purged| purged.at),
            migrated_to: head.migrated_to,
            paused: head.paused,
        }
    }
}

/// A run's history, and beside it what became of attempts that brought no result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunHistory {
    /// The history.
    pub history: History,
    /// The attempts, in the order in which their ends were recorded.
    pub attempts: Vec<AttemptRecord>,
}

/// Reads on a thread that may wait for the disk.
pub(crate) async fn read<T: Send + 'static>(
    shared: &Arc<Shared>,
    read: impl FnOnce(&Shared) -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    let shared_there = Arc::clone(shared);
    match shared
        .tokio
        .spawn_blocking(move || read(&shared_there))
        .await
    {
        Ok(result) => result,
        Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
        Err(_) => Err(ReadError::Unavailable(Unavailable::Stopped)),
    }
}

async fn load(shared: &Arc<Shared>, run: RunKey) -> Result<(RunKey, Loaded), ReadError> {
    read(shared, move |shared| match shared.store.load(&run)? {
        Some(loaded) => Ok((run, loaded)),
        None => Err(ReadError::NotFound { run }),
    })
    .await
}

async fn status(shared: &Arc<Shared>, run: RunKey) -> Result<RunInfo, ReadError> {
    let (run, loaded) = load(shared, run).await?;
    Ok(RunInfo::new(run, loaded.head, loaded.blocked))
}

/// The head of a run whose history is kept.
pub(crate) fn kept_head(store: &dyn Store, run: &RunKey) -> Result<Head, ReadError> {
    let Some(head) = store.head(run)? else {
        return Err(ReadError::NotFound { run: run.clone() });
    };
    match head.purged {
        Some(Purged { at, .. }) => Err(ReadError::Purged {
            run: run.clone(),
            at,
        }),
        None => Ok(head),
    }
}

async fn history(shared: &Arc<Shared>, run: RunKey) -> Result<RunHistory, ReadError> {
    const PAGE: usize = 1_000;
    read(shared, move |shared| {
        let head = kept_head(&*shared.store, &run)?;
        let mut units = Vec::new();
        let mut next = 1;
        while next <= head.sequence {
            let page = shared.store.history(&run, head.generation, next, PAGE)?;
            let Some(last) = page.last() else {
                return Err(StoreError::Gap {
                    run,
                    expected: next,
                    found: None,
                }
                .into());
            };
            next = last.last() + 1;
            units.extend(page);
        }
        let attempts = shared.store.attempts(&run, head.generation)?;
        Ok(RunHistory {
            history: History {
                run,
                generation: head.generation,
                units,
            },
            attempts,
        })
    })
    .await
}
