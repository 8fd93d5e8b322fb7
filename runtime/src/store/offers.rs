//! Offers: what a run waits for from somebody outside, by operation, and what has become of it (S11, S12).
//!
//! A stub that is called makes an offer in the commit that holds its decision. From then on there is a record of it,
//! as long as the history of its generation is kept:
//!
//! | state | how it comes to that |
//! |---|---|
//! | open | the stub was called |
//! | fulfilled | a value was delivered for it: a row of the run's queue |
//! | closed | the run dropped it, or ended, before a value came |
//!
//! Nothing leads away from the last two. A value counts from its delivery on and not from the unit that takes it: what
//! is in the queue when the run drops the offer or ends stands as fulfilled.

use std::collections::BTreeMap;

use perennial::history::Observation;
use perennial::value::Digest;
use perennial::{RunId, Timestamp};

use super::contract::{Deliver, Head, Queued};
use super::inbox::Delivered;
use super::rules::{self, Resolved};
use super::{OfferClosed, OfferTaken, OtherOffer, Refusal, StoreError};

/// An operation that somebody outside the run completes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The operation's number.
    pub operation: u64,
    /// The generation that made it.
    pub generation: u64,
    /// The number of the first event of the unit that made it, which holds its input.
    pub unit: u64,
    /// The name of the stub.
    pub name: String,
    /// When it was made.
    pub at: Timestamp,
    /// From when on nobody can fulfil it; `None`: as long as the run waits.
    pub deadline: Option<Timestamp>,
    /// What has become of it.
    pub state: OfferState,
}

/// What has become of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfferState {
    /// The run waits for a value.
    Open,
    /// A value was delivered.
    Fulfilled {
        /// The digest of the value's canonical form (S10).
        digest: Digest,
        /// Its stamp.
        at: Timestamp,
        /// Its arrival number.
        arrival: u64,
    },
    /// No value came, and none is taken any more.
    Closed {
        /// When that was.
        at: Timestamp,
        /// The number of the last event of the commit that closed it.
        event: u64,
    },
}

/// A change to a run's offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfferChange {
    /// A stub was called.
    Open {
        /// The operation's number, which no offer of the run has.
        operation: u64,
        /// The number of the first event of the unit that says so.
        unit: u64,
        /// The name of the stub.
        name: String,
        /// When.
        at: Timestamp,
    },
    /// From then on nobody can fulfil it: the run is told that its time is over first.
    Limit {
        /// The operation's number.
        operation: u64,
        /// When.
        deadline: Timestamp,
    },
    /// The run does not wait for it any more. One that was fulfilled stays so.
    Close {
        /// The operation's number.
        operation: u64,
    },
}

/// An offer that is open, of some run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The run.
    pub run: RunId,
    /// What it waits for.
    pub offer: Offer,
}

const NAME: &str = "the name of a stub";

impl Offer {
    /// Whether it waits for a value.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state == OfferState::Open
    }

    /// Whether the run as it is now has it: neither was it purged, nor is it one of a generation that was.
    pub(super) fn is_kept(&self, head: &Head) -> bool {
        head.purged.is_none() && self.generation >= head.kept_from
    }

    /// The offer as it was when the run stood at `head`; `None`: it was not made yet.
    pub(super) fn stood_at(self, head: &Head) -> Option<Self> {
        if (self.generation, self.unit) > (head.generation, head.sequence) {
            return None;
        }
        let later = match self.state {
            OfferState::Open => false,
            OfferState::Fulfilled { arrival, .. } => arrival > head.arrivals,
            OfferState::Closed { event, .. } => {
                (self.generation, event) > (head.generation, head.sequence)
            }
        };
        Some(Self {
            state: if later { OfferState::Open } else { self.state },
            ..self
        })
    }

    /// Whether it stays within its bounds (S15).
    pub(super) fn check(&self) -> Result<(), StoreError> {
        rules::check_name(NAME, &self.name)
    }
}

/// The operation that a row of a queue fulfils, and with what.
pub(crate) fn fulfilled(observation: &Observation) -> Option<(u64, Digest)> {
    match observation {
        Observation::StubFulfilled {
            operation, value, ..
        } => Some((*operation, value.digest())),
        _ => None,
    }
}

pub(super) fn check(changes: &[OfferChange]) -> Result<(), StoreError> {
    for change in changes {
        if let OfferChange::Open { name, .. } = change {
            rules::check_name(NAME, name)?;
        }
    }
    Ok(())
}

/// Where a store looks for what it has of a run's offers.
pub(super) trait Look {
    /// The record of an operation.
    fn offer(&self, operation: u64) -> Result<Option<Offer>, StoreError>;

    /// All that are open.
    fn open(&self) -> Result<Vec<Offer>, StoreError>;
}

