//! Calls of stubs: what is waited for, and values for it.

use std::path::Path;

use perennial::history::{Decision, Observation};
use perennial::value::Value;
use perennial::{Namespace, OperationId, RunKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::error::AskError;
use super::refused::Refused;
use super::room::{size, within_room};
use super::serve::wait;
use crate::client::{self, Ended, FulfilError, OfferInfo, OfferPage, Receipt};
use crate::store::export::{self, Content, Step};
use crate::store::{Deliver, Head, MAX_NAME_BYTES, Offer, Refusal, Status, Store, StoreError};

/// A value for a call of a stub: see [`Client::fulfil_json`](crate::Client::fulfil_json).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fulfil {
    /// The run.
    pub run: RunKey,
    /// The number of the operation.
    pub operation: u64,
    /// The name of the stub that it calls.
    pub stub: String,
    /// The value.
    pub value: Value,
}

/// What the runs of a namespace wait for from people: see [`Client::waiting`](crate::Client::waiting).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListWaiting {
    /// In which namespace.
    pub namespace: Namespace,
    /// Only what comes after this one: the last of the page before.
    pub after: Option<OperationId>,
    /// At most so many; 0: 100.
    pub limit: usize,
}

impl Fulfil {
    pub(super) fn reference(&self) -> OperationId {
        OperationId {
            run: self.run.id.clone(),
            number: self.operation,
        }
    }
}

/// Refuses a name that is longer than a stub's can be.
pub(super) fn check_stub(name: &str) -> Result<(), Refused> {
    if name.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    let text = format!(
        "nothing was completed, since a text of {} bytes is no name of a stub\n\n\
         help: a name has at most {MAX_NAME_BYTES}",
        name.len()
    );
    Err(Refused::new(Refused::INVALID_NAME, text))
}

/// Puts a value into the queue of a run that nobody has: the next program that is started tells it to the run.
pub(super) fn fulfil(
    store: &dyn Store,
    fulfil: Fulfil,
    now: Timestamp,
) -> Result<Receipt, Refused> {
    let reference = fulfil.reference();
    let Fulfil {
        run,
        operation,
        stub,
        value,
    } = fulfil;
    let deliver = Deliver {
        run: run.clone(),
        observation: Observation::StubFulfilled {
            operation,
            value,
            key: None,
        },
        at: now,
        tasks: Vec::new(),
        stub: Some(stub),
        key: None,
    };
    let error = match wait(|ack| store.deliver(deliver, ack)) {
        Ok(delivered) => return Ok(delivered.into()),
        Err(StoreError::Refused(Refusal::OfferClosed(closed))) => FulfilError::Closed {
            reference,
            stub: closed.name,
            at: closed.at,
            ended: ended(store.head(&run)?),
        },
        Err(StoreError::Refused(refusal)) => FulfilError::of(reference, refusal),
        Err(error) => FulfilError::lost(reference, error.into()),
    };
    Err(error.into())
}

fn ended(head: Option<Head>) -> Option<Ended> {
    let head = head?;
    Some(Ended {
        status: head.status,
        at: head.finished?,
    })
}

impl From<FulfilError> for Refused {
    fn from(error: FulfilError) -> Self {
        let code = match &error {
            FulfilError::InvalidReference(_)
            | FulfilError::OtherRun { .. }
            | FulfilError::NoSuchOperation { .. } => Self::NO_SUCH_OPERATION,
            FulfilError::RunNotFound { .. } => Self::RUN_NOT_FOUND,
            FulfilError::Purged { .. } => Self::RUN_PURGED,
            FulfilError::NotAStub { .. } => Self::NOT_A_STUB,
            FulfilError::OtherStub { .. } => Self::OTHER_STUB,
            FulfilError::WrongType { .. } => Self::WRONG_TYPE,
            FulfilError::Conflict { .. } => Self::VALUE_CONFLICT,
            FulfilError::Closed {
                ended: Some(ended), ..
            } if ended.status == Status::Migrated => Self::RUN_MIGRATED,
            FulfilError::Closed { ended: Some(_), .. } => Self::RUN_FINISHED,
            FulfilError::Closed { .. } => Self::OFFER_CLOSED,
            FulfilError::TooLarge { .. } => Self::PAYLOAD_TOO_LARGE,
            FulfilError::Unstorable { .. } => Self::UNSTORABLE,
            FulfilError::Unacknowledged { .. } => Self::UNACKNOWLEDGED,
            FulfilError::Unavailable(_) => Self::UNAVAILABLE,
        };
        Self::new(code, error)
    }
}

