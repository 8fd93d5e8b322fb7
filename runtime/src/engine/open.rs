//! How a run that is not in memory comes into it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use perennial::history::{Decision, Observation, Unit};
use perennial::machine::{Entropy, Machine};
use perennial::wire::RecordError;
use perennial::{Blocked, Incompatible, IncompatibleKind, RunKey, Timestamp};
use tracing::subscriber::NoSubscriber;

use super::inputs::IDLE_SIGNALS;
use super::message::{Ended, Message, WaitError};
use super::run::{BlockedNow, Open, Progress, Run, Stage};
use super::shard::Shard;
use crate::client::PauseError;
use crate::error::{Unavailable, UnblockError};
use crate::store::{Head, Loaded, Status, Store, StoreError};

/// How many units are replayed between other runs' turns at first, and at most.
const FIRST_SLICE: usize = 100;
const MOST_SLICE: usize = 1_000;
/// How long a slice should take: units may be large.
const SLICE_TIME: Duration = Duration::from_millis(10);

/// So many units are looked at that follow one which does not fit.
const AHEAD: usize = 20;

/// How a finished run ended, for who waits for it.
pub(super) fn answer_of(store: &dyn Store, run: &RunKey, head: &Head) -> Result<Ended, WaitError> {
    // The head knows where it went, purged or not.
    if let Some(to) = head.migrated_to.clone() {
        return Err(WaitError::Migrated { to });
    }
    let purged = |head: &Head| {
        head.purged.map(|purged| WaitError::Purged {
            status: head.status,
            finished: head.finished.unwrap_or_default(),
            at: purged.at,
        })
    };
    if let Some(purged) = purged(head) {
        return Err(purged);
    }
    outcome(store, run, head).map_err(|error| {
        // It may have been purged between the two looks.
        let now = store.head(run).ok().flatten();
        now.as_ref()
            .and_then(purged)
            .unwrap_or_else(|| WaitError::Unavailable(error.into()))
    })
}

fn outcome(store: &dyn Store, run: &RunKey, head: &Head) -> Result<Ended, StoreError> {
    let units = store.history(run, head.generation, head.sequence, 1)?;
    let last = units
        .into_iter()
        .next_back()
        .and_then(|unit| unit.decisions.into_iter().next_back());
    match last {
        Some(Decision::Completed { value, .. }) => Ok(Ended {
            status: Status::Completed,
            value,
        }),
        Some(Decision::Failed { error, .. }) => Ok(Ended {
            status: Status::Failed,
            value: error,
        }),
        _ => Err(StoreError::Gap {
            run: run.clone(),
            expected: head.sequence,
            found: None,
        }),
    }
}

/// The number of a generation's first operation.
fn first_operation(store: &dyn Store, run: &RunKey, head: &Head) -> Result<u64, StoreError> {
    if head.sequence == 0 {
        // Its first event waits in the queue.
        return Ok(head.next_operation);
    }
    if head.generation == 1 {
        return Ok(1);
    }
    let first = store
        .history(run, head.generation, 1, 1)?
        .into_iter()
        .next();
    Ok(match first.map(|unit| unit.observation) {
        Some(Observation::Started(started)) => started.first_operation,
        _ => 1,
    })
}

/// Whether a run that was loaded has something to do at that time.
fn has_to_do(loaded: &Loaded, now: Timestamp) -> bool {
    let Loaded {
        head,
        tasks,
        timers,
        queue,
        ..
    } = loaded;
    if head.paused.is_some() {
        return !tasks.is_empty();
    }
    head.blocked
        || !tasks.is_empty()
        || queue
            .iter()
            .any(|row| head.inbox.awaited.wakes(&row.observation))
        || timers.iter().any(|(_, deadline)| *deadline <= now)
        || head.inbox.signals >= IDLE_SIGNALS
}

/// Whether nothing can happen to a run that was loaded, since it is paused and none of its activities is open.
fn is_at_rest(loaded: &Loaded) -> bool {
    loaded.head.paused.is_some() && loaded.tasks.is_empty()
}

