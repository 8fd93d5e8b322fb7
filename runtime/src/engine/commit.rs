//! Handing the runs' changes to the store, and what follows when they are durable.

use std::sync::Arc;

use perennial::{Blocked, RunKey, Runaway, Timestamp};

use super::Shared;
use super::advance::values;
use super::message::{Message, StartReply};
use super::outbox::Outbox;
use super::run::{After, Progress, Run, Runs, Stage};
use super::shard::Shard;
use super::timers::TimerMessage;
use crate::error::Unavailable;
use crate::store::{
    Ack, Commit, Committed, Created, DueTimer, Queued, Remains, StoreError, is_filled, is_told,
};

/// Commits what has gathered in the run, if there is anything.
pub(super) fn submit(shared: &Arc<Shared>, key: &RunKey, runs: &mut Runs, outbox: &mut Outbox) {
    let Some(run) = runs.get_mut(key) else { return };
    if run.in_flight.is_some() || !run.has_changes() {
        return;
    }
    let mut changes = std::mem::take(&mut run.changes);
    changes.stamp = run.stamp;
    let sequence = run.sequence;
    if let Some(last) = changes.units.last() {
        run.sequence = last.last();
    }
    run.in_flight = Some(std::mem::take(&mut run.after));
    let bytes = changes.units.iter().map(values).sum();
    let commit = Commit {
        run: key.clone(),
        fence: run.fence,
        generation: run.generation,
        sequence,
        changes,
    };
    let (told, name) = (Arc::clone(shared), key.clone());
    let ack: Ack<Committed> = Box::new(move |mut result| {
        if let Ok(committed) = &mut result {
            told.pass_on(committed);
        }
        let run = name.clone();
        told.tell(&name, Message::Committed { run, result });
    });
    outbox.push(commit, ack, bytes);
}

impl Shared {
    /// Tells the owners of other runs what a write has put into their queues. It is done by the ack: acks come in the
    /// order of the writes, and so a run is told things in the order in which they arrived, whoever sent them.
    pub(super) fn pass_on(&self, committed: &mut Committed) {
        for arrival in std::mem::take(&mut committed.told) {
            let run = arrival.run.clone();
            self.tell(&run, Message::Arrived(arrival));
        }
    }
}

impl Run {
    /// What a commit has put into the run's own queue.
    fn take_own(&mut self, rows: Vec<Queued>) {
        if self.ended || self.blocked.is_some() || self.paused.is_some() {
            return;
        }
        for row in rows {
            self.stamp = self.stamp.max(row.at);
            if is_filled(&row) {
                self.inputs.fill(row);
            } else if is_told(&row) {
                self.inputs.arrive(row);
            }
        }
    }
}

impl Shard {
    pub(super) fn committed(&mut self, key: &RunKey, result: Result<Committed, StoreError>) {
        match result {
            Ok(Committed { rows, .. }) => {
                let after = self.runs.get_mut(key).and_then(|run| {
                    run.take_own(rows);
                    run.in_flight.take()
                });
                self.follow(key, after.into_iter().flatten());
                self.tell_retention(key);
                self.answer_starts(key);
                self.advance(key);
            }
            Err(StoreError::Refused(refusal)) => {
                // Somebody else changed the run. What this shard has of it is not what is stored.
                tracing::warn!(run = %key, "a commit was refused, and the run is opened again: {refusal}");
                self.open_again(key);
            }
            Err(StoreError::TooLarge { what, size, limit }) => {
                let blocked = self.too_large(key, what, size, limit);
                self.open_again(key);
                if let Some(blocked) = blocked {
                    self.block(key, &blocked);
                }
            }
            // What is stored of this run cannot be read; of others it can.
            Err(error @ (StoreError::Damaged { .. } | StoreError::Gap { .. })) => {
                self.unreadable(key, error)
            }
            Err(error) => self.fail(error.into()),
        }
    }

    /// Nothing of the commit was written, so what is in memory is not what is stored.
    pub(super) fn open_again(&mut self, key: &RunKey) {
        let mut due = Timestamp::default();
        if let Some(mut run) = self.runs.remove(key) {
            due = run.due;
            self.ask_again(key, run.in_flight.take().unwrap_or_default());
        }
        self.wake(key);
        if let Some(run) = self.runs.get_mut(key) {
            // Its timers have rung, and do not ring again.
            run.due = due;
            self.advance(key);
        }
    }

    /// The machine keeps units within their bound, so this is a name or a text that is out of all proportion.
    fn too_large(
        &self,
        key: &RunKey,
        what: &'static str,
        size: u64,
        limit: u64,
    ) -> Option<Blocked> {
        let run = self.runs.get(key)?;
        let workflow = self
            .shared
            .registry
            .workflows
            .get(run.workflow.as_str())?
            .name;
        let (event, run) = (run.sequence, key.to_string());
        Some(Blocked::Runaway(Runaway {
            run,
            workflow,
            event,
            what,
            count: size,
            limit,
        }))
    }

