//! Decisions of a test's runs whose results are known only when they are carried out (S3): the driver does that, in
//! their order, once the test has been asked about each.

use std::collections::BTreeMap;

use super::driver::{Driver, Shared};
use super::failure::TestFailure;
use super::fulfilled::{Fulfilled, OnFulfil, fulfilled};
use super::sent::{OnSend, Sent, sent};
use crate::history::{Observation, SlotResult};
use crate::{FulfilFailure, RunId, SendFailure};

/// What the driver has to carry out, and how a test answers for it.
#[derive(Default)]
pub(super) struct Slots {
    pub(super) on_send: Option<OnSend>,
    pub(super) on_fulfil: Option<OnFulfil>,
    waiting: Vec<Waiting>,
    /// How much has gone to runs that are not in the test.
    elsewhere: BTreeMap<RunId, u64>,
}

/// One whose result is not known.
struct Waiting {
    run: usize,
    operation: u64,
    what: What,
}

enum What {
    Send(Sent),
    Fulfil(Fulfilled),
}

/// What the test says to it.
enum Answer {
    GoOn,
    NotSent(SendFailure),
    NotFulfilled(FulfilFailure),
}

impl Slots {
    /// The number of what goes to a run that is not in the test.
    pub(super) fn next_elsewhere(&mut self, run: &RunId) -> u64 {
        let number = self.elsewhere.entry(run.clone()).or_default();
        *number += 1;
        *number
    }
}

impl Driver {
    /// Notes what the last unit of a run has to have carried out.
    pub(super) fn note_slots(&mut self, index: usize) {
        let run = &self.runs[index];
        let Some(unit) = run.recording.units.last() else {
            return;
        };
        let from = &run.key.id;
        let all = unit.decisions.iter().filter_map(|decision| {
            let (operation, what) = match sent(from, decision) {
                Some((operation, sent)) => (operation, What::Send(sent)),
                None => {
                    let (operation, fulfilled) = fulfilled(from, decision)?;
                    (operation, What::Fulfil(fulfilled))
                }
            };
            Some(Waiting {
                run: index,
                operation,
                what,
            })
        });
        let all: Vec<_> = all.collect();
        self.runs[index].slots += all.len();
        self.slots.waiting.extend(all);
    }

    fn fill(&mut self, waiting: Waiting, answer: Answer) -> Result<(), TestFailure> {
        let Waiting {
            run,
            operation,
            what,
        } = waiting;
        let result = match (answer, &what) {
            (Answer::NotSent(failure), _) => SlotResult::NotSent(failure),
            (Answer::NotFulfilled(failure), _) => SlotResult::NotFulfilled(failure),
            (Answer::GoOn, What::Send(sent)) => self.deliver(sent)?,
            (Answer::GoOn, What::Fulfil(fulfilled)) => self.hand_over(fulfilled),
        };
        self.runs[run].fill(self.now, Observation::SlotFilled { operation, result });
        Ok(())
    }
}

/// Carries out what is to be carried out, and says whether there was anything. Code of the test's is asked while
/// nothing is borrowed.
pub(super) fn fill_all(shared: &Shared) -> Result<bool, TestFailure> {
    let (waiting, on_send, on_fulfil) = {
        let slots = &mut shared.borrow_mut().slots;
        (
            std::mem::take(&mut slots.waiting),
            slots.on_send.clone(),
            slots.on_fulfil.clone(),
        )
    };
    let any = !waiting.is_empty();
    for one in waiting {
        let answer = match (&one.what, &on_send, &on_fulfil) {
            (What::Send(sent), Some(answer), _) => match (answer.borrow_mut())(sent) {
                Ok(()) => Answer::GoOn,
                Err(failure) => Answer::NotSent(failure),
            },
            (What::Fulfil(fulfilled), _, Some(answer)) => match (answer.borrow_mut())(fulfilled) {
                Ok(()) => Answer::GoOn,
                Err(failure) => Answer::NotFulfilled(failure),
            },
            _ => Answer::GoOn,
        };
        shared.borrow_mut().fill(one, answer)?;
    }
    Ok(any)
}
