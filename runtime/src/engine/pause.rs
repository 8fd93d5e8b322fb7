//! Pausing runs, and letting them go on (M45).
//!
//! | the run | a wish to pause it |
//! |---|---|
//! | is being made, or opened | waits for that |
//! | has a commit under way | stands with it: from now on the run is told nothing, and the next commit says so |
//! | is being replayed | ends that; the replay begins anew when the run goes on |
//! | is not in memory | brings it there, under a fence of this process |
//!
//! What arrives for a paused run is in its queue, and is read from there when it goes on; its activities go on, and what
//! they come to waits there too.

use perennial::{RunKey, Timestamp};
use tokio::sync::oneshot;

use super::run::{After, Run, Stage};
use super::shard::Shard;
use crate::client::PauseError;
use crate::error::{Unavailable, UnblockError};
use crate::store::{Head, PauseChange};

/// What somebody wants of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PauseWish {
    Pause,
    Resume,
}

/// What became of that, which is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PauseReply {
    /// Since when the run is paused, or was; `None`: it was not.
    pub(crate) since: Option<Timestamp>,
    /// It stood so before.
    pub(crate) already: bool,
}

/// A wish that waits until it can be written.
#[derive(Debug)]
pub(crate) struct PauseRequest {
    pub(crate) run: RunKey,
    pub(crate) wish: PauseWish,
    pub(crate) reply: oneshot::Sender<Result<PauseReply, PauseError>>,
}

impl PauseError {
    /// Why nothing becomes of a run that has ended, or is not there.
    pub(crate) fn of_end(run: &RunKey, head: Option<&Head>) -> Self {
        let run = run.clone();
        match head {
            Some(head) => Self::Finished {
                run,
                status: head.status,
                migrated_to: head.migrated_to.clone(),
            },
            None => Self::NotFound { run },
        }
    }
}

impl Shard {
    pub(super) fn pause(&mut self, request: PauseRequest) {
        let closed = if self.shared.is_draining() {
            Some(Unavailable::Draining)
        } else {
            self.failed.clone()
        };
        if let Some(error) = closed {
            let _ = request.reply.send(Err(PauseError::Unavailable(error)));
            return;
        }
        let waiting = self.pauses.entry(request.run.clone()).or_default();
        waiting.push_back(request);
    }

    /// Goes on with the wishes of which the first can be written, or needs no write.
    pub(super) fn go_on_pausing(&mut self, key: &RunKey) {
        while let Some(wish) = self.next_wish(key) {
            let Some(run) = self.runs.get_mut(key) else {
                match self.shared.store.head(key) {
                    Ok(Some(head)) if !head.status.is_finished() => {
                        // Nothing else is to be brought for it.
                        match (wish, head.paused) {
                            (PauseWish::Pause, Some(_)) => {
                                self.answer_pause(key, head.paused, true)
                            }
                            (PauseWish::Resume, None) => self.answer_pause(key, None, true),
                            _ => {
                                self.wake(key);
                                if !self.runs.contains_key(key) {
                                    return;
                                }
                            }
                        }
                    }
                    Ok(head) => {
                        return self.fail_pauses(key, &PauseError::of_end(key, head.as_ref()));
                    }
                    Err(error) => {
                        let error = PauseError::Unavailable(error.into());
                        return self.fail_pauses(key, &error);
                    }
                }
                continue;
            };
            if run.stage == Stage::Opening || run.is_changing_pause() {
                return;
            }
            if run.ended {
                if run.in_flight.is_none() {
                    self.refuse_pauses_of_ended(key);
                }
                return;
            }
            match (wish, run.paused) {
                (PauseWish::Pause, Some(_)) => {
                    let since = run.paused;
                    self.answer_pause(key, since, true);
                }
                (PauseWish::Resume, None) => self.answer_pause(key, None, true),
                (PauseWish::Pause, None) => {
                    let at = self.shared.clock.now();
                    self.stop_telling(key, at);
                    return self.advance(key);
                }
                (PauseWish::Resume, Some(_)) => {
                    run.changes.pause = Some(PauseChange::Resume);
                    run.after.push(After::Resumed);
                    return self.advance(key);
                }
            }
        }
    }

    fn next_wish(&self, key: &RunKey) -> Option<PauseWish> {
        if self.pauses.is_empty() {
            return None;
        }
        self.pauses.get(key)?.front().map(|request| request.wish)
    }

    /// The run is told nothing from now on; the next commit says so.
    fn stop_telling(&mut self, key: &RunKey, at: Timestamp) {
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        run.paused = Some(at);
        run.changes.pause = Some(PauseChange::Pause { at });
        run.after.push(After::Paused);
        if matches!(run.stage, Stage::Replaying { .. }) {
            run.stage = Stage::Ready;
            run.machine = None;
            // A try that somebody has asked for ends with that.
            let paused = UnblockError::Paused {
                run: key.clone(),
                since: at,
            };
            self.answer_asked(key, &paused);
        }
    }

    /// That the run is paused is durable.
    pub(super) fn has_paused(&mut self, key: &RunKey) {
        let since = self.runs.get(key).and_then(|run| run.paused);
        self.answer_pause(key, since, false);
    }

    /// That the run goes on is durable. What its queue has by now it is told, in the order in which that came.
    pub(super) fn has_resumed(&mut self, key: &RunKey) {
        let loaded = match self.shared.store.load(key) {
            Ok(Some(loaded)) => loaded,
            Ok(None) => return,
            Err(error) => return self.unreadable(key, error),
        };
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        let since = run.paused.take();
        run.stamp = run.stamp.max(loaded.head.stamp);
        run.inputs.take_rows(loaded.queue, loaded.head.arrivals);
        // Those that have rung meanwhile were not listened to.
        self.ring_again(key);
        self.answer_pause(key, since, false);
    }

    /// Answers the first wish.
    fn answer_pause(&mut self, key: &RunKey, since: Option<Timestamp>, already: bool) {
        let Some(waiting) = self.pauses.get_mut(key) else {
            return;
        };
        if let Some(first) = waiting.pop_front() {
            let _ = first.reply.send(Ok(PauseReply { since, already }));
        }
        if waiting.is_empty() {
            self.pauses.remove(key);
        }
    }

    fn refuse_pauses_of_ended(&mut self, key: &RunKey) {
        let error = match self.shared.store.head(key) {
            Ok(head) => PauseError::of_end(key, head.as_ref()),
            Err(error) => PauseError::Unavailable(error.into()),
        };
        self.fail_pauses(key, &error);
    }

    /// Tells all whose wishes were not written.
    pub(super) fn fail_pauses(&mut self, key: &RunKey, error: &PauseError) {
        for request in self.pauses.remove(key).into_iter().flatten() {
            let _ = request.reply.send(Err(error.clone()));
        }
    }
}

impl Run {
    /// Whether the store is to hear, or to answer, that the run is paused or goes on.
    fn is_changing_pause(&self) -> bool {
        let mut after = self.in_flight.iter().flatten().chain(&self.after);
        self.changes.pause.is_some()
            || after.any(|after| matches!(after, After::Paused | After::Resumed))
    }
}