/// A page of what runs wait for.
pub(super) fn waiting(store: &dyn Store, list: &ListWaiting) -> Result<OfferPage, StoreError> {
    let ListWaiting {
        namespace,
        after,
        limit,
    } = list;
    let after = after.as_ref().map(|after| (&after.run, after.number));
    let page = OfferPage::waiting(store, namespace, after, client::page_limit(*limit))?;
    Ok(cut(page))
}

/// What one run waits for.
pub(super) fn of_run(
    store: &dyn Store,
    run: &RunKey,
    head: &Head,
) -> Result<Vec<OfferInfo>, StoreError> {
    let open = usize::try_from(head.inbox.offers).unwrap_or(usize::MAX);
    if open == 0 {
        return Ok(Vec::new());
    }
    let after = Some((&run.id, 0));
    let mut page = OfferPage::waiting(store, &run.namespace, after, open.min(MOST))?;
    page.offers.retain(|offer| offer.run == *run);
    Ok(within_room(page.offers, size))
}

/// So many calls of stubs of one run are shown.
const MOST: usize = 1_000;

/// Of a page what an answer has room for.
fn cut(page: OfferPage) -> OfferPage {
    let OfferPage { offers, mut more } = page;
    let all = offers.len();
    let offers = within_room(offers, size);
    more |= offers.len() < all;
    OfferPage { offers, more }
}

/// What the runs of an export wait for. It is read to its end.
pub(super) fn waiting_in_export(path: &Path, list: &ListWaiting) -> Result<OfferPage, AskError> {
    let ListWaiting {
        namespace,
        after,
        limit,
    } = list;
    let limit = client::page_limit(*limit);
    let mut reader = export::open(path)?;
    let mut page = OfferPage::default();
    // A run that is withdrawn does not count, so a run counts at its end.
    let mut open: Option<OpenRun> = None;
    loop {
        match reader.step()? {
            Step::Line(run, Content::Head(head)) => {
                let wanted = run.namespace == *namespace && head.inbox.offers > 0 && !page.more;
                open = wanted.then(|| OpenRun {
                    run,
                    offers: Vec::new(),
                });
            }
            Step::Line(_, Content::Withdrawn) => open = None,
            Step::Line(_, Content::Offer(offer)) if offer.is_open() => {
                if let Some(open) = &mut open {
                    open.offers.push((*offer, None));
                }
            }
            Step::Line(_, Content::Unit(generation, unit)) => {
                if let Some(open) = &mut open {
                    open.said(generation, unit.number, unit.decisions);
                }
            }
            Step::Done => {
                for offer in open.take().into_iter().flat_map(OpenRun::offers) {
                    if after
                        .as_ref()
                        .is_some_and(|after| offer.reference <= *after)
                    {
                        continue;
                    }
                    if page.offers.len() < limit {
                        page.offers.push(offer);
                    } else {
                        page.more = true;
                    }
                }
            }
            Step::End => break,
            Step::Program(_) | Step::Line(..) => {}
        }
    }
    Ok(cut(page))
}

/// A run of an export whose lines are read: what it waits for, and what it said with that.
struct OpenRun {
    run: RunKey,
    offers: Vec<(Offer, Option<Value>)>,
}

impl OpenRun {
    fn said(&mut self, generation: u64, unit: u64, decisions: Vec<Decision>) {
        let here = |offer: &Offer| (offer.generation, offer.unit) == (generation, unit);
        if !self.offers.iter().any(|(offer, _)| here(offer)) {
            return;
        }
        for decision in decisions {
            let Decision::StubOffered {
                operation, input, ..
            } = decision
            else {
                continue;
            };
            let mut offers = self.offers.iter_mut();
            if let Some((_, said)) = offers.find(|(offer, _)| offer.operation == operation) {
                *said = Some(input);
            }
        }
    }

    fn offers(self) -> Vec<OfferInfo> {
        let Self { run, mut offers } = self;
        offers.sort_by_key(|(offer, _)| offer.operation);
        let offers = offers.into_iter();
        offers
            .map(|(offer, said)| OfferInfo::new(&run, offer, said))
            .collect()
    }
}
