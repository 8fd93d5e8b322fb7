//! What the run has told others, as the migration sees it: what it has sent and fulfilled, and given out in streams (S3,
//! S28).

use std::collections::HashMap;

use super::old::decode;
use super::{OldRun, Refuse};
use crate::history::{Channel, Decision, Observation, SlotResult};
use crate::value::Value;
use crate::{Data, FulfilFailure, OperationId, Receipt, RunId, SendFailure, Stream};

/// A message or a signal that the old run has sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OldSend {
    /// The operation's number.
    pub operation: u64,
    /// To which run.
    pub to: RunId,
    /// Which of the two it is.
    pub channel: Channel,
    /// The name.
    pub name: String,
    /// What it says.
    pub payload: Value,
    /// What came of it, also where the run was not told; `None`: nobody knows, as in a history that ends there.
    pub outcome: Option<Result<Receipt, SendFailure>>,
}

/// An offer that the old run has fulfilled, of another run or its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OldFulfilment {
    /// The operation's number.
    pub operation: u64,
    /// What was offered.
    pub reference: OperationId,
    /// The name of the stub.
    pub stub: String,
    /// With what.
    pub value: Value,
    /// What came of it, also where the run was not told; `None`: nobody knows, as in a history that ends there.
    pub outcome: Option<Result<Receipt, FulfilFailure>>,
}

impl OldRun {
    /// What the run has sent to other runs and to itself, in the order in which it was decided, with what came of it.
    /// The new run sends it again if its code does so: it has another id, and so other keys.
    ///
    /// ```
    /// use perennial::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// const RESERVE: Message<u32> = Message::new("reserve");
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Order {
    ///     hall: RunId,
    ///     reserved: bool,
    /// }
    ///
    /// # #[workflow]
    /// # async fn order_v1(cx: &Cx, hall: RunId) -> Result<(), Error> { cx.send(&hall, RESERVE, &7).await?; Ok(()) }
    /// # #[workflow]
    /// # async fn order_v2(_cx: &Cx, order: Order) -> Result<(), Error> { let _ = order; Ok(()) }
    /// #[migration(from = order_v1, to = order_v2)]
    /// fn to_v2(old: &OldRun) -> Result<Order, Refuse> {
    ///     let mut sent = old.sent().into_iter();
    ///     Ok(Order {
    ///         hall: old.input()?,
    ///         reserved: sent.any(|sent| sent.name == RESERVE.name() && matches!(sent.outcome, Some(Ok(_)))),
    ///     })
    /// }
    /// # fn main() {}
    /// ```
    #[must_use]
    pub fn sent(&self) -> Vec<OldSend> {
        let results = self.results_of_slots();
        let sends = self.decisions().filter_map(|decision| match decision {
            Decision::SendRequested {
                operation,
                run,
                channel,
                name,
                payload,
                ..
            } => Some(OldSend {
                operation: *operation,
                to: run.clone(),
                channel: *channel,
                name: name.to_string(),
                payload: payload.clone(),
                outcome: match results.get(operation) {
                    Some(SlotResult::Sent(receipt)) => Some(Ok(*receipt)),
                    Some(SlotResult::NotSent(failure)) => Some(Err(failure.clone())),
                    _ => None,
                },
            }),
            _ => None,
        });
        sends.collect()
    }

    /// What the run has fulfilled of what other runs offer, and of its own offers, with `cx.fulfil`, in the order in
    /// which it was decided, with what came of it.
    #[must_use]
    pub fn fulfilments(&self) -> Vec<OldFulfilment> {
        let results = self.results_of_slots();
        let given = self.decisions().filter_map(|decision| match decision {
            Decision::FulfilRequested {
                operation,
                reference,
                stub,
                value,
                ..
            } => Some(OldFulfilment {
                operation: *operation,
                reference: reference.clone(),
                stub: stub.to_string(),
                value: value.clone(),
                outcome: match results.get(operation) {
                    Some(SlotResult::Fulfilled(receipt)) => Some(Ok(*receipt)),
                    Some(SlotResult::NotFulfilled(failure)) => Some(Err(failure.clone())),
                    _ => None,
                },
            }),
            _ => None,
        });
        given.collect()
    }

    /// The items that this generation of the run has given out in a stream, in their order. They stay with the old run,
    /// whose readers have them; the streams of the new run begin anew.
    ///
    /// # Errors
    ///
    /// [`Refuse::Undecodable`]: one of them is not of the type.
    pub fn emitted<T: Data>(&self, stream: Stream<T>) -> Result<Vec<T>, Refuse> {
        let items = self.decisions().filter_map(|decision| match decision {
            Decision::Emitted {
                stream: name,
                number,
                value,
                ..
            } if name == stream.name() => Some((number, value)),
            _ => None,
        });
        items
            .map(|(number, value)| {
                let what = || format!("item #{number} of \"{}\"", stream.name().escape_debug());
                decode(what, value)
            })
            .collect()
    }

    /// What slots came to, by operation, those of which the run was not told too.
    fn results_of_slots(&self) -> HashMap<u64, &SlotResult> {
        let told = self.history().units.iter().map(|unit| &unit.observation);
        told.chain(self.arrived())
            .filter_map(|observation| match observation {
                Observation::SlotFilled { operation, result } => Some((*operation, result)),
                _ => None,
            })
            .collect()
    }
}
