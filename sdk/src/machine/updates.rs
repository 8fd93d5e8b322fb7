//! Changes that others may ask of a run (S27).
//!
//! | | live | in replay |
//! |---|---|---|
//! | the validator | is asked first, and what it refuses is no event | is not run |
//! | the handler | is run, and its answer is the first decision of the unit | is run, and its answer is compared (S9) |
//! | there is no handler | the driver answers so, and nothing is told to the run | the answer that the history has is missing |

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::Location;
use std::rc::Rc;

use super::Machine;
use super::core::Core;
use super::decide::Apart;
use super::state::State;
use crate::history::Decision;
use crate::incompatible::{IncompatibleKind, Side};
use crate::value::{DecodeError, EncodeError, Value};
use crate::{Blocked, MAX_UPDATES};

const VALIDATOR: Apart = Apart {
    what: "the validator of an update",
    why: "which only looks at the run, and is not run in replay",
    help: "let it look at what the handler shares with the workflow; decide something where the workflow sees the change",
};
const HANDLER: Apart = Apart {
    what: "the handler of an update",
    why: "which decides nothing",
    help: "let it change what it shares with the workflow, and let the workflow wait for that: `cx.until(|| ..).await`",
};

/// What a run's validator says of an update.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// It may be told to the run, as [`UpdateAccepted`](crate::history::Observation::UpdateAccepted).
    Accepted,
    /// It is refused, and this is why.
    Refused(Value),
    /// It is refused, and why cannot be stored.
    Unstorable(EncodeError),
    /// What is asked is not of the type that the handler takes.
    Undecodable {
        /// That type.
        expected: &'static str,
        /// What is wrong, and where.
        error: DecodeError,
    },
    /// The run handles no such update now.
    NotHandled {
        /// The names of those that it handles.
        handled: Vec<&'static str>,
    },
}

/// A validator and its handler, with their types.
pub(crate) trait Handles {
    /// `Err`: it is refused.
    fn validate(
        &self,
        input: &Value,
    ) -> Result<Result<(), Result<Value, EncodeError>>, DecodeError>;
    fn handle(&mut self, input: &Value) -> Result<Result<Value, EncodeError>, DecodeError>;
}

/// What answers an update.
#[derive(Clone)]
pub(crate) struct Handler {
    /// The type of what is asked.
    pub(crate) input: &'static str,
    /// Where the workflow handles it.
    pub(crate) place: &'static Location<'static>,
    pub(crate) handles: Rc<RefCell<dyn Handles>>,
}

#[derive(Default)]
pub(super) struct Updates(BTreeMap<&'static str, Handler>);

impl Updates {
    pub(super) fn memory(&self) -> usize {
        let handlers = self.0.values();
        // What is borrowed is being run.
        let sizes =
            handlers.map(|one| one.handles.try_borrow().map_or(0, |one| size_of_val(&*one)));
        sizes.sum::<usize>() + self.0.len() * size_of::<(&str, Handler)>()
    }

    fn names(&self) -> Vec<&'static str> {
        self.0.keys().copied().collect()
    }
}

impl Core {
    /// From now on that answers the update, in place of what did before.
    pub(crate) fn handle_update(&self, update: &'static str, handler: Handler) {
        let before = {
            let Some(mut state) = self.deciding() else {
                return;
            };
            let state = &mut *state;
            if state.error.is_none()
                && let Some(inside) = state.inside
            {
                state.misused::<()>(inside);
            }
            if state.step("updates handled after one event").is_none() {
                return;
            }
            let handlers = &mut state.updates.0;
            if !handlers.contains_key(update) && handlers.len() >= MAX_UPDATES {
                state.run_away::<()>("updates that a run handles", MAX_UPDATES as u64);
                return;
            }
            handlers.insert(update, handler)
        };
        // It holds what is the user's.
        drop(before);
    }