/// The program that has begun the run; empty where that cannot be told.
fn began_by(store: &dyn Store, run: &Run) -> String {
    // A history that cannot be read is the error of whoever is to replay it.
    let first = store.history(&run.key, run.generation, 1, 1);
    let first = first.ok().and_then(|units| units.into_iter().next());
    let waiting = || run.inputs.first().cloned();
    match first.map(|unit| unit.observation).or_else(waiting) {
        Some(Observation::Started(started)) => started.artifact,
        _ => String::new(),
    }
}

/// Where draws come from.
pub(crate) fn entropy() -> Entropy {
    Box::new(|| match getrandom::u64() {
        Ok(number) => number,
        Err(error) => panic!("the system has no random numbers to give: {error}"),
    })
}

impl Shard {
    /// Brings the run into memory, if it is not there, and lets it do what it has to do.
    pub(super) fn wake(&mut self, key: &RunKey) {
        self.bring(key, |_| true);
    }

    /// As [`wake`](Self::wake), but for a run that has nothing to do: one that was told what it does not wait for
    /// stays where it is (M22).
    pub(super) fn wake_if_needed(&mut self, key: &RunKey) {
        let now = self.shared.clock.now();
        self.bring(key, |loaded| has_to_do(loaded, now));
    }

    fn bring(&mut self, key: &RunKey, wanted: impl Fn(&Loaded) -> bool) {
        if self.failed.is_some() {
            return;
        }
        if self.runs.get_mut(key).is_some() {
            return self.advance(key);
        }
        match self.shared.store.load(key) {
            Err(error) => self.unreadable(key, error),
            Ok(None) => {
                self.answer(key, &Err(WaitError::NotFound));
                self.answer_asked(key, &UnblockError::of_end(key, None));
                self.fail_pauses(key, &PauseError::of_end(key, None));
                self.answer_starts(key);
            }
            Ok(Some(Loaded { head, tasks, .. }))
                if head.status.is_finished() && tasks.is_empty() =>
            {
                self.answer_end(key, &head);
                self.answer_asked(key, &UnblockError::of_end(key, Some(&head)));
                self.fail_pauses(key, &PauseError::of_end(key, Some(&head)));
                self.answer_starts(key);
            }
            // A timer of it is due, say: that is for a program that fits.
            Ok(Some(loaded)) if self.is_left_to_others(key, &loaded) => {}
            Ok(Some(loaded))
                if !self.is_asked_about(key) && (is_at_rest(&loaded) || !wanted(&loaded)) => {}
            Ok(Some(loaded)) => {
                self.runs
                    .insert(key.clone(), Run::opening(key.clone()).into());
                if loaded.head.owner == self.shared.owner {
                    return self.opened(key, loaded);
                }
                let (shared, run) = (Arc::clone(&self.shared), key.clone());
                let ack = Box::new(move |result| {
                    shared.tell(
                        &run,
                        Message::Claimed {
                            run: run.clone(),
                            result,
                        },
                    );
                });
                self.shared.store.claim(key.clone(), self.shared.owner, ack);
            }
        }
    }

    /// Whether somebody waits until the run is in memory.
    fn is_asked_about(&self, key: &RunKey) -> bool {
        self.asked.contains_key(key)
            || self.pauses.contains_key(key)
            || self.migrations.contains_key(key)
            || self.starts.contains_key(key)
            || self.updates.contains_key(key)
    }

    /// Whether this program can never go on with the run, so that it does not claim it (S16). Those who wait
    /// for it are told.
    fn is_left_to_others(&mut self, key: &RunKey, loaded: &Loaded) -> bool {
        let Loaded { head, blocked, .. } = loaded;
        if head.owner == self.shared.owner
            || head.status.is_finished()
            || self.asked.contains_key(key)
            || self.pauses.contains_key(key)
            || self.migrations.contains_key(key)
        {
            return false;
        }
        let Some(blocked) = BlockedNow::unfit(blocked, &self.shared.artifact) else {
            return false;
        };
        self.answer(key, &Err(blocked.answer()));
        self.answer_starts(key);
        true
    }

