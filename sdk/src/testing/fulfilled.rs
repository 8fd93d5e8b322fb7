//! What the runs of a test fulfil of what others offer (S3).
//!
//! It is what a runtime does: a run of the test gets the value if it offers that stub, once, and the one that fulfils
//! is told what came of it. Of runs that are not in the test nobody knows anything, so that what they are given counts
//! as fulfilled, unless the test says something else.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::driver::{Driver, TestedRun};
use super::offers::State;
use super::run::Run;
use super::test_run::TestRun;
use crate::history::{Decision, Observation, SlotResult};
use crate::value::Value;
use crate::{FulfilFailure, OperationId, Receipt, RunId, Timestamp, Workflow};

/// Something that a run has fulfilled of what another one offers, or itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fulfilled {
    /// The run that has fulfilled it.
    pub from: RunId,
    /// What was offered.
    pub reference: OperationId,
    /// The name of the stub.
    pub stub: String,
    /// What it was fulfilled with.
    pub value: Value,
    /// Why it was not fulfilled after all; `None`: it was.
    pub failure: Option<FulfilFailure>,
}

/// How a test answers for what is fulfilled.
pub(super) type OnFulfil = Rc<RefCell<dyn FnMut(&Fulfilled) -> Result<(), FulfilFailure>>>;

impl TestRun {
    /// From now on `answer` is asked for each offer that a run fulfils with `cx.fulfil`: an error is what the run gets,
    /// and nothing is fulfilled. Where it says `Ok` the test goes on as without it: a run of this test gets the value
    /// if it offers that, and what others are given counts as fulfilled.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// #[stub]
    /// async fn review(cx: &Cx, order: String) -> bool;
    ///
    /// #[workflow]
    /// async fn reviewer(cx: &Cx, asked: OperationId) -> Result<bool, Error> {
    ///     Ok(cx.fulfil(&asked, review, &true).await.is_ok())
    /// }
    ///
    /// # fn main() { perennial::testing::test(|t| {
    /// t.on_fulfil(|fulfilled| {
    ///     let reference = fulfilled.reference.clone();
    ///     Err(FulfilFailure::RunNotFound { reference })
    /// });
    /// let run = t.start(reviewer, "order-42~1".parse().unwrap());
    /// assert!(!run.result().unwrap());
    /// # }); }
    /// ```
    pub fn on_fulfil(
        &mut self,
        answer: impl FnMut(&Fulfilled) -> Result<(), FulfilFailure> + 'static,
    ) {
        let answer = Rc::new(RefCell::new(answer));
        self.shared.borrow_mut().slots.on_fulfil = Some(answer);
    }
}

impl<W: Workflow> Run<W> {
    /// What the run has fulfilled of what others offer, and itself, in the order in which it was decided, with what
    /// came of it. This lets nothing happen.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # #[stub]
    /// # async fn review(cx: &Cx, order: String) -> bool;
    /// # #[workflow]
    /// # async fn reviewer(cx: &Cx, asked: OperationId) -> Result<(), Error> {
    /// #     cx.fulfil(&asked, review, &true).await?;
    /// #     Ok(())
    /// # }
    /// # fn main() { perennial::testing::test(|t| {
    /// let run = t.start(reviewer, "order-42~1".parse().unwrap());
    /// run.result().unwrap();
    /// let fulfilled = run.fulfilled();
    /// assert_eq!(fulfilled[0].reference.to_string(), "order-42~1");
    /// assert!(fulfilled[0].value.decode::<bool>().unwrap());
    /// # }); }
    /// ```
    #[must_use]
    pub fn fulfilled(&self) -> Vec<Fulfilled> {
        self.shared.borrow().runs[self.index].fulfilled()
    }
}

impl Driver {
    /// Gives the value to the run that offers it, and says what came of it.
    pub(super) fn hand_over(&mut self, fulfilled: &Fulfilled) -> SlotResult {
        let now = self.now;
        let mut runs = self.runs.iter_mut();
        match runs.find(|run| run.key.id == fulfilled.reference.run) {
            Some(run) => match run.take(now, fulfilled) {
                Ok(receipt) => SlotResult::Fulfilled(receipt),
                Err(failure) => SlotResult::NotFulfilled(failure),
            },
            None => SlotResult::Fulfilled(Receipt {
                number: self.slots.next_elsewhere(&fulfilled.reference.run),
                at: now,
                duplicate: false,
            }),
        }
    }
}

