//! Changes that clients ask of runs (S27).
//!
//! Embedded, an update needs no row in the queue, since nobody but its client waits for it: it waits here, with others
//! of its run in the order in which they came, until the run is idle. Then all that has come for the run is told first,
//! its validator is asked, and what that accepts is a unit of the run's next commit. The answer goes out when that is
//! durable (S4), what refuses it too. A process that ends before has answered nobody, and nothing is stored: whoever
//! asks again under the same key is answered once. (A store that several processes share will need the row.)
//!
//! | the run | the update |
//! |---|---|
//! | is at work, is being opened or replayed | waits |
//! | is idle and in memory | is told, or refused |
//! | is not in memory | brings it there, and waits |
//! | knows its key | gets the answer of the first one, whatever has become of the run since |
//! | is blocked, has ended, is not there | gets an answer that says so |

use std::collections::VecDeque;
use std::sync::Arc;

use perennial::history::{Decision, Observation};
use perennial::machine::Verdict;
use perennial::value::Value;
use perennial::{Blocked, RunKey, Timestamp};
use tokio::sync::oneshot;

use super::advance::{self, Told};
use super::commit;
use super::message::WaitError;
use super::run::{After, BlockedNow, Input, Stage};
use super::shard::Shard;
use crate::client::{Answered, UpdateError};
use crate::error::Unavailable;
use crate::registry::closest;
use crate::store::{Head, KeyKind, Refusal, SendKey, Status, StoreError, UpdateKey, judge_key};

/// A client's wish that a run changes something.
#[derive(Debug)]
pub(crate) struct UpdateRequest {
    pub(crate) run: RunKey,
    /// The name of the update.
    pub(crate) name: String,
    pub(crate) input: Value,
    pub(crate) key: Option<SendKey>,
    pub(crate) reply: oneshot::Sender<Result<Answered, UpdateError<Value>>>,
}

/// What is to be answered to it.
type Answer = Result<Answered, UpdateError<Value>>;

/// An answer that waits until what it depends on is durable.
#[derive(Debug)]
pub(super) struct Decided {
    request: UpdateRequest,
    answer: Box<Answer>,
}

impl UpdateRequest {
    fn answer(self, answer: Answer) {
        let _ = self.reply.send(answer);
    }
}

/// Those that wait for one run.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    requests: VecDeque<UpdateRequest>,
    /// The run was there and had not ended while these waited.
    was_there: bool,
}

/// What is to be done with the first one that waits.
enum Next {
    /// The run is at work.
    Wait,
    /// All that wait are answered alike.
    None(Box<dyn Fn() -> UpdateError<Value>>),
    /// The run is idle.
    Ask,
}

impl Next {
    fn paused(key: &RunKey, since: Timestamp) -> Self {
        let run = key.clone();
        Self::None(Box::new(move || UpdateError::RunPaused {
            run: run.clone(),
            since,
        }))
    }
}

impl Shard {
    pub(super) fn update(&mut self, request: UpdateRequest) {
        let closed = if self.shared.is_draining() {
            Some(Unavailable::Draining)
        } else {
            self.failed.clone()
        };
        match closed {
            Some(error) => request.answer(Err(UpdateError::Unavailable(error))),
            None => {
                let waiting = self.updates.entry(request.run.clone()).or_default();
                waiting.requests.push_back(request);
            }
        }
    }

    /// Goes on with what is asked of the run, where it is idle.
    pub(super) fn go_on_updating(&mut self, key: &RunKey) {
        while self.updates.contains_key(key) {
            match self.next_update(key) {
                Next::Wait => return,
                Next::None(why) => return self.answer_updates(key, &*why),
                Next::Ask => {
                    let Some(request) = self.take_update(key) else {
                        return;
                    };
                    if !self.ask(key, request) {
                        return;
                    }
                }
            }
        }
    }

    fn take_update(&mut self, key: &RunKey) -> Option<UpdateRequest> {
        let waiting = self.updates.get_mut(key)?;
        let request = waiting.requests.pop_front();
        if waiting.requests.is_empty() {
            self.updates.remove(key);
        }
        request
    }

