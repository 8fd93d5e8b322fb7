//! What a test fulfils: the stubs that its runs offer.
//!
//! It does what a runtime does: an offer is fulfilled once; the same value again changes nothing, another one is
//! refused, and so is what comes for an offer that is closed.

use std::fmt;

use super::attempts::settle;
use super::drive::{drive, fail, or_fail};
use super::driver::{Driver, TestedRun};
use super::failure::TestFailure;
use super::run::Run;
use crate::history::{Decision, Observation};
use crate::value::{EncodeError, Value};
use crate::{Data, OperationId, Stub, StubFn, Timestamp, Workflow};

/// A stub that a run offers and that nobody has fulfilled.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OpenOffer {
    /// The stub's name.
    pub name: String,
    /// What whoever fulfils it has to know: `<run>~<number>`.
    pub reference: OperationId,
    /// What whoever fulfils it is told.
    pub input: Value,
    /// Since when it is open.
    pub since: Timestamp,
}

/// What became of an offer.
#[derive(Debug)]
pub(super) enum State {
    Open,
    Fulfilled(Value),
    /// Since when.
    Closed(Timestamp),
}

/// The test fulfils what cannot be fulfilled. Outside of a test its sender gets an error.
#[derive(Clone, Debug, PartialEq)]
pub struct NotOffered {
    /// The run.
    pub run: String,
    /// The workflow.
    pub workflow: String,
    /// What the test would fulfil, as `` `review` `` or `test-1~3`.
    pub wanted: String,
    /// Why not.
    pub reason: String,
    /// What is open instead, a line each.
    pub open: Vec<String>,
}

impl fmt::Display for NotOffered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            workflow,
            wanted,
            reason,
            open,
        } = self;
        writeln!(
            f,
            "the test fulfils {wanted}, and {reason} (run {run}, workflow `{workflow}`)\n"
        )?;
        for line in open {
            writeln!(f, "  open: {line}")?;
        }
        match open.is_empty() {
            true => f.write_str(
                "help: the run offers no stub now; `run.offers()` lists those that are open",
            ),
            false => f.write_str("\nhelp: `run.offers()` lists those that are open"),
        }
    }
}

impl<W: Workflow> Run<W> {
    /// Fulfils the oldest open offer of `stub`, and lets the run go as far as it goes without time passing.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// #[stub]
    /// async fn review(cx: &Cx, order: String) -> bool;
    ///
    /// #[workflow]
    /// async fn purchase(cx: &Cx, order: String) -> Result<Option<bool>, Error> {
    ///     Ok(review(cx, order).timeout(days(7)).await?)
    /// }
    ///
    /// # fn main() { perennial::testing::test(|t| {
    /// let run = t.start(purchase, "a lamp".to_owned());
    /// assert_eq!(run.offers()[0].name, "review");
    /// run.fulfil(review, true);
    /// assert_eq!(run.result().unwrap(), Some(true));
    /// # }); }
    /// ```
    ///
    /// # Panics
    ///
    /// When no offer of it is open ([`TestFailure::NotOffered`]), and as all that lets workflows run.
    #[track_caller]
    pub fn fulfil<F, M>(&self, stub: F, value: <F::S as Stub>::Output)
    where
        F: StubFn<M>,
    {
        let _ = stub;
        self.fulfil_wanted(&Wanted::Stub(F::S::NAME), value.to_value());
    }

    /// As [`fulfil`](Self::fulfil), the offer with that reference. What it was fulfilled with before may be given
    /// again, and changes nothing.
    ///
    /// # Panics
    ///
    /// When that is no offer of `stub`, is closed, or was fulfilled with another value
    /// ([`TestFailure::NotOffered`]), and as all that lets workflows run.
    #[track_caller]
    pub fn fulfil_at<F, M>(&self, reference: &OperationId, stub: F, value: <F::S as Stub>::Output)
    where
        F: StubFn<M>,
    {
        let _ = stub;
        let wanted = Wanted::Reference(reference, Some(F::S::NAME));
        self.fulfil_wanted(&wanted, value.to_value());
    }

    /// As [`fulfil_at`](Self::fulfil_at), with any JSON: what a program that was built with another type may do.
    ///
    /// # Panics
    ///
    /// When the text is not JSON ([`TestFailure::Refused`]), and as [`fulfil_at`](Self::fulfil_at).
    #[track_caller]
    pub fn fulfil_json(&self, reference: &OperationId, json: &str) {
        let wanted = Wanted::Reference(reference, None);
        match Value::from_json(json) {
            Ok(value) => self.fulfil_wanted(&wanted, Ok(value)),
            Err(error) => fail(
                &self.shared,
                TestFailure::Refused {
                    reason: format!("what fulfils {wanted}: {error}"),
                },
            ),
        }
    }

    /// The stubs that the run offers and that nobody has fulfilled, in the order in which they were offered. This lets
    /// nothing happen.
    #[must_use]
    pub fn offers(&self) -> Vec<OpenOffer> {
        self.shared.borrow().runs[self.index].open_offers()
    }

