//! Those outside, who do not end with a process. What they do can be repeated, and is: a new process is told all of it
//! again, from the start, and has to answer as the one before.

use std::fmt;

use perennial::history::Channel;
use perennial::value::Value;
use perennial::{MigrationDefinition, RunId, RunKey, Timestamp, WorkflowDefinition};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::super::process::Process;
use super::super::watch::text;
use crate::client::{Answered, FulfilError, SendError, UpdateError};
use crate::engine::{
    FulfilRequest, Message, MigrateReply, MigrateRequest, Reuse, SendRequest, StartReply,
    StartRequest, UpdateRequest,
};
use crate::error::Unavailable;
use crate::migrate::{Looked, Wish};
use crate::store::{Delivered, Head, SendKey, Store, send_digest, update_digest};

/// What a run is told, under an idempotency key.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) channel: Channel,
    pub(super) name: &'static str,
    pub(super) payload: Value,
    pub(super) key: String,
}

impl Told {
    fn key(&self) -> SendKey {
        SendKey {
            key: self.key.clone(),
            at: first_used(),
            digest: send_digest(self.channel, self.name, &self.payload),
        }
    }
}

/// When keys were first used.
fn first_used() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
}

/// Something that somebody does.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Start {
        run: RunKey,
        workflow: WorkflowDefinition,
        input: Value,
        /// What comes with it.
        messages: Vec<Told>,
    },
    /// A signal is not sent before the run waits for it.
    Tell { run: RunKey, told: Told },
    /// Completes the so-manieth call of a stub, from 0, once it is there.
    Fulfil {
        run: RunKey,
        stub: &'static str,
        call: usize,
        value: Value,
    },
    /// Asks the run for a change, under an idempotency key, once it is there.
    Ask {
        run: RunKey,
        update: &'static str,
        input: Value,
        key: String,
    },
    /// Moves a run to a new one, once it waits for that.
    Move {
        run: RunKey,
        migration: MigrationDefinition,
        to: RunId,
        waits: &'static str,
    },
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { run, .. } => write!(f, "the start of {run}"),
            Self::Tell { run, told } => write!(f, "{} {} to {run}", told.name, told.payload),
            Self::Fulfil {
                run,
                stub,
                call,
                value,
            } => write!(f, "{value} for call {call} of {stub} by {run}"),
            Self::Ask {
                run, update, input, ..
            } => write!(f, "update {update} {input} of {run}"),
            Self::Move { run, to, .. } => write!(f, "the migration of {run} to {to}"),
        }
    }
}

impl Act {
    pub(super) fn run(&self) -> &RunKey {
        match self {
            Self::Start { run, .. }
            | Self::Tell { run, .. }
            | Self::Fulfil { run, .. }
            | Self::Ask { run, .. }
            | Self::Move { run, .. } => run,
        }
    }

    /// The runs that there are with it.
    pub(super) fn runs(&self) -> Vec<RunKey> {
        let run = self.run().clone();
        match self {
            Self::Move { to, .. } => vec![RunKey::new(run.namespace.clone(), to.clone()), run],
            _ => vec![run],
        }
    }

    /// The workflow that a program needs for it.
    pub(super) fn workflow(&self) -> Option<WorkflowDefinition> {
        match self {
            Self::Start { workflow, .. } => Some(*workflow),
            Self::Move { migration, .. } => Some(migration.to),
            Self::Tell { .. } | Self::Fulfil { .. } | Self::Ask { .. } => None,
        }
    }

