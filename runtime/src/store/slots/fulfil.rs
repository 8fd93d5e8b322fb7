//! Slots that fulfil what a run offers.

use perennial::history::{Observation, SlotResult};
use perennial::value::Value;
use perennial::{FulfilFailure, OperationId, RunKey, Timestamp};

use super::{Filled, Stored, end_of, put, receipt, unreadable};
use crate::store::contract::{Deliver, Head};
use crate::store::offers::{self, Fulfilment};
use crate::store::rules::Resolved;
use crate::store::{Refusal, StoreError};

/// A value on its way to what a run offers.
pub(super) struct Given<'a> {
    pub(super) reference: &'a OperationId,
    pub(super) stub: &'a str,
    pub(super) value: &'a Value,
    pub(super) key: String,
    pub(super) at: Timestamp,
}

impl Filled {
    pub(super) fn fulfil(
        &mut self,
        run: &RunKey,
        own: &mut Resolved,
        given: Given<'_>,
        stored: &impl Stored,
    ) -> Result<SlotResult, StoreError> {
        let (reference, operation) = (given.reference.clone(), given.reference.number);
        let to = RunKey::new(run.namespace.clone(), reference.run.clone());
        let target = match self.target(run, own, &to, stored) {
            Ok(Some((target, _))) => target,
            Ok(None) => {
                let failure = FulfilFailure::RunNotFound { reference };
                return Ok(SlotResult::NotFulfilled(failure));
            }
            Err(error) => return not_readable(reference, error),
        };
        let offer = match target.offers.get(&operation) {
            Some(offer) => Some(offer.clone()),
            None => match stored.offer(&to, operation) {
                Ok(offer) => offer,
                Err(error) => return not_readable(reference, error),
            },
        };
        let deliver = Deliver {
            run: to.clone(),
            observation: Observation::StubFulfilled {
                operation,
                value: given.value.clone(),
                key: Some(given.key),
            },
            at: given.at,
            tasks: Vec::new(),
            key: None,
            stub: Some(given.stub.to_owned()),
        };
        let digest = given.value.digest();
        match offers::fulfil(Some(&target.head), offer, operation, digest, &deliver) {
            Ok(Fulfilment::Known(delivered)) => Ok(SlotResult::Fulfilled(receipt(delivered))),
            Ok(Fulfilment::New {
                resolved,
                delivered,
            }) => {
                let rows = put(target, *resolved);
                self.tell(run, &to, rows, delivered);
                Ok(SlotResult::Fulfilled(receipt(delivered)))
            }
            Err(StoreError::Refused(refusal)) => not_fulfilled(reference, &target.head, refusal),
            Err(error) => not_readable(reference, error),
        }
    }
}

fn not_fulfilled(
    reference: OperationId,
    head: &Head,
    refusal: Refusal,
) -> Result<SlotResult, StoreError> {
    let failure = match refusal {
        Refusal::Finished { .. } => FulfilFailure::Purged { reference },
        Refusal::NoSuchOffer { .. } => FulfilFailure::NoSuchOperation { reference },
        Refusal::NotAnOffer { .. } => FulfilFailure::NotAStub { reference },
        Refusal::OtherOffer(other) => FulfilFailure::OtherStub {
            reference,
            is: other.name,
            given: other.given,
        },
        Refusal::OfferTaken(taken) => FulfilFailure::Conflict {
            reference,
            stub: taken.name,
        },
        Refusal::OfferClosed(closed) => FulfilFailure::Closed {
            reference,
            stub: closed.name,
            at: closed.at,
            end: head.status.is_finished().then(|| end_of(head)),
        },
        other => return Err(StoreError::Refused(other)),
    };
    Ok(SlotResult::NotFulfilled(failure))
}

fn not_readable(reference: OperationId, error: StoreError) -> Result<SlotResult, StoreError> {
    let problem = unreadable(error)?;
    let failure = FulfilFailure::Unreadable { reference, problem };
    Ok(SlotResult::NotFulfilled(failure))
}
