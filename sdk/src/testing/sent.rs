//! What the runs of a test send to other runs (S3).
//!
//! It is what a runtime does: a run of the test gets it, and one that has ended does not. Of runs that are not in the
//! test nobody knows anything, so that what is sent to them counts as sent, unless the test says something else.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::driver::{Driver, TestedRun};
use super::failure::TestFailure;
use super::run::Run;
use super::test_run::TestRun;
use crate::history::{Channel, Decision, Observation, SlotResult};
use crate::value::Value;
use crate::{Receipt, RunEnd, RunId, SendFailure, Workflow};

/// Something that a run has sent to another one, or to itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sent {
    /// The run that has sent it.
    pub from: RunId,
    /// The run to which it was sent.
    pub to: RunId,
    /// Whether it is a message or a signal.
    pub channel: Channel,
    /// Its name.
    pub name: String,
    /// What it says.
    pub payload: Value,
    /// Why it was not sent after all; `None`: it was.
    pub failure: Option<SendFailure>,
}

/// How a test answers for what is sent.
pub(super) type OnSend = Rc<RefCell<dyn FnMut(&Sent) -> Result<(), SendFailure>>>;

impl TestRun {
    /// From now on `answer` is asked for each message and signal that a run sends to another one, or to itself: an
    /// error is what the sender gets, and nothing is sent. Where it says `Ok` the test goes on as without it: a run of
    /// this test gets what is sent to it, and what is sent to others counts as sent.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # const SHIPPED: Message<u32> = Message::new("shipped");
    /// # #[workflow]
    /// # async fn ship(cx: &Cx, order: RunId) -> Result<bool, Error> { Ok(cx.send(&order, SHIPPED, &3).await.is_ok()) }
    /// # perennial::testing::test(|t| {
    /// t.on_send(|sent| Err(SendFailure::RunNotFound { run: sent.to.clone() }));
    /// let run = t.start(ship, RunId::new("order-42").unwrap());
    /// assert!(!run.result().unwrap());
    /// # });
    /// ```
    pub fn on_send(&mut self, answer: impl FnMut(&Sent) -> Result<(), SendFailure> + 'static) {
        let answer = Rc::new(RefCell::new(answer));
        self.shared.borrow_mut().slots.on_send = Some(answer);
    }
}

impl<W: Workflow> Run<W> {
    /// What the run has sent to other runs and to itself, in the order in which it was decided, with what came of it.
    /// This lets nothing happen.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # const SHIPPED: Message<u32> = Message::new("shipped");
    /// # #[workflow]
    /// # async fn ship(cx: &Cx, order: RunId) -> Result<(), Error> { cx.send(&order, SHIPPED, &3).await?; Ok(()) }
    /// # perennial::testing::test(|t| {
    /// let run = t.start(ship, RunId::new("order-42").unwrap());
    /// run.result().unwrap();
    /// let sent = run.sent();
    /// assert_eq!((sent[0].to.as_str(), &*sent[0].name), ("order-42", "shipped"));
    /// assert_eq!(sent[0].payload.decode::<u32>().unwrap(), 3);
    /// # });
    /// ```
    #[must_use]
    pub fn sent(&self) -> Vec<Sent> {
        self.shared.borrow().runs[self.index].sent()
    }
}

impl Driver {
    /// Does what is to be sent, and says what it came to.
    pub(super) fn deliver(&mut self, sent: &Sent) -> Result<SlotResult, TestFailure> {
        let (channel, name) = (sent.channel, &sent.name);
        let receipt = |number| {
            SlotResult::Sent(Receipt {
                number,
                at: self.now,
                duplicate: false,
            })
        };
        let Some(index) = self.runs.iter().position(|run| run.key.id == sent.to) else {
            let number = self.slots.next_elsewhere(&sent.to);
            return Ok(receipt(number));
        };
        let to = &self.runs[index];
        let definition = &to.recording.definition;
        if let Some(end) = to.run_end() {
            let last = to.recording.units.last();
            return Ok(SlotResult::NotSent(SendFailure::RunFinished {
                run: sent.to.clone(),
                end,
                finished: last.map_or(self.now, |unit| unit.at),
            }));
        }
        if definition.graph.declares(channel, name) == Some(false) {
            return Ok(SlotResult::NotSent(SendFailure::NoSuchMessage {
                run: sent.to.clone(),
                workflow: definition.name.to_owned(),
                name: name.clone(),
            }));
        }
        let number = to.told + 1;
        let result = receipt(number);
        self.tell(index, channel, name, sent.payload.clone())?;
        Ok(result)
    }
}

impl TestedRun {
    /// How it has ended.
    pub(super) fn run_end(&self) -> Option<RunEnd> {
        self.end.as_ref().map(|end| match end {
            Ok(_) => RunEnd::Completed,
            Err(_) => RunEnd::Failed,
        })
    }

    fn sent(&self) -> Vec<Sent> {
        let units = &self.recording.units;
        let fed = units.iter().map(|unit| &unit.observation);
        let failures: BTreeMap<u64, &SendFailure> = fed
            .filter_map(|observation| match observation {
                Observation::SlotFilled {
                    operation,
                    result: SlotResult::NotSent(failure),
                } => Some((*operation, failure)),
                _ => None,
            })
            .collect();
        let decisions = units.iter().flat_map(|unit| &unit.decisions);
        let sends = decisions.filter_map(|decision| sent(&self.key.id, decision));
        sends
            .map(|(operation, sent)| Sent {
                failure: failures.get(&operation).copied().cloned(),
                ..sent
            })
            .collect()
    }
}

/// What a decision sends, and its operation.
pub(super) fn sent(from: &RunId, decision: &Decision) -> Option<(u64, Sent)> {
    let Decision::SendRequested {
        operation,
        run,
        channel,
        name,
        payload,
        ..
    } = decision
    else {
        return None;
    };
    let sent = Sent {
        from: from.clone(),
        to: run.clone(),
        channel: *channel,
        name: name.to_string(),
        payload: payload.clone(),
        failure: None,
    };
    Some((*operation, sent))
}