    pub(super) fn claimed(&mut self, key: &RunKey, result: Result<Head, StoreError>) {
        let loaded = match result {
            Ok(_) => self.shared.store.load(key),
            Err(error @ (StoreError::Unknown { .. } | StoreError::Closed { .. })) => {
                return self.fail(error.into());
            }
            Err(error) => Err(error),
        };
        match loaded {
            Ok(Some(loaded)) => self.opened(key, loaded),
            Ok(None) | Err(StoreError::Refused(_)) => {
                self.runs.remove(key);
                self.answer(key, &Err(WaitError::NotFound));
                self.answer_asked(key, &UnblockError::of_end(key, None));
                self.fail_pauses(key, &PauseError::of_end(key, None));
                self.answer_starts(key);
            }
            Err(error) => self.unreadable(key, error),
        }
    }

    pub(super) fn unreadable(&mut self, key: &RunKey, error: StoreError) {
        tracing::error!(run = %key, "the run cannot be read: {error}");
        let run = self.runs.remove(key);
        let error = Unavailable::Store(error);
        if let Some(mut run) = run {
            run.answer_start(&Err(error.clone()));
        }
        for request in self.starts.remove(key).into_iter().flatten() {
            let _ = request.reply.send(Err(error.clone()));
        }
        self.answer_asked(key, &UnblockError::Unavailable(error.clone()));
        self.fail_pauses(key, &PauseError::Unavailable(error.clone()));
        self.fail_updates_of(key, &error);
        self.answer(key, &Err(WaitError::Unavailable(error)));
    }

    /// Tells all who wait how the run has ended.
    fn answer_end(&mut self, key: &RunKey, head: &Head) {
        // A timer that was dropped wakes its run too: mostly nobody waits.
        if self.waiters.contains_key(key) || self.replies.contains_key(key) {
            let answer = answer_of(&*self.shared.store, key, head);
            self.answer(key, &answer);
        }
    }

    fn opened(&mut self, key: &RunKey, loaded: Loaded) {
        let first_operation = match first_operation(&*self.shared.store, key, &loaded.head) {
            Ok(number) => number,
            Err(error) => return self.unreadable(key, error),
        };
        if loaded.head.status.is_finished() {
            self.answer_end(key, &loaded.head);
        }
        let asked = self.is_asked_for(key, &loaded);
        let unfit = BlockedNow::unfit(&loaded.blocked, &self.shared.artifact).filter(|_| !asked);
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        let Loaded {
            head,
            tasks,
            timers,
            queue,
            ..
        } = loaded;
        run.stage = Stage::Ready;
        run.workflow = head.workflow;
        run.generation = head.generation;
        run.first_operation = first_operation;
        run.sequence = head.sequence;
        run.fence = head.fence;
        run.stamp = head.stamp;
        run.ended = head.status.is_finished();
        run.finished = head.finished.unwrap_or_default();
        run.was_blocked = head.blocked && !run.ended;
        run.shows = !head.views.is_empty();
        run.paused = head.paused;
        run.timers = timers
            .into_iter()
            .map(|(operation, deadline)| (deadline, operation))
            .collect();
        run.awaited = head.inbox.awaited;
        if !run.ended {
            run.inputs.take_rows(queue, head.arrivals);
        }
        let operations: Vec<u64> = tasks.iter().map(|task| task.operation).collect();
        for task in tasks {
            run.tasks
                .insert(task.operation, Open::new(task, None, Progress::Idle).into());
        }
        run.blocked = unfit;
        if let Some(blocked) = run.blocked.as_ref().map(BlockedNow::answer) {
            self.answer(key, &Err(blocked));
        }
        if asked {
            self.ring_again(key);
        }
        for operation in operations {
            self.recover(key, operation);
            self.prepare(key, operation);
        }
        self.answer_starts(key);
        // Before it is told anything: it may be what its next step does that somebody wants to keep it from.
        self.go_on_pausing(key);
        self.advance(key);
    }

    /// Gives the run a machine, which is then fed the history slice by slice.
    pub(super) fn begin_replay(&mut self, key: &RunKey) {
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        let Some(definition) = self.shared.registry.workflows.get(run.workflow.as_str()) else {
            let (registry, artifact) = (&self.shared.registry, &self.shared.artifact);
            let began_by = began_by(&*self.shared.store, run);
            let error = registry.no_workflow(key, &run.workflow, &began_by, artifact);
            return self.block(key, &error);
        };
        if run.inputs.has_left() {
            match self.shared.store.load(key) {
                Ok(Some(Loaded { head, queue, .. })) => run.inputs.take_rows(queue, head.arrivals),
                Ok(None) => {}
                Err(error) => return self.unreadable(key, error),
            }
        }
        tracing::debug!(run = %key, workflow = %run.workflow, "the run is replayed");
        run.machine = Some(Machine::new(*definition, &self.shared.artifact, entropy()).into());
        run.stage = Stage::Replaying {
            from: 1,
            slice: FIRST_SLICE,
        };
        self.replay(key);
    }

