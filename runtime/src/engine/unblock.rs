//! Trying again, because somebody asked for it, what this program could not go on with (S16).
//!
//! A try is a replay like any other, and ends like one: the run goes on and its records are cleared, or it is
//! blocked again. Who asks while one is under way gets one that began later, since what they have repaired may
//! have come too late for it.

use std::time::Instant;

use perennial::RunKey;
use tokio::sync::oneshot;

use super::run::{BlockedNow, Open, Progress, Run};
use super::shard::Shard;
use super::timers::TimerMessage;
use crate::error::{Unavailable, UnblockError};
use crate::store::{BlockedRecord, DueTimer, Head, Loaded};

/// What becomes of a try: the records that had stood until then.
pub(crate) type UnblockReply = oneshot::Sender<Result<Vec<BlockedRecord>, UnblockError>>;

/// Somebody who asked for a try.
#[derive(Debug)]
pub(super) struct Asked {
    reply: UnblockReply,
    /// The records of the run when the try began; `None`: it has not.
    tried: Option<Vec<BlockedRecord>>,
}

impl Shard {
    pub(super) fn unblock(&mut self, key: &RunKey, reply: UnblockReply) {
        let closed = if self.shared.is_draining() {
            Some(Unavailable::Draining)
        } else {
            self.failed.clone()
        };
        if let Some(error) = closed {
            let _ = reply.send(Err(UnblockError::Unavailable(error)));
            return;
        }
        let asked = Asked { reply, tried: None };
        self.asked.entry(key.clone()).or_default().push(asked);
    }

    /// Begins a try that was asked for, once nothing else is under way with the run.
    pub(super) fn try_again(&mut self, key: &RunKey) {
        let waits = |asked: &Asked| asked.tried.is_none();
        if self.asked.is_empty() || !self.asked.get(key).is_some_and(|all| all.iter().any(waits)) {
            return;
        }
        let run = || key.clone();
        let answer = match self.runs.get(key).map(Box::as_ref) {
            Some(run) if !run.is_resting() => return,
            Some(open) if open.ended => match self.shared.store.head(key) {
                Ok(head) => UnblockError::of_end(key, head.as_ref()),
                Err(error) => UnblockError::Unavailable(error.into()),
            },
            Some(Run {
                paused: Some(since),
                ..
            }) => UnblockError::Paused {
                run: run(),
                since: *since,
            },
            Some(open) if open.blocked.is_some() => return self.begin_again(key),
            Some(_) => UnblockError::NotBlocked { run: run() },
            None => match self.shared.store.head(key) {
                Ok(Some(Head {
                    paused: Some(since),
                    ..
                })) => UnblockError::Paused { run: run(), since },
                Ok(Some(head)) if !head.status.is_finished() && head.blocked => {
                    return self.wake(key);
                }
                Ok(Some(head)) if !head.status.is_finished() => {
                    UnblockError::NotBlocked { run: run() }
                }
                Ok(head) => UnblockError::of_end(key, head.as_ref()),
                Err(error) => UnblockError::Unavailable(error.into()),
            },
        };
        self.answer_asked(key, &answer);
    }

    /// Begins with a run that this process has in memory, since it tried it in vain. Its attempts go on.
    fn begin_again(&mut self, key: &RunKey) {
        let loaded = match self.shared.store.load(key) {
            Ok(Some(loaded)) => loaded,
            Ok(None) => return self.answer_asked(key, &UnblockError::of_end(key, None)),
            Err(error) => {
                return self.answer_asked(key, &UnblockError::Unavailable(error.into()));
            }
        };
        self.try_begins(key, &loaded.blocked);
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        run.blocked = None;
        run.inputs.take_rows(loaded.queue, loaded.head.arrivals);
        let idle = |open: &Open| open.progress == Progress::Idle;
        let tasks = run.tasks.iter().filter(|(_, open)| idle(open));
        let operations: Vec<u64> = tasks.map(|(operation, _)| *operation).collect();
        for operation in operations {
            self.prepare(key, operation);
        }
        self.advance(key);
    }

    /// Whether somebody has asked for the try that begins with a run as it was loaded.
    pub(super) fn is_asked_for(&mut self, key: &RunKey, loaded: &Loaded) -> bool {
        if !self.asked.contains_key(key) {
            return false;
        }
        let head = &loaded.head;
        if head.status.is_finished() {
            self.answer_asked(key, &UnblockError::of_end(key, Some(head)));
        } else if let Some(since) = head.paused {
            let run = key.clone();
            self.answer_asked(key, &UnblockError::Paused { run, since });
        } else if head.blocked {
            self.try_begins(key, &loaded.blocked);
        } else {
            self.answer_asked(key, &UnblockError::NotBlocked { run: key.clone() });
        }
        self.asked.contains_key(key)
    }

    /// A try begins, of a run with these records: it answers all who have asked by now.
    fn try_begins(&mut self, key: &RunKey, records: &[BlockedRecord]) {
        for asked in self.asked.get_mut(key).into_iter().flatten() {
            asked.tried.get_or_insert_with(|| records.to_vec());
        }
    }

    /// Timers of a run that were not listened to, since this program does not go on with it, ring again.
    pub(super) fn ring_again(&self, key: &RunKey) {
        let now = self.shared.clock.now();
        for &(deadline, operation) in self.runs.get(key).iter().flat_map(|run| &run.timers) {
            let timer = DueTimer {
                deadline,
                run: key.clone(),
                operation,
            };
            let rings = Instant::now().checked_add(deadline.since(now));
            self.shared.timer(TimerMessage::Timer { timer, rings });
        }
    }

    /// Tells those whose try has ended: the run goes on, or `blocked` says why it does not.
    pub(super) fn answer_tried(&mut self, key: &RunKey, blocked: Option<&BlockedNow>) {
        let Some(asked) = self.asked.get_mut(key) else {
            return;
        };
        let all = std::mem::take(asked).into_iter();
        let (tried, waiting): (Vec<_>, Vec<_>) = all.partition(|asked| asked.tried.is_some());
        *asked = waiting;
        if asked.is_empty() {
            self.asked.remove(key);
        }
        for Asked { reply, tried } in tried {
            let _ = reply.send(match blocked {
                None => Ok(tried.unwrap_or_default()),
                Some(blocked) => Err(UnblockError::StillBlocked {
                    run: key.clone(),
                    unfit: blocked.unfit,
                    code: blocked.code.clone(),
                    text: blocked.text.clone(),
                }),
            });
        }
    }

    /// Tells all who asked that there is no try.
    pub(super) fn answer_asked(&mut self, key: &RunKey, answer: &UnblockError) {
        for asked in self.asked.remove(key).into_iter().flatten() {
            let _ = asked.reply.send(Err(answer.clone()));
        }
    }
}

impl UnblockError {
    /// Why a run that has ended, or is not there, is not tried.
    pub(super) fn of_end(run: &RunKey, head: Option<&Head>) -> Self {
        let run = run.clone();
        match head {
            Some(head) => Self::Finished {
                run,
                status: head.status,
            },
            None => Self::NotFound { run },
        }
    }
}
