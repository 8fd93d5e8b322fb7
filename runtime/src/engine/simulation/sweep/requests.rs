//! How what those outside do is asked of a process, where it is time for it.

use perennial::history::{Channel, Observation};
use perennial::value::Value;
use perennial::{MigrationDefinition, RunId, RunKey, Timestamp, WorkflowDefinition};
use tokio::sync::oneshot;

use super::super::process::Process;
use super::super::watch::text;
use super::acts::{Act, Told};
use super::answers::Answer;
use crate::engine::{
    FulfilRequest, Heard, Message, MigrateReply, MigrateRequest, PauseRequest, PauseWish,
    ReplyRequest, Reuse, SendRequest, StartRequest, UpdateRequest,
};
use crate::fork::{ForkError, Wish as Fork};
use crate::migrate::{Looked, Wish};
use crate::store::{Head, Offer, SendKey, Store, send_digest, update_digest};

/// `None`: it is not time for it.
type Asked = Result<Option<Answer>, String>;

/// When keys were first used.
fn first_used() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
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

/// A process that is asked, and what it has stored.
pub(super) struct Asking<'a> {
    pub(super) process: &'a Process,
    pub(super) store: &'a dyn Store,
}

impl Asking<'_> {
    pub(super) fn ask(&self, act: &Act) -> Asked {
        match act.clone() {
            Act::Start {
                run,
                workflow,
                input,
                messages,
            } => Ok(Some(self.start(run, workflow, input, &messages))),
            Act::Tell { run, told } => self.tell(run, told),
            Act::Fulfil {
                run,
                stub,
                call,
                value,
            } => self.fulfil(run, stub, call, value),
            Act::Ask {
                run,
                update,
                input,
                key,
            } => self.update(run, update, input, key),
            Act::Hear { run, stub, call } => self.hear(run, stub, call),
            Act::Pause { run, calls } => self.pause(run, calls),
            Act::Resume { run } => self.resume(run),
            Act::Fork { run, to } => self.fork(run, to),
            Act::Move {
                run,
                migration,
                to,
                waits,
            } => self.migrate(run, migration, to, waits),
        }
    }

    fn head(&self, run: &RunKey) -> Result<Option<Head>, String> {
        self.store.head(run).map_err(text)
    }

    fn tell_shard(&self, run: &RunKey, message: Message) {
        self.process.shared.tell(run, message);
    }

    fn start(
        &self,
        run: RunKey,
        workflow: WorkflowDefinition,
        input: Value,
        messages: &[Told],
    ) -> Answer {
        let (reply, answer) = oneshot::channel();
        let observed = messages.iter().map(|told| {
            let (name, key) = (told.name.to_owned(), Some(told.key.clone()));
            crate::engine::observation(told.channel, name, told.payload.clone(), key)
        });
        let request = StartRequest {
            run: run.clone(),
            workflow,
            digest: input.digest(),
            input,
            messages: observed.collect(),
            keys: messages.iter().map(Told::key).collect(),
            reuse: Reuse::Never,
            reply,
        };
        self.tell_shard(&run, Message::Start(request));
        Answer::Start(answer)
    }

    fn tell(&self, run: RunKey, told: Told) -> Asked {
        if !self.may_be_told(&run, &told)? {
            return Ok(None);
        }
        let (reply, answer) = oneshot::channel();
        let request = SendRequest {
            run: run.clone(),
            channel: told.channel,
            name: told.name.to_owned(),
            key: Some(told.key()),
            payload: told.payload,
            reply,
        };
        self.tell_shard(&run, Message::Send(request));
        Ok(Some(Answer::Tell(answer)))
    }

    fn may_be_told(&self, run: &RunKey, told: &Told) -> Result<bool, String> {
        let Some(head) = self.head(run)? else {
            return Ok(false);
        };
        if told.channel == Channel::Message || head.inbox.awaited.has(told.channel, told.name) {
            return Ok(true);
        }
        let keys = self.store.keys(run, 0, usize::MAX).map_err(text)?;
        Ok(keys.iter().any(|known| known.key == told.key))
    }

    /// The so-manieth call of a stub.
    fn call(&self, run: &RunKey, stub: &str, call: usize) -> Result<Option<Offer>, String> {
        let offers = self.store.offers(run, 0, usize::MAX).map_err(text)?;
        let mut calls = offers.into_iter().filter(|offer| offer.name == stub);
        Ok(calls.nth(call))
    }

    fn fulfil(&self, run: RunKey, stub: &str, call: usize, value: Value) -> Asked {
        let Some(offer) = self.call(&run, stub, call)? else {
            return Ok(None);
        };
        let (reply, answer) = oneshot::channel();
        let request = FulfilRequest {
            run: run.clone(),
            operation: offer.operation,
            stub: stub.to_owned(),
            value,
            reply,
        };
        self.tell_shard(&run, Message::Fulfil(request));
        Ok(Some(Answer::Fulfil(answer)))
    }

    fn hear(&self, run: RunKey, stub: &str, call: usize) -> Asked {
        let Some(offer) = self.call(&run, stub, call)? else {
            return Ok(None);
        };
        let (reply, answer) = oneshot::channel();
        let request = ReplyRequest {
            run: run.clone(),
            stub: stub.to_owned(),
            operation: offer.operation,
            heard: Heard::default(),
            reply,
        };
        self.tell_shard(&run, Message::AwaitReply(request));
        Ok(Some(Answer::Hear(answer)))
    }

    fn update(&self, run: RunKey, update: &str, input: Value, key: String) -> Asked {
        if self.head(&run)?.is_none() {
            return Ok(None);
        }
        let (reply, answer) = oneshot::channel();
        let key = SendKey {
            key,
            at: first_used(),
            digest: update_digest(update, &input),
        };
        let request = UpdateRequest {
            run: run.clone(),
            name: update.to_owned(),
            input,
            key: Some(key),
            reply,
        };
        self.tell_shard(&run, Message::Update(request));
        Ok(Some(Answer::Ask(answer)))
    }

    fn pause(&self, run: RunKey, calls: usize) -> Asked {
        let is_there = self.head(&run)?.is_some();
        let called = self.store.offers(&run, 0, usize::MAX).map_err(text)?.len();
        Ok((is_there && called >= calls).then(|| self.wish(run, PauseWish::Pause)))
    }

    fn resume(&self, run: RunKey) -> Asked {
        let Some(loaded) = self.store.load(&run).map_err(text)? else {
            return Ok(None);
        };
        let now = self.process.shared.clock.now();
        let have_rung = loaded.timers.iter().all(|(_, deadline)| *deadline <= now);
        let is_time = loaded.head.paused.is_some() && have_rung;
        Ok(
            (is_time || loaded.head.status.is_finished())
                .then(|| self.wish(run, PauseWish::Resume)),
        )
    }

    fn wish(&self, run: RunKey, wish: PauseWish) -> Answer {
        let (reply, answer) = oneshot::channel();
        let request = PauseRequest {
            run: run.clone(),
            wish,
            reply,
        };
        self.tell_shard(&run, Message::Pause(request));
        Answer::Pause(answer)
    }

    fn fork(&self, run: RunKey, to: RunId) -> Asked {
        let Some(head) = self.head(&run)? else {
            return Ok(None);
        };
        let units = self.store.history(&run, head.generation, 1, usize::MAX);
        let done = |unit: &perennial::history::Unit| {
            matches!(unit.observation, Observation::ActivityCompleted { .. })
        };
        let Some(first) = units.map_err(text)?.into_iter().find(done) else {
            return Ok(None);
        };
        let wish = Fork {
            run,
            event: first.number,
            to,
        };
        let shared = self.process.shared.clone();
        let (reply, answer) = oneshot::channel();
        match wish.look(&shared) {
            Err(error) => drop(reply.send(Err(error))),
            Ok(plan) => {
                self.process.shared.tokio.spawn(async move {
                    let made = shared.make_fork(*plan.create).await;
                    let made = made.map_err(ForkError::Unavailable);
                    let there = |head: Box<Head>| wish.exists(&shared, &head);
                    let _ = reply.send(made.and_then(|made| made.map_err(there)));
                });
            }
        }
        Ok(Some(Answer::Fork(answer)))
    }

    fn migrate(
        &self,
        run: RunKey,
        migration: MigrationDefinition,
        to: RunId,
        waits: &str,
    ) -> Asked {
        let is_time = |head: &Head| {
            head.status.is_finished() || head.inbox.awaited.has(Channel::Message, waits)
        };
        if !self.head(&run)?.as_ref().is_some_and(is_time) {
            return Ok(None);
        }
        let (reply, answer) = oneshot::channel();
        let wish = Wish {
            run: run.clone(),
            migration,
            to,
        };
        let looked = wish.look(self.store, &self.process.shared.registry);
        match looked.map_err(|error| error.to_string())? {
            Looked::Plan(plan) => {
                let request = MigrateRequest {
                    run: run.clone(),
                    plan,
                    reply,
                };
                self.tell_shard(&run, Message::Migrate(request));
            }
            _ => drop(reply.send(Ok(MigrateReply::Done))),
        }
        Ok(Some(Answer::Move(answer)))
    }
}