    /// Replays a slice of the history.
    pub(super) fn replay(&mut self, key: &RunKey) {
        let Some(run) = self.runs.get_mut(key) else {
            return;
        };
        let (Stage::Replaying { from, slice }, Some(machine)) = (run.stage, &mut run.machine)
        else {
            return;
        };
        let began = Instant::now();
        if from > run.sequence {
            run.stage = Stage::Ready;
            if let Err(error) = self.publish_again(key) {
                return self.unreadable(key, error);
            }
            return self.advance(key);
        }
        let units = match self.shared.store.history(key, run.generation, from, slice) {
            Ok(units) => units,
            Err(error) => {
                let Some(error) = unreadable_history(key, &run.workflow, run.sequence, &error)
                else {
                    return self.fail(error.into());
                };
                return self.block(key, &error);
            }
        };
        let (mut next, mut told) = (from, run.told);
        let mut units = units.into_iter();
        // What the workflow's code logs was logged when it happened.
        let result = tracing::subscriber::with_default(NoSubscriber::default(), || {
            units.try_for_each(|unit: Unit| {
                (next, told) = (unit.last() + 1, unit.at);
                machine.replay(unit)
            })
        });
        match result {
            Ok(()) if next > from => {
                run.told = told;
                let slice = if began.elapsed() < SLICE_TIME {
                    (slice * 2).min(MOST_SLICE)
                } else {
                    (slice / 2).max(1)
                };
                run.stage = Stage::Replaying { from: next, slice };
                self.shared.tell(key, Message::Replay { run: key.clone() });
            }
            Ok(()) => {
                let gap = StoreError::Gap {
                    run: key.clone(),
                    expected: from,
                    found: None,
                };
                if let Some(error) = unreadable_history(key, &run.workflow, run.sequence, &gap) {
                    self.block(key, &error);
                }
            }
            Err(error) => {
                let after = Following {
                    generation: run.generation,
                    next,
                    units: units.take(AHEAD).collect(),
                };
                let error = after.tell(&*self.shared.store, key, error);
                self.block(key, &error);
            }
        }
    }
}

/// What follows a unit that does not fit, as far as it was read.
struct Following {
    generation: u64,
    /// The number of the event after that unit.
    next: u64,
    units: Vec<Unit>,
}

impl Following {
    /// The error after a look at what follows: whether something was inserted, removed or moved shows there.
    fn tell(mut self, store: &dyn Store, key: &RunKey, error: Blocked) -> Blocked {
        let from = self.units.last().map_or(self.next, |unit| unit.last() + 1);
        let missing = AHEAD - self.units.len();
        if missing > 0 && matches!(error, Blocked::Incompatible(_)) {
            // What cannot be read is not looked at: the error stands without it.
            let more = store.history(key, self.generation, from, missing);
            self.units.extend(more.unwrap_or_default());
        }
        error.look_ahead(&self.units)
    }
}

/// A history that cannot be read blocks its run and no other; `None` when the store itself failed.
pub(crate) fn unreadable_history(
    key: &RunKey,
    workflow: &str,
    sequence: u64,
    error: &StoreError,
) -> Option<Blocked> {
    let (kind, event, detail) = match error {
        StoreError::Damaged { place, problem } => {
            let kind = match problem {
                RecordError::Newer { .. } => IncompatibleKind::Newer,
                RecordError::UnknownKind { .. } => IncompatibleKind::UnknownEvent,
                _ => IncompatibleKind::Damaged,
            };
            (kind, sequence, format!("{place}: {problem}"))
        }
        StoreError::Gap { expected, .. } => (IncompatibleKind::Gap, *expected, error.to_string()),
        _ => return None,
    };
    let error = Incompatible::found(kind, key, workflow, event, detail);
    Some(Blocked::Incompatible(Box::new(error)))
}
