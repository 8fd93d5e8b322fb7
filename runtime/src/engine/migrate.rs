//! Ending a run that goes on as a new one (S38). The shard that owns the old run writes both; the new one belongs
//! to whichever shard its name hashes to, which is told when the write is durable.

use std::sync::Arc;

use perennial::{RunId, RunKey, Timestamp};
use tokio::sync::oneshot;

use super::message::{Message, WaitError};
use super::shard::Shard;
use crate::error::{Unavailable, UnblockError};
use crate::migrate::Plan;
use crate::store::{Created, Refusal, Status, StoreError};

/// What became of a plan.
#[derive(Debug)]
pub(crate) enum MigrateReply {
    /// The old run has ended and the new one is there.
    Done,
    /// The old run is not as the plan has seen it. It is to be looked at again.
    Moved,
    /// There is a run of the new id.
    Exists,
}

/// Who waits for that.
pub(crate) type MigrateWaiter = oneshot::Sender<Result<MigrateReply, Unavailable>>;

/// A plan that waits until nothing else is under way with its run.
#[derive(Debug)]
pub(crate) struct MigrateRequest {
    pub(crate) run: RunKey,
    pub(crate) plan: Box<Plan>,
    pub(crate) reply: MigrateWaiter,
}

/// A write that is under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    /// When the old run has ended, if it has.
    at: Timestamp,
    /// The old run's last event then.
    sequence: u64,
    to: RunId,
    pub(super) reply: MigrateWaiter,
}

impl Shard {
    pub(super) fn migrate(&mut self, request: MigrateRequest) {
        let closed = if self.shared.is_draining() {
            Some(Unavailable::Draining)
        } else {
            self.failed.clone()
        };
        if let Some(error) = closed {
            let _ = request.reply.send(Err(error));
            return;
        }
        let plans = self.migrations.entry(request.run.clone()).or_default();
        plans.push(request);
    }

    /// Writes a plan, once nothing else is under way with its run.
    pub(super) fn go_on_migrating(&mut self, key: &RunKey) {
        if self.migrations.is_empty() || !self.migrations.contains_key(key) {
            return;
        }
        if !self.runs.contains_key(key) {
            // It comes into memory, under a fence of this process, whoever had it before.
            match self.shared.store.head(key) {
                Ok(Some(head)) if !head.status.is_finished() => self.wake(key),
                _ => {}
            }
        }
        match self.runs.get(key) {
            Some(run) if run.is_resting() => self.write_plan(key),
            Some(_) => {}
            // Whoever asked looks again, and finds what is the matter with it.
            None => self.answer_migrations(key, || Ok(MigrateReply::Moved)),
        }
    }

    fn write_plan(&mut self, key: &RunKey) {
        let Some(plans) = self.migrations.get_mut(key) else {
            return;
        };
        let MigrateRequest { plan, reply, .. } = plans.remove(0);
        if plans.is_empty() {
            self.migrations.remove(key);
        }
        let loaded = match self.shared.store.load(key) {
            Ok(Some(loaded)) if plan.fits(&loaded.head) => loaded,
            Ok(_) => {
                let _ = reply.send(Ok(MigrateReply::Moved));
                return self.go_on_migrating(key);
            }
            Err(error) => {
                let _ = reply.send(Err(error.into()));
                return self.go_on_migrating(key);
            }
        };
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        run.in_flight = Some(Vec::new());
        let shared = Arc::clone(&self.shared);
        let new = plan.new_run();
        let now = shared.clock.now();
        let write = plan.write(&loaded, run.fence, shared.owner, &shared.artifact, now);
        let under_way = UnderWay {
            at: write.end.changes.stamp,
            sequence: write.end.sequence + 1,
            to: new.id,
            reply,
        };
        // Not in the ack: where the engine stops first, whoever asked is told so.
        self.moving.insert(key.clone(), under_way);
        let (told, run) = (Arc::clone(&shared), key.clone());
        let ack = Box::new(move |result| {
            let name = run.clone();
            told.tell(&run, Message::Migrated { run: name, result });
        });
        shared.store.migrate(write, ack);
    }

    /// The store has answered.
    pub(super) fn migrated(&mut self, key: &RunKey, result: Result<Created, StoreError>) {
        let Some(under_way) = self.moving.remove(key) else {
            return;
        };
        let UnderWay {
            at,
            sequence,
            to,
            reply,
        } = under_way;
        let answer = match result {
            Ok(_) => {
                self.has_moved(key, at, sequence, to);
                Ok(MigrateReply::Done)
            }
            Err(StoreError::Refused(Refusal::Exists { .. } | Refusal::Restoring { .. })) => {
                self.has_not_moved(key);
                Ok(MigrateReply::Exists)
            }
            Err(StoreError::Refused(refusal)) => {
                // Somebody else changed the run. What this shard has of it is not what is stored.
                tracing::warn!(run = %key, "a migration was refused, and the run is opened again: {refusal}");
                self.open_again(key);
                Ok(MigrateReply::Moved)
            }
            Err(
                error @ (StoreError::TooLarge { .. }
                | StoreError::Damaged { .. }
                | StoreError::Gap { .. }),
            ) => {
                self.has_not_moved(key);
                Err(error.into())
            }
            Err(error) => {
                self.fail(error.clone().into());
                Err(error.into())
            }
        };
        let _ = reply.send(answer);
    }

    /// Nothing was written, and the run goes on.
    fn has_not_moved(&mut self, key: &RunKey) {
        if let Some(run) = self.runs.get_mut(key) {
            run.in_flight = None;
        }
        self.answer_starts(key);
        self.advance(key);
    }

    fn has_moved(&mut self, key: &RunKey, at: Timestamp, sequence: u64, to: RunId) {
        let new = RunKey::new(key.namespace.clone(), to.clone());
        if let Some(run) = self.runs.get_mut(key) {
            run.in_flight = None;
            run.ended = true;
            run.finished = at;
            run.stamp = run.stamp.max(at);
            run.sequence = sequence;
            run.machine = None;
            run.blocked = None;
            run.was_blocked = false;
            run.timers.clear();
            // What attempts have brought while this was written.
            run.leave_inputs(at);
        }
        self.shared.observers.tell(key);
        self.answer(key, &Err(WaitError::Migrated { to }));
        let ended = UnblockError::Finished {
            run: key.clone(),
            status: Status::Migrated,
        };
        self.answer_asked(key, &ended);
        self.shared.tell(&new, Message::Wake { run: new.clone() });
        self.tell_retention(key);
        self.answer_starts(key);
        self.advance(key);
    }

    /// Tells all whose plan for the run has not been written.
    pub(super) fn answer_migrations(
        &mut self,
        key: &RunKey,
        answer: impl Fn() -> Result<MigrateReply, Unavailable>,
    ) {
        for request in self.migrations.remove(key).into_iter().flatten() {
            let _ = request.reply.send(answer());
        }
    }
}