    /// Makes a request of it, where it is time for that.
    fn request(
        &self,
        process: &Process,
        store: &dyn Store,
    ) -> Result<Option<(Option<Message>, Answer)>, String> {
        let (message, answer) = match self.clone() {
            Self::Start {
                run,
                workflow,
                input,
                messages,
            } => {
                let (reply, answer) = oneshot::channel();
                let observed = messages.iter().map(|told| {
                    let (name, key) = (told.name.to_owned(), Some(told.key.clone()));
                    crate::engine::observation(told.channel, name, told.payload.clone(), key)
                });
                let request = StartRequest {
                    run,
                    workflow,
                    digest: input.digest(),
                    input,
                    messages: observed.collect(),
                    keys: messages.iter().map(Told::key).collect(),
                    reuse: Reuse::Never,
                    reply,
                };
                (Message::Start(request), Answer::Start(answer))
            }
            Self::Tell { run, told } => {
                if !may_be_told(store, &run, &told)? {
                    return Ok(None);
                }
                let (reply, answer) = oneshot::channel();
                let request = SendRequest {
                    run,
                    channel: told.channel,
                    name: told.name.to_owned(),
                    key: Some(told.key()),
                    payload: told.payload,
                    reply,
                };
                (Message::Send(request), Answer::Tell(answer))
            }
            Self::Fulfil {
                run,
                stub,
                call,
                value,
            } => {
                let offers = store.offers(&run, 0, usize::MAX).map_err(text)?;
                let mut calls = offers.into_iter().filter(|offer| offer.name == stub);
                let Some(offer) = calls.nth(call) else {
                    return Ok(None);
                };
                let (reply, answer) = oneshot::channel();
                let request = FulfilRequest {
                    run,
                    operation: offer.operation,
                    stub: stub.to_owned(),
                    value,
                    reply,
                };
                (Message::Fulfil(request), Answer::Fulfil(answer))
            }
            Self::Ask {
                run,
                update,
                input,
                key,
            } => {
                if store.head(&run).map_err(text)?.is_none() {
                    return Ok(None);
                }
                let (reply, answer) = oneshot::channel();
                let key = SendKey {
                    key,
                    at: first_used(),
                    digest: update_digest(update, &input),
                };
                let request = UpdateRequest {
                    run,
                    name: update.to_owned(),
                    input,
                    key: Some(key),
                    reply,
                };
                (Message::Update(request), Answer::Ask(answer))
            }
            Self::Move {
                run,
                migration,
                to,
                waits,
            } => {
                let head = store.head(&run).map_err(text)?;
                let is_time = |head: &Head| {
                    head.status.is_finished() || head.inbox.awaited.has(Channel::Message, waits)
                };
                if !head.as_ref().is_some_and(is_time) {
                    return Ok(None);
                }
                let (reply, answer) = oneshot::channel();
                let wish = Wish {
                    run: run.clone(),
                    migration,
                    to,
                };
                let looked = wish.look(store, &process.shared.registry);
                let Looked::Plan(plan) = looked.map_err(|error| error.to_string())? else {
                    let _ = reply.send(Ok(MigrateReply::Done));
                    return Ok(Some((None, Answer::Move(answer))));
                };
                let request = MigrateRequest { run, plan, reply };
                (Message::Migrate(request), Answer::Move(answer))
            }
        };
        Ok(Some((Some(message), answer)))
    }
}

fn may_be_told(store: &dyn Store, run: &RunKey, told: &Told) -> Result<bool, String> {
    let Some(head) = store.head(run).map_err(text)? else {
        return Ok(false);
    };
    if told.channel == Channel::Message || head.inbox.awaited.has(told.channel, told.name) {
        return Ok(true);
    }
    let keys = store.keys(run, 0, usize::MAX).map_err(text)?;
    Ok(keys.iter().any(|known| known.key == told.key))
}

/// An answer that has not come.
#[derive(Debug)]
enum Answer {
    Start(oneshot::Receiver<Result<StartReply, Unavailable>>),
    Tell(oneshot::Receiver<Result<Delivered, SendError>>),
    Fulfil(oneshot::Receiver<Result<Delivered, FulfilError>>),
    Ask(oneshot::Receiver<Result<Answered, UpdateError<Value>>>),
    Move(oneshot::Receiver<Result<MigrateReply, Unavailable>>),
}

