//! Lists of what runs wait for from outside.

use std::sync::Arc;

use perennial::history::Decision;
use perennial::value::{Digest, Value};
use perennial::{Namespace, OperationId, RunId, RunKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::read;
use crate::engine::Shared;
use crate::error::ReadError;
use crate::store::export::hex;
use crate::store::{Offer, OfferState, Store, StoreError};

/// A list of the offers of a run, to be narrowed and then asked for page by page. See
/// [`Client::offers`](super::Client::offers).
#[derive(Clone, Debug)]
#[must_use = "a list is read with `page`"]
pub struct ListOffers {
    shared: Arc<Shared>,
    run: RunKey,
    after: u64,
    limit: usize,
    open: bool,
}

/// A list of what all runs of a namespace wait for from outside. See [`Client::waiting`](super::Client::waiting).
#[derive(Clone, Debug)]
#[must_use = "a list is read with `page`"]
pub struct ListWaiting {
    shared: Arc<Shared>,
    namespace: Namespace,
    after: Option<OperationId>,
    limit: usize,
}

/// A page of offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OfferPage {
    /// The offers, in the order of the runs' ids and then of the operations.
    pub offers: Vec<OfferInfo>,
    /// Whether there are more after the last of them.
    pub more: bool,
}

/// A call of a stub: something that a run waits for, or has waited for, from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OfferInfo {
    /// The run.
    pub run: RunKey,
    /// What [`Client::fulfil`](super::Client::fulfil) takes, in the namespace of the run.
    pub reference: OperationId,
    /// The name of the stub.
    pub stub: String,
    /// What the run said with it: the argument of the stub, `null` where it has none, or a list of them. `None` where
    /// the run's history cannot be read there; as JSON the field is left out then.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub input: Option<Value>,
    /// When it was offered.
    pub since: Timestamp,
    /// How long it is: from then on nobody can complete it. `None`: as long as the run waits.
    pub deadline: Option<Timestamp>,
    /// What has become of it.
    pub state: OfferStatus,
}

/// What has become of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OfferStatus {
    /// The run waits for a value.
    Open,
    /// It was given one. The run has taken it, or takes it in its turn.
    Fulfilled {
        /// When.
        at: Timestamp,
        /// The number of that in the run: [`Receipt::number`](super::Receipt::number).
        number: u64,
        /// The digest of the value's canonical form.
        #[serde(with = "hex")]
        digest: Digest,
    },
    /// It was given none, and takes none any more: the run dropped it or has ended.
    Closed {
        /// When.
        at: Timestamp,
    },
}

/// How many offers a page has where nothing else is asked for.
const PAGE: usize = 100;
/// How many it may have.
const MOST: usize = 10_000;

impl ListOffers {
    pub(super) fn new(shared: Arc<Shared>, run: RunKey) -> Self {
        Self {
            shared,
            run,
            after: 0,
            limit: PAGE,
            open: false,
        }
    }

    /// Only offers of later operations: the next ones after a page that ended with this one.
    pub fn after(mut self, operation: u64) -> Self {
        self.after = operation;
        self
    }

    /// At most so many offers a page: 1 to 10,000. Default: 100.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit.clamp(1, MOST);
        self
    }

    /// Only what the run waits for now.
    pub fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// Reads the page. Offers of earlier generations are among them as long as those are kept.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub async fn page(&self) -> Result<OfferPage, ReadError> {
        let Self {
            shared,
            run,
            after,
            limit,
            open,
        } = self.clone();
        read(&shared, move |shared| {
            let store = &*shared.store;
            let Some(head) = store.head(&run)? else {
                return Err(ReadError::NotFound { run });
            };
            if let Some(purged) = head.purged {
                let at = purged.at;
                return Err(ReadError::Purged { run, at });
            }
            let (mut found, mut after) = (Vec::new(), after);
            // One more, to know whether there are more.
            while found.len() <= limit {
                let page = store.offers(&run, after, PAGE.max(limit + 1))?;
                let Some(last) = page.last() else { break };
                after = last.operation;
                found.extend(page.into_iter().filter(|offer| !open || offer.is_open()));
            }
            let more = found.len() > limit;
            found.truncate(limit);
            let offers = found.into_iter().map(|offer| info(store, &run, offer));
            let offers = offers.collect::<Result<_, _>>()?;
            Ok(OfferPage { offers, more })
        })
        .await
    }
}