    /// Puts back what was decided of updates by a commit that was not done.
    pub(super) fn ask_again(&mut self, key: &RunKey, after: Vec<After>) {
        for after in after.into_iter().rev() {
            if let After::Updated(decided) = after {
                let waiting = self.updates.entry(key.clone()).or_default();
                waiting.requests.push_front(decided.request);
            }
        }
    }

    /// How the run stands towards what is asked of it. (One that does not take anything for another reason is told
    /// apart here.)
    fn next_update(&mut self, key: &RunKey) -> Next {
        if !self.runs.contains_key(key) {
            // It comes into memory, unless it is somebody else's or has ended.
            match self.shared.store.head(key) {
                Ok(Some(head)) if head.status.is_finished() => {}
                Ok(Some(head)) => match head.paused {
                    Some(since) => return Next::paused(key, since),
                    None => self.wake(key),
                },
                _ => {}
            }
        }
        let Some(run) = self.runs.get_mut(key) else {
            return self.is_out_of_reach(key);
        };
        if run.stage != Stage::Ready || run.in_flight.is_some() {
            return Next::Wait;
        }
        if run.ended {
            return self.is_out_of_reach(key);
        }
        if let Some(waiting) = self.updates.get_mut(key) {
            waiting.was_there = true;
        }
        if let Some(blocked) = run.blocked.clone() {
            let run = key.clone();
            return Next::None(Box::new(move || blocked_error(&run, &blocked)));
        }
        if let Some(since) = run.paused {
            return Next::paused(key, since);
        }
        if run.machine.is_none() {
            self.begin_replay(key);
            return Next::Wait;
        }
        let shared = Arc::clone(&self.shared);
        match advance::feed(&shared, run, Told::All) {
            Err(error) => self.block(key, &error),
            Ok(false) => {
                run.clear_block();
                commit::submit(&shared, key, &mut self.runs, &mut self.outbox);
            }
            Ok(true) => {
                run.clear_block();
                return Next::Ask;
            }
        }
        Next::Wait
    }

    /// What there is to say where the run is not in memory.
    fn is_out_of_reach(&self, key: &RunKey) -> Next {
        let run = key.clone();
        let was_there = self
            .updates
            .get(key)
            .is_some_and(|waiting| waiting.was_there);
        match self.shared.store.head(key) {
            Ok(None) => Next::None(Box::new(move || UpdateError::RunNotFound {
                run: run.clone(),
            })),
            Ok(Some(head)) if head.status.is_finished() => {
                Next::None(Box::new(move || ended_error(&run, &head, was_there)))
            }
            Ok(Some(_)) => match self.shared.store.blocked(key) {
                Ok(records) => match BlockedNow::unfit(&records, &self.shared.artifact) {
                    Some(blocked) => Next::None(Box::new(move || blocked_error(&run, &blocked))),
                    // It is just being opened.
                    None => Next::Wait,
                },
                Err(error) => unavailable(error),
            },
            Err(error) => unavailable(error),
        }
    }

    /// Asks the run, which is idle, and has been told all that has come for it. Says whether it may be asked again at
    /// once.
    fn ask(&mut self, key: &RunKey, request: UpdateRequest) -> bool {
        let now = self.shared.clock.now();
        let known = self.known_update(&request, now);
        let Some(run) = self.runs.get_mut(key) else {
            return false;
        };
        let answer = match known {
            Ok(Some(answer)) => Ok(answer),
            Err(error) => Err(error),
            Ok(None) => match self
                .shared
                .registry
                .check_handled(&run.workflow, &request.name)
            {
                Err(error) => Err(error),
                Ok(()) => {
                    let Some(machine) = &mut run.machine else {
                        return false;
                    };
                    match machine.validate(&request.name, &request.input) {
                        Ok(Verdict::Accepted) => return self.accept(key, request, now),
                        Ok(verdict) => Err(refused(&request, verdict)),
                        Err(error) => {
                            // What the validator has left is forgotten: nothing of it is in the history.
                            tracing::error!(run = %key, update = %request.name, "a validator did not come back: {error}");
                            run.machine = None;
                            Err(UpdateError::Panicked {
                                run: key.clone(),
                                name: request.name.clone(),
                                text: said(&error),
                            })
                        }
                    }
                }
            },
        };
        let answer = Box::new(answer);
        if run.has_changes() {
            run.after.push(After::Updated(Decided { request, answer }));
            commit::submit(&self.shared, key, &mut self.runs, &mut self.outbox);
            return false;
        }
        request.answer(*answer);
        true
    }

