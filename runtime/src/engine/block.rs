//! Runs that this program cannot go on with (S16).

use perennial::value::Value;
use perennial::{Blocked, RunKey, Timestamp};

use super::Shared;
use super::commit;
use super::message::WaitError;
use super::run::{After, BlockedNow, Run, Stage, settles};
use super::settle::short;
use super::shard::Shard;
use super::timers::TimerMessage;
use crate::store::{BlockedChange, BlockedRecord, TaskChange};

impl Shard {
    /// Blocks the run: its history stays as it is, what it was to be told is kept in its queue.
    pub(super) fn block(&mut self, key: &RunKey, error: &Blocked) {
        tell(&self.shared, key, error);
        let now = self.shared.clock.now();
        let record = record_of(error, &self.shared.artifact, now);
        let Some(run) = self.runs.get_mut(key).filter(|run| !run.ended) else {
            return;
        };
        run.stage = Stage::Ready;
        run.machine = None;
        run.blocked = Some(BlockedNow::of(error));
        run.was_blocked = true;
        run.changes.blocked = Some(BlockedChange::Put(record));
        run.after.push(After::Blocked);
        run.keep_inputs(now);
        commit::submit(&self.shared, key, &mut self.runs, &mut self.outbox);
    }
}

/// The longest text of an error that is kept, in bytes. Its parts are short, so that this is never reached but
/// by names beyond all proportion; a record that the store refused would be written again and again.
const MOST_TEXT: usize = 64 << 10;

/// Says it to people, under a target of its own: a program that shows the error itself turns that off.
pub(super) fn tell(shared: &Shared, run: &RunKey, error: &Blocked) {
    tracing::error!(target: "perennial::blocked", run = %run, code = error.code(), "{error}");
    shared.unheard.note(run, error.code(), |rings| {
        shared.timer(TimerMessage::Unheard { rings });
    });
}

/// The record of the error.
pub(super) fn record_of(error: &Blocked, artifact: &str, at: Timestamp) -> BlockedRecord {
    BlockedRecord {
        artifact: artifact.to_owned(),
        unfit: error.is_unfit(),
        code: error.code().to_owned(),
        text: short(error.to_string(), MOST_TEXT),
        // The text says everything as well, so it is enough where they cannot be stored.
        details: Value::encode(error).unwrap_or_else(|_| Value::null()),
        at,
    }
}

impl BlockedNow {
    pub(super) fn of(error: &Blocked) -> Self {
        Self {
            unfit: error.is_unfit(),
            code: error.code().to_owned(),
            text: error.to_string(),
        }
    }

    /// Of the records of a run the one by which this program need not even try (S16).
    pub(super) fn unfit(records: &[BlockedRecord], artifact: &str) -> Option<Self> {
        let mut records = records.iter();
        let record = records.find(|record| record.unfit && record.artifact == artifact)?;
        Some(Self {
            unfit: true,
            code: record.code.clone(),
            text: record.text.clone(),
        })
    }

    /// The answer to those who wait for the run's end.
    pub(super) fn answer(&self) -> WaitError {
        WaitError::Blocked {
            code: self.code.clone(),
            text: self.text.clone(),
        }
    }
}

impl Run {
    /// Puts what the machine cannot be told now into the queue, where it waits with its stamp. What came
    /// from there is there, and is read again when the run is tried again.
    pub(super) fn keep_inputs(&mut self, now: Timestamp) {
        for input in self.inputs.take() {
            if input.row.is_some() {
                continue;
            }
            if let Some(operation) = settles(&input.observation) {
                self.tasks.remove(&operation);
                self.changes.tasks.push(TaskChange::Remove(operation));
            }
            self.stamp = self.stamp.max(now);
            self.changes.enqueue.push(input.observation);
        }
    }
}