impl Answer {
    /// What is said, in a word that is the same whenever it is asked; `None`: not yet.
    fn hear(&mut self) -> Result<Option<String>, String> {
        match self {
            Self::Start(answer) => said(answer, |_| "it is there".to_owned()),
            Self::Tell(answer) => said(answer, receipt),
            Self::Fulfil(answer) => said(answer, receipt),
            Self::Ask(answer) => said_of_update(answer),
            Self::Move(answer) => said(answer, |reply| format!("{reply:?}")),
        }
    }
}

fn receipt(delivered: Delivered) -> String {
    format!("number {} at {}", delivered.arrival, delivered.at)
}

/// What is refused leaves nothing behind, so that a run that has ended since says that instead.
fn said_of_update(
    answer: &mut oneshot::Receiver<Result<Answered, UpdateError<Value>>>,
) -> Result<Option<String>, String> {
    match answer.try_recv() {
        Ok(Ok(answered)) => Ok(Some(format!(
            "{} by event {}",
            answered.value, answered.event
        ))),
        Ok(Err(
            UpdateError::Refused(_)
            | UpdateError::RunFinished { .. }
            | UpdateError::RunEnded { .. },
        )) => Ok(Some("it is not done".to_owned())),
        Ok(Err(error)) => Err(error.to_string()),
        Err(TryRecvError::Empty) => Ok(None),
        Err(TryRecvError::Closed) => Err("nobody answers".to_owned()),
    }
}

fn said<T, E: std::fmt::Display>(
    answer: &mut oneshot::Receiver<Result<T, E>>,
    word: impl Fn(T) -> String,
) -> Result<Option<String>, String> {
    match answer.try_recv() {
        Ok(Ok(said)) => Ok(Some(word(said))),
        Ok(Err(error)) => Err(error.to_string()),
        Err(TryRecvError::Empty) => Ok(None),
        Err(TryRecvError::Closed) => Err("nobody answers".to_owned()),
    }
}

/// What they do, in that order. Nobody waits for an answer before the next thing is done.
pub(super) struct Outside<'a> {
    acts: &'a [Act],
    next: usize,
    waiting: Vec<(usize, Answer)>,
    /// What was answered.
    answers: Vec<Option<String>>,
}

impl<'a> Outside<'a> {
    pub(super) fn new(acts: &'a [Act]) -> Self {
        Self {
            acts,
            next: 0,
            waiting: Vec::new(),
            answers: vec![None; acts.len()],
        }
    }

    /// Another process is there.
    pub(super) fn begin_again(&mut self) {
        self.next = 0;
        self.waiting.clear();
    }

    /// Does the next thing, if it is time for it. Says whether it was.
    pub(super) fn act(&mut self, process: &Process, store: &dyn Store) -> Result<bool, String> {
        let Some(act) = self.acts.get(self.next) else {
            return Ok(false);
        };
        let Some((message, answer)) = act.request(process, store)? else {
            return Ok(false);
        };
        if let Some(message) = message {
            process.shared.tell(act.run(), message);
        }
        self.waiting.push((self.next, answer));
        self.next += 1;
        Ok(true)
    }

    /// Takes the answers that have come. Those of a process that has failed are none.
    pub(super) fn hear(&mut self, process: &Process) -> Result<(), String> {
        if process.has_failed() {
            return Ok(());
        }
        for (at, mut answer) in std::mem::take(&mut self.waiting) {
            let act = &self.acts[at];
            let heard = answer.hear();
            match heard.map_err(|error| format!("{act} was answered with: {error}"))? {
                None => self.waiting.push((at, answer)),
                Some(now) => {
                    let before = self.answers[at].get_or_insert_with(|| now.clone());
                    if *before != now {
                        return Err(format!(
                            "{act} was answered with \"{before}\", and then with \"{now}\""
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn is_done(&self) -> bool {
        self.next == self.acts.len() && self.waiting.is_empty()
    }
}