    /// The run takes it, as a unit of its next commit.
    fn accept(&mut self, key: &RunKey, request: UpdateRequest, now: Timestamp) -> bool {
        let shared = Arc::clone(&self.shared);
        let Some(run) = self.runs.get_mut(key) else {
            return false;
        };
        let Some(mut machine) = run.machine.take() else {
            return false;
        };
        let input = Input::new(Observation::UpdateAccepted {
            name: request.name.clone(),
            input: request.input.clone(),
            key: request.key.as_ref().map(|key| key.key.clone()),
        });
        let at = now.max(run.stamp);
        let step = match advance::observe(&shared, run, &mut machine, &input, at, now) {
            Ok(step) => step,
            Err(error) => {
                // It is answered as one that finds a blocked run, when that is durable.
                let waiting = self.updates.entry(key.clone()).or_default();
                waiting.was_there = true;
                waiting.requests.push_front(request);
                self.block(key, &error);
                return false;
            }
        };
        let event = step.unit.number;
        let value = match step.unit.decisions.first() {
            Some(Decision::UpdateAnswered { value, .. }) => value.clone(),
            _ => Value::null(),
        };
        if let Some(key) = &request.key {
            run.changes.update_keys.push(UpdateKey {
                key: key.clone(),
                name: request.name.clone(),
                event,
            });
        }
        advance::take_in(&shared, run, machine, &input, step, now);
        let answer = Box::new(Ok(Answered {
            value,
            event,
            at,
            duplicate: false,
        }));
        run.after.push(After::Updated(Decided { request, answer }));
        commit::submit(&shared, key, &mut self.runs, &mut self.outbox);
        false
    }

    /// The answer that the run has given to the same update before (S27).
    fn known_update(
        &self,
        request: &UpdateRequest,
        now: Timestamp,
    ) -> Result<Option<Answered>, UpdateError<Value>> {
        let (Some(key), run) = (&request.key, &request.run) else {
            return Ok(None);
        };
        let store = &*self.shared.store;
        let unavailable = |error: StoreError| UpdateError::Unavailable(error.into());
        let Some(head) = store.head(run).map_err(unavailable)? else {
            return Ok(None);
        };
        let known = store
            .key(run, KeyKind::Update, &key.key)
            .map_err(unavailable)?;
        let known =
            judge_key(run, &head, known.as_ref(), key, now).map_err(|error| match error {
                StoreError::Refused(refusal) => UpdateError::of_key(refusal),
                error => unavailable(error),
            })?;
        let Some(event) = known.and_then(|known| known.event) else {
            return Ok(None);
        };
        let units = store
            .history(run, head.generation, event, 1)
            .map_err(unavailable)?;
        let unit = units.first().filter(|unit| unit.number == event);
        let answered = unit.and_then(|unit| match unit.decisions.first() {
            Some(Decision::UpdateAnswered { value, .. }) => Some(Answered {
                value: value.clone(),
                event,
                at: unit.at,
                duplicate: true,
            }),
            _ => None,
        });
        match answered {
            Some(answered) => Ok(Some(answered)),
            None => Err(unavailable(StoreError::Gap {
                run: run.clone(),
                expected: event,
                found: None,
            })),
        }
    }

    /// A commit is durable that something was decided by.
    pub(super) fn updated(&self, decided: Decided) {
        let Decided { request, answer } = decided;
        request.answer(*answer);
    }