impl ListWaiting {
    pub(super) fn new(shared: Arc<Shared>, namespace: Namespace) -> Self {
        Self {
            shared,
            namespace,
            after: None,
            limit: PAGE,
        }
    }

    /// Only what comes after this one: the next ones after a page that ended with it.
    pub fn after(mut self, reference: OperationId) -> Self {
        self.after = Some(reference);
        self
    }

    /// At most so many a page: 1 to 10,000. Default: 100.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit.clamp(1, MOST);
        self
    }

    /// Reads the page. It takes a look at open offers alone, however many runs and offers there were.
    ///
    /// # Errors
    ///
    /// [`ReadError::Unavailable`].
    pub async fn page(&self) -> Result<OfferPage, ReadError> {
        let Self {
            shared,
            namespace,
            after,
            limit,
        } = self.clone();
        read(&shared, move |shared| {
            let after = after.as_ref().map(|after| (&after.run, after.number));
            Ok(OfferPage::waiting(
                &*shared.store,
                &namespace,
                after,
                limit,
            )?)
        })
        .await
    }
}

impl OfferPage {
    /// What the runs of a namespace wait for, as a store has it that nobody else need have open: what
    /// [`Client::waiting`](super::Client::waiting) gives while a program has. `after`: a run and the number of an
    /// operation of it.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    pub fn waiting(
        store: &dyn Store,
        namespace: &Namespace,
        after: Option<(&RunId, u64)>,
        limit: usize,
    ) -> Result<Self, StoreError> {
        let mut waiting = store.waiting(namespace, after, limit.saturating_add(1))?;
        let more = waiting.len() > limit;
        waiting.truncate(limit);
        let offers = waiting.into_iter().map(|waiting| {
            let run = RunKey::new(namespace.clone(), waiting.run);
            info(store, &run, waiting.offer)
        });
        let offers = offers.collect::<Result<_, _>>()?;
        Ok(Self { offers, more })
    }
}

/// A value that is there, `null` too.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

fn info(store: &dyn Store, run: &RunKey, offer: Offer) -> Result<OfferInfo, StoreError> {
    let input = input(store, run, &offer)?;
    Ok(OfferInfo::new(run, offer, input))
}

impl OfferInfo {
    pub(crate) fn new(run: &RunKey, offer: Offer, input: Option<Value>) -> Self {
        let Offer {
            operation,
            name,
            at: since,
            deadline,
            state,
            ..
        } = offer;
        Self {
            run: run.clone(),
            reference: OperationId {
                run: run.id.clone(),
                number: operation,
            },
            stub: name,
            input,
            since,
            deadline,
            state: match state {
                OfferState::Open => OfferStatus::Open,
                OfferState::Fulfilled {
                    digest,
                    at,
                    arrival,
                } => OfferStatus::Fulfilled {
                    at,
                    number: arrival,
                    digest,
                },
                OfferState::Closed { at, .. } => OfferStatus::Closed { at },
            },
        }
    }
}

/// What the run said with it. A history that cannot be read there hides nothing else: who waits has to be seen.
fn input(store: &dyn Store, run: &RunKey, offer: &Offer) -> Result<Option<Value>, StoreError> {
    match said(store, run, offer) {
        Ok(input) => Ok(Some(input)),
        Err(StoreError::Damaged { .. } | StoreError::Gap { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The same where it has to be read.
pub(super) fn said(store: &dyn Store, run: &RunKey, offer: &Offer) -> Result<Value, StoreError> {
    let units = store.history(run, offer.generation, offer.unit, 1)?;
    let decisions = units.into_iter().flat_map(|unit| unit.decisions);
    let mut calls = decisions.filter_map(|decision| match decision {
        Decision::StubOffered {
            operation, input, ..
        } if operation == offer.operation => Some(input),
        _ => None,
    });
    calls.next().ok_or_else(|| StoreError::Gap {
        run: run.clone(),
        expected: offer.unit,
        found: None,
    })
}
