//! Decisions: live they are made, in replay they are compared (S9).
//!
//! | the history has | the code asks for | then |
//! |---|---|---|
//! | (live) | anything | it is made |
//! | the same kind, name and input | it | it goes on with what was recorded |
//! | the same kind and name | it with another input | changed input |
//! | something else | anything | changed |
//! | nothing more in this unit | anything | inserted |
//! | something | to wait, or to end | removed, or left over |

use std::cell::RefMut;
use std::panic::Location;

use super::Entropy;
use super::core::Core;
use super::handle::Until;
use super::state::{Kind, State};
use super::step::{LogLine, Offered, Scheduled};
use crate::ActivityOptions;
use crate::history::{Channel, Decision, RecordSource};
use crate::incompatible::{IncompatibleKind, Side};
use crate::prose::shorten;
use crate::value::{EncodeError, Value};

/// The longest line of a log, in bytes; what is longer is cut.
const MAX_LOG_LINE: usize = 16 << 10;

/// Code of the user's that may not decide anything by the `Cx`.
#[derive(Debug)]
pub(super) struct Apart {
    pub(super) what: &'static str,
    pub(super) why: &'static str,
    pub(super) help: &'static str,
}

const RECORD: Apart = not_replayed("the closure of `cx.record`");
const LOG: Apart = not_replayed("a text for `cx.log`");

const fn not_replayed(what: &'static str) -> Apart {
    Apart {
        what,
        why: "which is not run again in replay",
        help: "make the value first, and then hand it over",
    }
}

/// While it lives, code of the user's runs that may not use the `Cx`.
pub(super) struct Inside<'a>(&'a Core, Option<&'static Apart>);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.state.borrow_mut().inside = self.1;
    }
}