    /// Answers all that wait for the run: those that it knows with their first answers, the others alike.
    fn answer_updates(&mut self, key: &RunKey, why: &dyn Fn() -> UpdateError<Value>) {
        let now = self.shared.clock.now();
        let waiting = self.updates.remove(key).unwrap_or_default();
        for request in waiting.requests {
            let answer = match self.known_update(&request, now) {
                Ok(Some(answered)) => Ok(answered),
                Err(error) => Err(error),
                Ok(None) => Err(why()),
            };
            request.answer(answer);
        }
    }

    /// Tells all that wait for the run, in this process, that nothing comes of it.
    pub(super) fn fail_updates_of(&mut self, key: &RunKey, error: &Unavailable) {
        for request in self.updates.remove(key).unwrap_or_default().requests {
            request.answer(Err(UpdateError::Unavailable(error.clone())));
        }
    }

    /// The same of all runs.
    pub(super) fn fail_updates(&mut self, error: &Unavailable) {
        let runs: Vec<RunKey> = self.updates.keys().cloned().collect();
        for run in runs {
            self.fail_updates_of(&run, error);
        }
    }
}

/// Tells those whom the commit under way would have answered that it is not known what became of it.
pub(super) fn lose(after: &mut Vec<After>, error: &Unavailable) {
    for after in std::mem::take(after) {
        if let After::Updated(Decided { request, .. }) = after {
            let error = UpdateError::lost(&request.run, error.clone());
            request.answer(Err(error));
        }
    }
}

fn unavailable(error: StoreError) -> Next {
    let error = Unavailable::from(error);
    Next::None(Box::new(move || UpdateError::Unavailable(error.clone())))
}

fn blocked_error(run: &RunKey, blocked: &BlockedNow) -> UpdateError<Value> {
    match blocked.answer() {
        WaitError::Blocked { code, text } => UpdateError::RunBlocked {
            run: run.clone(),
            code,
            text,
        },
        _ => UpdateError::RunNotFound { run: run.clone() },
    }
}

fn ended_error(run: &RunKey, head: &Head, was_there: bool) -> UpdateError<Value> {
    let (run, status) = (run.clone(), head.status);
    let finished = head.finished.unwrap_or_default();
    let migrated_to = head
        .migrated_to
        .clone()
        .filter(|_| status == Status::Migrated);
    if was_there {
        UpdateError::RunEnded {
            run,
            status,
            finished,
            migrated_to,
        }
    } else {
        UpdateError::RunFinished {
            run,
            status,
            finished,
            migrated_to,
        }
    }
}

/// What a validator said that did not come back.
fn said(error: &Blocked) -> String {
    match error {
        Blocked::Panicked(panicked) => panicked.message.clone(),
        other => other.to_string(),
    }
}

/// Why the run does not take it.
fn refused(request: &UpdateRequest, verdict: Verdict) -> UpdateError<Value> {
    let (run, name) = (request.run.clone(), request.name.clone());
    match verdict {
        Verdict::Refused(why) => UpdateError::Refused(why),
        Verdict::Unstorable(error) => UpdateError::Unstorable { name, error },
        Verdict::Undecodable { expected, error } => UpdateError::WrongType {
            run,
            name,
            expected: expected.to_owned(),
            error,
        },
        Verdict::NotHandled { handled } => UpdateError::NoHandler {
            run,
            closest: closest(&name, handled.iter().copied()),
            name,
            handled: handled.into_iter().map(str::to_owned).collect(),
        },
        other => UpdateError::Unavailable(Unavailable::Broken {
            reason: format!("a verdict of newer software: {other:?}"),
        }),
    }
}

impl UpdateError<Value> {
    /// Why a key stands against it.
    fn of_key(refusal: Refusal) -> Self {
        match refusal {
            Refusal::KeyTooOld { run, key, at } => Self::KeyTooOld { run, key, at },
            Refusal::KeyConflict(conflict) => Self::IdempotencyConflict {
                run: conflict.run,
                key: conflict.key,
                name: conflict.name,
                known: conflict.known.into(),
                given: conflict.given.into(),
            },
            other => Self::Unavailable(StoreError::Refused(other).into()),
        }
    }
}