    pub(super) fn handled(&self) -> Vec<&'static str> {
        self.state.borrow().updates.names()
    }

    /// Lets go of all of them.
    pub(super) fn discard_updates(&self) {
        let updates = std::mem::take(&mut self.state.borrow_mut().updates);
        drop(updates);
    }

    fn validate(&self, update: &str, input: &Value) -> Verdict {
        let handler = self.state.borrow().updates.0.get(update).cloned();
        let Some(handler) = handler else {
            let handled = self.handled();
            return Verdict::NotHandled { handled };
        };
        let _polling = self.enter();
        let _inside = self.inside(&VALIDATOR);
        match handler.handles.borrow().validate(input) {
            Ok(Ok(())) => Verdict::Accepted,
            Ok(Err(Ok(why))) => Verdict::Refused(why),
            Ok(Err(Err(error))) => Verdict::Unstorable(error),
            Err(error) => {
                let expected = handler.input;
                Verdict::Undecodable { expected, error }
            }
        }
    }

    /// The run is told an update that was accepted: the handler is run, and its answer is a decision.
    pub(super) fn accept(&self, update: &str, input: &Value) {
        let handler = self.state.borrow().updates.0.get(update).cloned();
        let Some(handler) = handler else {
            let error = self.state.borrow_mut().not_handled(update);
            self.state.borrow_mut().error.get_or_insert(error);
            return;
        };
        let answer = {
            let _polling = self.enter();
            let _inside = self.inside(&HANDLER);
            handler.handles.borrow_mut().handle(input)
        };
        if self.has_error() {
            return;
        }
        let name = update.escape_debug();
        match answer {
            Ok(Ok(value)) => self.decide_answer(value, handler.place),
            Ok(Err(error)) => self.unstorable(format!("answer to update \"{name}\""), error),
            Err(error) => {
                let event = self.state.borrow().unit;
                let detail = format!("what was asked by update \"{name}\": {error}");
                self.undecodable(event, detail);
            }
        }
    }

    fn decide_answer(&self, value: Value, place: &'static Location<'static>) {
        let state = &mut *self.state.borrow_mut();
        let site = Some(state.location(place));
        match state.next_expected() {
            None => state.push(Decision::UpdateAnswered { value, site }),
            Some(Some(Decision::UpdateAnswered { value: v, .. }))
                if state.same_input(&v, &value) => {}
            Some(recorded) => {
                let kind = match &recorded {
                    Some(Decision::UpdateAnswered { .. }) => IncompatibleKind::ChangedInput,
                    _ => IncompatibleKind::Changed,
                };
                let asked = Side {
                    value: Some(value),
                    site,
                    ..Side::answered()
                };
                state.refuse::<()>(kind, recorded.as_ref(), asked);
                return;
            }
        }
        state.commands += 1;
    }
}

impl State {
    /// The history has an update of which the code knows nothing where it is now.
    fn not_handled(&mut self, update: &str) -> Blocked {
        let name = update.escape_debug();
        let names = self.updates.names();
        let handled = match names.is_empty() {
            true => "no updates".to_owned(),
            false => format!("\"{}\" alone", names.join("\", \"")),
        };
        let detail =
            format!("the update \"{name}\" was accepted, and here the code handles {handled}");
        match self.next_expected() {
            Some(Some(recorded)) => self.left_because(&recorded, false, Some(detail)),
            _ => self.damaged(detail),
        }
    }
}

impl Machine {
    /// What the run's own validator says of an update, by which nothing is recorded. A driver asks when the run has
    /// been told all that it is to be told before, and then feeds what was accepted to [`observe`](Self::observe), as
    /// the next of all.
    ///
    /// # Errors
    ///
    /// [`Blocked`], from then on for whatever is fed: the validator has panicked, or has used the `Cx`. The history is
    /// as it was, so that a machine that is made anew goes on.
    pub fn validate(&mut self, update: &str, input: &Value) -> Result<Verdict, Blocked> {
        self.unless_blocked(|machine| {
            let mut verdict = Verdict::Accepted;
            let asked = machine.catch(|machine| {
                verdict = machine.core.validate(update, input);
                machine.core.take_error()
            });
            let after = machine.next_event - 1;
            asked.map_err(|mut blocked| {
                if let Blocked::Panicked(panicked) = &mut blocked {
                    panicked.event = after;
                }
                blocked
            })?;
            Ok(verdict)
        })
    }

    /// The names of the updates that the run handles now, in their order.
    #[must_use]
    pub fn handled(&self) -> Vec<&'static str> {
        self.core.handled()
    }
}