    pub(super) fn created(&mut self, key: &RunKey, result: Result<Created, StoreError>) {
        match result {
            Ok(Created::New(head, committed)) => {
                let Some(run) = self.runs.get_mut(key) else {
                    return;
                };
                run.fence = head.fence;
                run.stage = Stage::Ready;
                if run.machine.is_some() {
                    let mut queue = committed.rows;
                    if run.inputs.has_left() {
                        match self.shared.store.load(key) {
                            Ok(loaded) => queue = loaded.map(|l| l.queue).unwrap_or_default(),
                            Err(error) => {
                                run.answer_start(&Err(Unavailable::Store(error.clone())));
                                return self.unreadable(key, error);
                            }
                        }
                    }
                    run.stamp = run.stamp.max(head.stamp);
                    run.inputs.take_rows(queue, head.arrivals);
                }
                let after = run.in_flight.take();
                self.follow(key, after.into_iter().flatten());
                self.tell_retention(key);
                self.answer_starts(key);
                self.advance(key);
            }
            Ok(Created::Exists(head)) => {
                self.not_created(key, &Ok(StartReply::Exists(head.into())))
            }
            Err(error) if error.ends_all() => self.fail(error.into()),
            Err(error) => self.not_created(key, &Err(error.into())),
        }
    }

    /// Where the run has ended with all that belongs to it, it can be purged one day.
    pub(super) fn tell_retention(&self, key: &RunKey) {
        if self.shared.settings.retention.is_none() {
            return;
        }
        if let Some(run) = self.runs.get(key)
            && run.ended
            && run.tasks.is_empty()
        {
            self.shared.timer(TimerMessage::Finished {
                remains: Remains::Whole,
                at: run.finished,
            });
        }
    }

    /// Nothing was written. Others may be waiting for what there was before, or for what there is instead.
    fn not_created(&mut self, key: &RunKey, answer: &Result<StartReply, Unavailable>) {
        if let Some(mut run) = self.runs.remove(key) {
            run.answer_start(answer);
        }
        self.wake(key);
    }

    /// Goes on with the starts that had to wait until the store knows how the run stands.
    pub(super) fn answer_starts(&mut self, key: &RunKey) {
        for request in self.starts.remove(key).into_iter().flatten() {
            self.start(request);
        }
    }

    /// Carries out what was waiting for a commit.
    fn follow(&mut self, key: &RunKey, after: impl Iterator<Item = After>) {
        for after in after {
            match after {
                After::Dispatch { operation, slot } => self.dispatch(key, operation, slot),
                After::WaitForSlot { operation } => self.wait_in_line(key, operation),
                After::RetryAt { operation, at } => {
                    if let Some(open) = self
                        .runs
                        .get_mut(key)
                        .and_then(|run| run.tasks.get_mut(&operation))
                    {
                        open.progress = Progress::Waiting;
                    }
                    self.shared.timer(TimerMessage::Retry {
                        run: key.clone(),
                        operation,
                        at,
                    });
                }
                After::Timer {
                    operation,
                    deadline,
                    rings,
                } => {
                    let timer = DueTimer {
                        deadline,
                        run: key.clone(),
                        operation,
                    };
                    self.shared.timer(TimerMessage::Timer { timer, rings });
                }
                After::Offered(stub) => self.offered(key, stub),
                After::Withdrawn => self.withdrawn(key),
                After::Logs(lines) => {
                    let workflow = self
                        .runs
                        .get(key)
                        .map(|run| run.workflow.as_str())
                        .unwrap_or_default();
                    for line in lines {
                        tracing::info!(target: "perennial::workflow", run = %key, workflow, site = %line.site, "{}", line.message);
                    }
                }
                After::Started { reply, answer } => {
                    let _ = reply.send(Ok(answer));
                }
                After::News => self.shared.observers.tell(key),
                After::Updated(decided) => self.updated(decided),
                After::Ended(ended) => {
                    self.shared.observers.tell(key);
                    self.answer(key, &Ok(ended));
                }
                After::Blocked => {
                    self.shared.observers.tell(key);
                    let blocked = self.runs.get(key).and_then(|run| run.blocked.as_ref());
                    if let Some(blocked) = blocked.cloned() {
                        self.answer(key, &Err(blocked.answer()));
                        self.answer_tried(key, Some(&blocked));
                    }
                }
                After::Unblocked => {
                    // What it shows is not stale any more.
                    self.shared.observers.tell(key);
                    self.answer_tried(key, None);
                }
                After::Paused => self.has_paused(key),
                After::Resumed => self.has_resumed(key),
            }
        }
    }
}