/// What a write makes of a run's offers: notes those that are new or have another state, and lets the head count those
/// that are open. `before`: the head as the write found it. This comes before slots are filled.
pub(super) fn change(
    before: Option<&Head>,
    resolved: &mut Resolved,
    changes: &[OfferChange],
    look: &impl Look,
) -> Result<(), StoreError> {
    let head = &mut resolved.head;
    let had_ended = before
        .is_some_and(|before| before.status.is_finished() && before.generation == head.generation);
    let ends = head.status.is_finished() && !had_ended;
    if changes.is_empty() && !(ends && head.inbox.offers > 0) {
        return Ok(());
    }
    let closed = OfferState::Closed {
        at: head.stamp,
        event: head.sequence,
    };
    let mut changed: BTreeMap<u64, Offer> = BTreeMap::new();
    for change in changes {
        match change {
            OfferChange::Open {
                operation,
                unit,
                name,
                at,
            } => {
                let offer = Offer {
                    operation: *operation,
                    generation: head.generation,
                    unit: *unit,
                    name: name.clone(),
                    at: *at,
                    deadline: None,
                    state: OfferState::Open,
                };
                changed.insert(*operation, offer);
                head.inbox.offers += 1;
            }
            OfferChange::Limit {
                operation,
                deadline,
            } => {
                if let Some(mut offer) = find(&changed, *operation, look)? {
                    offer.deadline = Some(*deadline);
                    changed.insert(*operation, offer);
                }
            }
            OfferChange::Close { operation } => {
                let offer = find(&changed, *operation, look)?;
                close(head, &mut changed, offer, closed);
            }
        }
    }
    if ends {
        let mut open: Vec<Offer> = changed.values().cloned().collect();
        let others = look.open()?.into_iter();
        open.extend(others.filter(|offer| !changed.contains_key(&offer.operation)));
        for offer in open {
            close(head, &mut changed, Some(offer), closed);
        }
        head.inbox.offers = 0;
    }
    resolved.offers = changed;
    Ok(())
}

/// An offer as the changes so far leave it.
fn find(
    changed: &BTreeMap<u64, Offer>,
    operation: u64,
    look: &impl Look,
) -> Result<Option<Offer>, StoreError> {
    match changed.get(&operation) {
        Some(offer) => Ok(Some(offer.clone())),
        None => look.offer(operation),
    }
}

fn close(
    head: &mut Head,
    changed: &mut BTreeMap<u64, Offer>,
    offer: Option<Offer>,
    closed: OfferState,
) {
    if let Some(offer) = offer.filter(Offer::is_open) {
        head.inbox.offers = head.inbox.offers.saturating_sub(1);
        let state = closed;
        changed.insert(offer.operation, Offer { state, ..offer });
    }
}

/// What becomes of the delivery of a value for an offer.
#[derive(Debug)]
pub(super) enum Fulfilment {
    /// The offer has that value.
    Known(Delivered),
    /// It has it now.
    New {
        resolved: Box<Resolved>,
        delivered: Delivered,
    },
}

/// `offer`: the record of the operation. Whether the run goes on, is blocked or has ended makes no difference to what
/// is known of it (B3, B7).
pub(super) fn fulfil(
    head: Option<&Head>,
    offer: Option<Offer>,
    operation: u64,
    digest: Digest,
    deliver: &Deliver,
) -> Result<Fulfilment, StoreError> {
    let run = || deliver.run.clone();
    let refuse = |refusal| Err(StoreError::Refused(refusal));
    rules::check_tasks(&deliver.tasks)?;
    let Some(head) = head else {
        return refuse(Refusal::NoRun { run: run() });
    };
    let Some(offer) = offer.filter(|offer| offer.is_kept(head)) else {
        if head.purged.is_some() {
            return refuse(Refusal::Finished { run: run() });
        }
        return refuse(if operation >= head.next_operation {
            Refusal::NoSuchOffer {
                run: run(),
                operation,
            }
        } else {
            Refusal::NotAnOffer {
                run: run(),
                operation,
            }
        });
    };
    if let Some(stub) = deliver.stub.as_ref().filter(|stub| **stub != offer.name) {
        return refuse(Refusal::OtherOffer(Box::new(OtherOffer {
            run: run(),
            operation,
            name: offer.name,
            given: stub.clone(),
        })));
    }
    let at = head.stamp.max(deliver.at);
    let closed = |closed| {
        refuse(Refusal::OfferClosed(Box::new(OfferClosed {
            run: run(),
            operation,
            name: offer.name.clone(),
            at: closed,
        })))
    };
    match offer.state {
        OfferState::Fulfilled {
            digest: known,
            at,
            arrival,
        } if known == digest => Ok(Fulfilment::Known(Delivered {
            arrival,
            at,
            duplicate: true,
            wakes: false,
        })),
        OfferState::Fulfilled { digest: known, .. } => {
            refuse(Refusal::OfferTaken(Box::new(OfferTaken {
                run: run(),
                operation,
                name: offer.name,
                known,
                given: digest,
            })))
        }
        OfferState::Closed { at, .. } => closed(at),
        OfferState::Open => match offer.deadline {
            // The run is told that its time is over before it is told of what comes now (S2).
            Some(deadline) if deadline <= at => closed(deadline),
            _ => {
                let mut head = head.clone();
                head.stamp = at;
                head.inbox.offers = head.inbox.offers.saturating_sub(1);
                let row = rules::enqueue(&mut head, &deliver.observation);
                Ok(taken(offer, digest, head, row))
            }
        },
    }
}

fn taken(offer: Offer, digest: Digest, head: Head, row: Queued) -> Fulfilment {
    let (arrival, at) = (row.arrival, row.at);
    let delivered = Delivered {
        arrival,
        at,
        duplicate: false,
        wakes: true,
    };
    let state = OfferState::Fulfilled {
        digest,
        at,
        arrival,
    };
    Fulfilment::New {
        resolved: Box::new(Resolved {
            rows: vec![row],
            offers: BTreeMap::from([(offer.operation, Offer { state, ..offer })]),
            ..Resolved::of(head)
        }),
        delivered,
    }
}