    #[track_caller]
    fn fulfil_wanted(&self, wanted: &Wanted<'_>, value: Result<Value, EncodeError>) {
        let done = value
            .map_err(|error| TestFailure::Refused {
                reason: format!("what fulfils {wanted}: {error}"),
            })
            .and_then(|value| {
                drive(&self.shared, |shared| {
                    settle(shared)?;
                    shared.borrow_mut().fulfil(self.index, wanted, value)?;
                    settle(shared)
                })
            });
        or_fail(&self.shared, done);
    }
}

/// Which offer a test fulfils.
enum Wanted<'a> {
    /// The oldest open one of the stub.
    Stub(&'static str),
    /// That one, of the stub.
    Reference(&'a OperationId, Option<&'static str>),
}

impl fmt::Display for Wanted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stub(name) => write!(f, "the stub `{}`", name.escape_debug()),
            Self::Reference(reference, _) => reference.fmt(f),
        }
    }
}

impl Driver {
    fn fulfil(
        &mut self,
        index: usize,
        wanted: &Wanted<'_>,
        value: Value,
    ) -> Result<(), TestFailure> {
        let at = self.now;
        let run = &mut self.runs[index];
        match run.find(wanted, &value) {
            Ok(Some(operation)) => run.arrive(
                at,
                Observation::StubFulfilled {
                    operation,
                    value,
                    key: None,
                },
            ),
            // The same again.
            Ok(None) => {}
            Err(reason) => {
                let open = run.open_offers();
                let open = open
                    .iter()
                    .map(|offer| format!("{} {}", offer.reference, offer.name.escape_debug()));
                return Err(TestFailure::NotOffered(Box::new(NotOffered {
                    run: run.recording.run.clone(),
                    workflow: run.recording.definition.name.to_owned(),
                    wanted: wanted.to_string(),
                    reason,
                    open: open.collect(),
                })));
            }
        }
        Ok(())
    }
}

impl TestedRun {
    /// The offer that is to be fulfilled; `None` where it was, with that value.
    fn find(&self, wanted: &Wanted<'_>, value: &Value) -> Result<Option<u64>, String> {
        let offers = self.offers();
        let (reference, stub) = match wanted {
            Wanted::Stub(stub) => {
                let mut open = offers.iter();
                let first = open
                    .find(|(offer, state)| matches!(state, State::Open) && offer.name == **stub);
                return match first {
                    Some((offer, _)) => Ok(Some(offer.reference.number)),
                    None => Err("no offer of it is open".to_owned()),
                };
            }
            Wanted::Reference(reference, stub) => (*reference, *stub),
        };
        if reference.run != self.key.id {
            return Err(format!("that is an operation of the run {}", reference.run));
        }
        let known = offers
            .iter()
            .find(|(offer, _)| offer.reference == *reference);
        let Some((offer, state)) = known else {
            return Err("the run has no offer of that number".to_owned());
        };
        if let Some(stub) = stub.filter(|stub| *stub != offer.name) {
            return Err(format!(
                "that is an offer of the stub `{}`, not of `{}`",
                offer.name.escape_debug(),
                stub.escape_debug()
            ));
        }
        match state {
            State::Open => Ok(Some(reference.number)),
            State::Fulfilled(earlier) if earlier.same(value) => Ok(None),
            State::Fulfilled(earlier) => Err(format!(
                "it was fulfilled with another value: {}, and now {}",
                super::failure::short(earlier),
                super::failure::short(value)
            )),
            State::Closed(_) => Err("the offer is closed".to_owned()),
        }
    }

    pub(super) fn open_offers(&self) -> Vec<OpenOffer> {
        let offers = self.offers().into_iter();
        let open = offers.filter(|(_, state)| matches!(state, State::Open));
        open.map(|(offer, _)| offer).collect()
    }

    /// All that was ever offered, and what became of it.
    pub(super) fn offers(&self) -> Vec<(OpenOffer, State)> {
        let mut offers: Vec<(OpenOffer, State)> = Vec::new();
        let units = &self.recording.units;
        for unit in units {
            change(&mut offers, &unit.observation);
            for decision in &unit.decisions {
                match decision {
                    Decision::StubOffered {
                        operation,
                        name,
                        input,
                        ..
                    } => {
                        let offer = OpenOffer {
                            name: name.to_string(),
                            reference: OperationId {
                                run: self.key.id.clone(),
                                number: *operation,
                            },
                            input: input.clone(),
                            since: unit.at,
                        };
                        offers.push((offer, State::Open));
                    }
                    Decision::Dropped { operation } => close(&mut offers, *operation, unit.at),
                    _ => {}
                }
            }
        }
        for input in &self.inputs {
            change(&mut offers, &input.observation);
        }
        offers
    }
}

fn change(offers: &mut [(OpenOffer, State)], observation: &Observation) {
    if let Observation::StubFulfilled {
        operation, value, ..
    } = observation
        && let Some((_, state @ State::Open)) = of(offers, *operation)
    {
        *state = State::Fulfilled(value.clone());
    }
}

fn close(offers: &mut [(OpenOffer, State)], operation: u64, at: Timestamp) {
    if let Some((_, state @ State::Open)) = of(offers, operation) {
        *state = State::Closed(at);
    }
}

fn of(offers: &mut [(OpenOffer, State)], operation: u64) -> Option<&mut (OpenOffer, State)> {
    let mut offers = offers.iter_mut();
    offers.find(|(offer, _)| offer.reference.number == operation)
}