impl TestedRun {
    fn take(&mut self, now: Timestamp, fulfilled: &Fulfilled) -> Result<Receipt, FulfilFailure> {
        let reference = fulfilled.reference.clone();
        let operation = reference.number;
        let offers = self.offers();
        let known = offers
            .into_iter()
            .find(|(offer, _)| offer.reference == reference);
        let Some((offer, state)) = known else {
            return Err(match self.has_begun(operation) {
                true => FulfilFailure::NotAStub { reference },
                false => FulfilFailure::NoSuchOperation { reference },
            });
        };
        if offer.name != fulfilled.stub {
            return Err(FulfilFailure::OtherStub {
                reference,
                is: offer.name,
                given: fulfilled.stub.clone(),
            });
        }
        let stub = offer.name;
        match state {
            State::Fulfilled(earlier) if earlier.same(&fulfilled.value) => {
                let first = self.receipts.get(&operation).copied();
                Ok(Receipt {
                    duplicate: true,
                    ..first.unwrap_or(Receipt {
                        number: self.told,
                        at: now,
                        duplicate: true,
                    })
                })
            }
            State::Fulfilled(_) => Err(FulfilFailure::Conflict { reference, stub }),
            State::Closed(at) => Err(FulfilFailure::Closed {
                reference,
                stub,
                at,
                end: self.run_end(),
            }),
            State::Open => match self.run_end() {
                Some(end) => Err(FulfilFailure::Closed {
                    reference,
                    stub,
                    at: self.recording.units.last().map_or(now, |unit| unit.at),
                    end: Some(end),
                }),
                None => {
                    self.told += 1;
                    let receipt = Receipt {
                        number: self.told,
                        at: now,
                        duplicate: false,
                    };
                    self.receipts.insert(operation, receipt);
                    let value = fulfilled.value.clone();
                    let observation = Observation::StubFulfilled {
                        operation,
                        value,
                        key: None,
                    };
                    self.arrive(now, observation);
                    Ok(receipt)
                }
            },
        }
    }

    /// Whether the run has come to that operation.
    fn has_begun(&self, wanted: u64) -> bool {
        let units = self.recording.units.iter();
        let mut decisions = units.flat_map(|unit| &unit.decisions);
        decisions.any(|decision| match decision {
            Decision::ActivityScheduled { operation, .. }
            | Decision::TimerStarted { operation, .. }
            | Decision::ReceiveStarted { operation, .. }
            | Decision::StubOffered { operation, .. }
            | Decision::SendRequested { operation, .. }
            | Decision::FulfilRequested { operation, .. } => *operation == wanted,
            _ => false,
        })
    }

    fn fulfilled(&self) -> Vec<Fulfilled> {
        let units = &self.recording.units;
        let fed = units.iter().map(|unit| &unit.observation);
        let failures: BTreeMap<u64, &FulfilFailure> = fed
            .filter_map(|observation| match observation {
                Observation::SlotFilled {
                    operation,
                    result: SlotResult::NotFulfilled(failure),
                } => Some((*operation, failure)),
                _ => None,
            })
            .collect();
        let decisions = units.iter().flat_map(|unit| &unit.decisions);
        let all = decisions.filter_map(|decision| fulfilled(&self.key.id, decision));
        all.map(|(operation, fulfilled)| Fulfilled {
            failure: failures.get(&operation).copied().cloned(),
            ..fulfilled
        })
        .collect()
    }
}

/// What a decision fulfils, and its operation.
pub(super) fn fulfilled(from: &RunId, decision: &Decision) -> Option<(u64, Fulfilled)> {
    let Decision::FulfilRequested {
        operation,
        reference,
        stub,
        value,
        ..
    } = decision
    else {
        return None;
    };
    let fulfilled = Fulfilled {
        from: from.clone(),
        reference: reference.clone(),
        stub: stub.to_string(),
        value: value.clone(),
        failure: None,
    };
    Some((*operation, fulfilled))
}
