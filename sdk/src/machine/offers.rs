//! Stubs: operations whose results come from outside, by the operation's reference.
//!
//! | | the history has | the code | then |
//! |---|---|---|---|
//! | 1 | (live) | offers a stub | the offer is recorded, and open from the unit's commit on |
//! | 2 | the same name and input | offers it | it goes on |
//! | 3 | an open offer | drops what waits for it | the drop is recorded, and the offer is closed with that commit |
//! | 4 | an offer that was fulfilled | drops what waits for it | nothing: there is nothing open |
//! | 5 | (live) a value that is not of the type | waits for it | that is recorded, and the code is told so (M37) |
//! | 6 | that a value was not of the type | waits for it | it is told so again, whatever the type is by now |
//! | 7 | a value that was of the type, and is not now | waits for it | does not decode |

use std::panic::Location;

use super::core::Core;
use super::state::{Kind, Operation, State};
use super::step::Offered;
use crate::OperationId;
use crate::history::{CallSite, Decision};
use crate::incompatible::{IncompatibleKind, Side};
use crate::prose::shorten;
use crate::value::Value;

/// The longest text about a value that is not of its type, in bytes.
const MAX_PROBLEM: usize = 1 << 10;

impl Core {
    /// Offers the stub `name`. `place` is where that is said, where it is no await.
    pub(super) fn offer_stub(
        &self,
        name: &'static str,
        input: Value,
        place: Option<&'static Location<'static>>,
    ) -> Option<u64> {
        let state = &mut *self.deciding()?;
        state.may_open();
        let site = |state: &State| -> Option<CallSite> {
            match place {
                Some(place) => Some(state.location(place)),
                None => state.site(),
            }
        };
        if state.go_on().is_none() {
            state.note(Side {
                value: Some(input),
                site: site(state),
                ..Side::stub(name)
            });
            return None;
        }
        let operation = state.next_operation;
        match state.next_expected() {
            None => {
                let site = site(state);
                state.push(Decision::StubOffered {
                    operation,
                    name: name.into(),
                    input,
                    site,
                });
            }
            Some(Some(Decision::StubOffered {
                operation: o,
                name: n,
                input: i,
                ..
            })) if o == operation && n == name && state.same_input(&i, &input) => {}
            Some(recorded) => {
                let kind = match &recorded {
                    Some(Decision::StubOffered {
                        operation: o,
                        name: n,
                        ..
                    }) if *o == operation && n == name => IncompatibleKind::ChangedInput,
                    _ => IncompatibleKind::Changed,
                };
                let asked = Side {
                    operation: Some(operation),
                    value: Some(input),
                    site: site(state),
                    ..Side::stub(name)
                };
                return state.refuse(kind, recorded.as_ref(), asked);
            }
        }
        state.made.offers.push(Offered::Opened { operation, name });
        Some(state.open(Kind::Stub(name)))
    }

    /// The offer is waited for no longer than until the timer fires. That is nothing that is recorded: it follows from
    /// what is. Whoever keeps offers has to know it, so that nobody fulfils one whose time is over.
    pub(super) fn limit_offer(&self, offer: u64, timer: u64) {
        let state = &mut *self.state.borrow_mut();
        if let Some(Operation {
            kind: Kind::Timer(deadline),
            ..
        }) = state.operations.get(&timer)
        {
            state.made.offers.push(Offered::Limited {
                operation: offer,
                deadline: *deadline,
            });
        }
    }

    /// What a stub was fulfilled with is not of its type, because of `problem`. Gives back what the history has
    /// about that.
    pub(super) fn decide_invalid(&self, operation: u64, problem: String) -> Option<String> {
        let state = &mut *self.deciding()?;
        if state.may_decide().is_none() {
            state.note(Side::stub_invalid(operation));
            return None;
        }
        let problem = match state.next_expected() {
            None => {
                let problem = shorten(problem, MAX_PROBLEM);
                state.push(Decision::StubInvalid {
                    operation,
                    problem: problem.clone(),
                });
                problem
            }
            Some(Some(Decision::StubInvalid {
                operation: o,
                problem,
            })) if o == operation => problem,
            Some(recorded) => {
                let asked = Side::stub_invalid(operation);
                return state.refuse(IncompatibleKind::Changed, recorded.as_ref(), asked);
            }
        };
        state.commands += 1;
        Some(problem)
    }

    /// The operation, as those outside have to name it. `None`: it could not begin, and nothing goes on; what the code
    /// asks for with the number 0, which no operation has, says nothing.
    pub(crate) fn reference(&self, number: Option<u64>) -> OperationId {
        let state = &mut *self.state.borrow_mut();
        if number.is_none() {
            state.made_up();
        }
        let Some(run) = state.known_as().map(|run| run.id) else {
            unreachable!("a workflow's code runs after its first event");
        };
        OperationId {
            run,
            number: number.unwrap_or_default(),
        }
    }

    /// In replay: whether the history says next that the operation's value was not of its type.
    pub(super) fn was_invalid(&self, operation: u64) -> bool {
        let state = self.state.borrow();
        let next = state
            .expected
            .as_ref()
            .and_then(|expected| expected.front());
        matches!(next, Some(Decision::StubInvalid { operation: o, .. }) if *o == operation)
    }

    /// Whether decisions are compared, and not made.
    pub(super) fn is_replaying(&self) -> bool {
        self.state.borrow().expected.is_some()
    }
}