impl Core {
    /// The state, where the workflow is being polled.
    pub(super) fn deciding(&self) -> Option<RefMut<'_, State>> {
        self.is_polling().then(|| self.state.borrow_mut())
    }

    pub(super) fn inside(&self, what: &'static Apart) -> Inside<'_> {
        let outer = self.state.borrow_mut().inside.replace(what);
        Inside(self, outer)
    }

    pub(super) fn schedule_activity(
        &self,
        name: &'static str,
        input: Value,
        options: ActivityOptions,
    ) -> Option<u64> {
        let state = &mut *self.deciding()?;
        state.may_open();
        if state.go_on().is_none() {
            state.note(Side {
                value: Some(input),
                site: state.site(),
                ..Side::activity(name)
            });
            return None;
        }
        let operation = state.next_operation;
        match state.next_expected() {
            None => {
                let site = state.site();
                state.made.scheduled.push(Scheduled {
                    operation,
                    decision: state.made.decisions.len(),
                    options,
                });
                state.push(Decision::ActivityScheduled {
                    operation,
                    name: name.into(),
                    input,
                    site,
                });
            }
            Some(Some(Decision::ActivityScheduled {
                operation: o,
                name: n,
                input: i,
                ..
            })) if o == operation && n == name && state.same_input(&i, &input) => {
                if state.told {
                    let decision = state.commands;
                    state.made.scheduled.push(Scheduled {
                        operation,
                        decision,
                        options,
                    });
                }
            }
            Some(recorded) => {
                let kind = match &recorded {
                    Some(Decision::ActivityScheduled {
                        operation: o,
                        name: n,
                        ..
                    }) if *o == operation && n == name => IncompatibleKind::ChangedInput,
                    _ => IncompatibleKind::Changed,
                };
                let asked = Side {
                    operation: Some(operation),
                    value: Some(input),
                    site: state.site(),
                    ..Side::activity(name)
                };
                return state.refuse(kind, recorded.as_ref(), asked);
            }
        }
        Some(state.open(Kind::Activity(name)))
    }

    /// An activity whose input is too large to be scheduled: nothing is decided, since each replay finds
    /// the same. `None`: code that goes on like this is stopped.
    pub(super) fn refuse_activity(&self) -> Option<()> {
        self.deciding()?
            .step("activities with too large an input after one event")
    }

    /// The same for a stub.
    pub(super) fn refuse_stub(&self) -> Option<()> {
        self.deciding()?
            .step("stubs with too large an input after one event")
    }

    /// A sleep that is too long, as [`refuse_activity`](Self::refuse_activity).
    pub(super) fn refuse_timer(&self) -> Option<()> {
        self.deciding()?
            .step("sleeps that are too long after one event")
    }

    pub(super) fn start_timer(&self, until: Until) -> Option<u64> {
        let state = &mut *self.deciding()?;
        state.may_open();
        if state.go_on().is_none() {
            state.note(Side {
                site: state.site(),
                ..Side::sleep()
            });
            return None;
        }
        let operation = state.next_operation;
        let asked = match until {
            Until::After(duration) => state.clock + duration,
            Until::At(time) => time,
        };
        let deadline = match state.next_expected() {
            None => {
                let site = state.site();
                state.push(Decision::TimerStarted {
                    operation,
                    deadline: asked,
                    site,
                });
                asked
            }
            // The recorded deadline holds, whatever length the code asks for now (S7).
            Some(Some(Decision::TimerStarted {
                operation: o,
                deadline,
                ..
            })) if o == operation => {
                if state.told {
                    let site = state.site();
                    state.made.decisions.push(Decision::TimerStarted {
                        operation,
                        deadline: asked,
                        site,
                    });
                }
                deadline
            }
            Some(recorded) => {
                let asked = Side {
                    operation: Some(operation),
                    site: state.site(),
                    ..Side::sleep()
                };
                return state.refuse(IncompatibleKind::Changed, recorded.as_ref(), asked);
            }
        };
        Some(state.open(Kind::Timer(deadline)))
    }

    /// A value that is made once and then recorded. `make` runs only when there is no recorded one.
    pub(crate) fn record(
        &self,
        source: RecordSource,
        place: &'static Location<'static>,
        make: impl FnOnce(&mut Entropy) -> Result<Value, EncodeError>,
    ) -> Option<Value> {
        {
            let state = &mut *self.deciding()?;
            state.may_decide();
            let asked = |state: &State| Side {
                site: Some(state.location(place)),
                ..Side::draw(&source)
            };
            if state.go_on().is_none() {
                state.note(asked(state));
                state.made_up();
                return None;
            }
            match state.next_expected() {
                None => {}
                Some(Some(Decision::Recorded {
                    source: s, value, ..
                })) if s == source => {
                    state.commands += 1;
                    state.drew(source, place);
                    return Some(value);
                }
                Some(recorded) => {
                    let asked = asked(state);
                    state.refuse::<()>(IncompatibleKind::Changed, recorded.as_ref(), asked);
                    state.made_up();
                    return None;
                }
            }
        }
        let made = {
            let _inside = self.inside(&RECORD);
            make(&mut self.entropy.borrow_mut())
        };
        match made {
            Ok(value) => {
                let state = &mut *self.state.borrow_mut();
                let site = Some(state.location(place));
                state.push(Decision::Recorded {
                    source,
                    value: value.clone(),
                    site,
                });
                state.commands += 1;
                Some(value)
            }
            Err(error) => {
                self.unstorable(Side::record(&source), error);
                None
            }
        }
    }

    /// The future that waited for an operation is gone.
    pub(super) fn drop_operation(&self, number: u64) {
        if !self.is_polling() {
            return;
        }
        let Some(operation) = self.state.borrow_mut().close(number) else {
            return;
        };
        let is_open = match operation.kind {
            // What it was to take is the next one's (S25): to have taken it would have been a decision.
            Kind::Receive(Channel::Message, name) => {
                self.give_back(number, name, operation.end);
                true
            }
            Kind::Receive(Channel::Signal, name) => {
                let state = &mut *self.state.borrow_mut();
                state.inbox.forget(Channel::Signal, name, number);
                operation.end.is_none()
            }
            // What has its result is not open; its result was in the history before it was dropped.
            // What is sent is sent: the commit does it, whoever waits for what that comes to.
            Kind::Activity(_) | Kind::Timer(_) | Kind::Slot(..) | Kind::Stub(_) => {
                operation.end.is_none()
            }
        };
        if is_open {
            self.decide_drop(number, operation.kind);
        }
    }

    fn decide_drop(&self, number: u64, kind: Kind) -> Option<()> {
        let state = &mut *self.state.borrow_mut();
        if state.may_decide().is_none() {
            state.note(Side::dropped(number));
            return None;
        }
        match state.next_expected() {
            None => state.push(Decision::Dropped { operation: number }),
            Some(Some(Decision::Dropped { operation: o })) if o == number => {}
            Some(recorded) => {
                let asked = Side::dropped(number);
                return state.refuse(IncompatibleKind::Changed, recorded.as_ref(), asked);
            }
        }
        state.commands += 1;
        match kind {
            Kind::Activity(name) => {
                state.abandoned.insert(number, name);
            }
            Kind::Timer(deadline) => state.made.stopped_timers.push((number, deadline)),
            Kind::Stub(_) => state
                .made
                .offers
                .push(Offered::Closed { operation: number }),
            Kind::Receive(..) | Kind::Slot(..) => {}
        }
        Some(())
    }

    /// The workflow has returned.
    pub(super) fn decide_end(&self, end: Decision) {
        let state = &mut *self.state.borrow_mut();
        if state.error.is_some() {
            return state.note(Side::of(&end));
        }
        match state.next_expected() {
            None => state.push(end),
            Some(Some(recorded)) if state.same_end(&recorded, &end) => {}
            Some(recorded) => {
                let kind = match (&recorded, &end) {
                    (Some(Decision::Completed { .. }), Decision::Completed { .. })
                    | (Some(Decision::Failed { .. }), Decision::Failed { .. }) => {
                        IncompatibleKind::ChangedInput
                    }
                    (Some(recorded), _) if !recorded.is_end() => IncompatibleKind::LeftOver,
                    _ => IncompatibleKind::Changed,
                };
                state.refuse::<()>(kind, recorded.as_ref(), Side::of(&end));
                return;
            }
        }
        state.commands += 1;
    }

    pub(super) fn may_spawn(&self, depth: usize) -> bool {
        self.deciding()
            .is_some_and(|mut state| state.may_spawn(depth).is_some())
    }

    /// A line for people. In replay it was said before.
    pub(crate) fn log(&self, message: &dyn std::fmt::Display, place: &'static Location<'static>) {
        {
            let Some(mut state) = self.deciding() else {
                return;
            };
            if state.step("log lines after one event").is_none() || state.expected.is_some() {
                return;
            }
        }
        let message = {
            let _inside = self.inside(&LOG);
            message.to_string()
        };
        let message = shorten(message, MAX_LOG_LINE);
        let state = &mut *self.state.borrow_mut();
        let site = state.location(place);
        state.made.logs.push(LogLine { message, site });
    }
}

impl State {
    /// `#[workflow(compare_inputs = false)]` has all values pass (S10).
    pub(super) fn same_input(&self, recorded: &Value, asked: &Value) -> bool {
        !self.graph.compare_inputs || recorded.same(asked)
    }

    fn same_end(&self, recorded: &Decision, end: &Decision) -> bool {
        match (recorded, end) {
            (Decision::Completed { value: a, .. }, Decision::Completed { value: b, .. })
            | (Decision::Failed { error: a, .. }, Decision::Failed { error: b, .. }) => {
                self.same_input(a, b)
            }
            _ => false,
        }
    }
}
