//! Lists of what a run was sent.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use perennial::history::{Channel, Decision, Observation, Told, Unit};
use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::read;
use crate::engine::Shared;
use crate::error::ReadError;
use crate::store::{Head, Loaded, Store, StoreError};

/// A list of a run's messages, to be narrowed and then asked for page by page. See
/// [`Client::list_messages`](super::Client::list_messages).
#[derive(Clone, Debug)]
#[must_use = "a list is read with `page`"]
pub struct ListMessages {
    shared: Arc<Shared>,
    run: RunKey,
    filter: MessageFilter,
}

/// Which messages of a run.
#[derive(Clone, Debug)]
pub(crate) struct MessageFilter {
    pub(crate) after: Option<u64>,
    pub(crate) before: Option<u64>,
    pub(crate) limit: usize,
    pub(crate) named: Option<String>,
}

/// A page of messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessagePage {
    /// The messages, in the order in which they came.
    pub messages: Vec<MessageInfo>,
    /// Whether there are more in the direction of the page: later ones, or with [`before`](ListMessages::before)
    /// earlier ones.
    pub more: bool,
}

/// A message that a run was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MessageInfo {
    /// Its number in the run: [`Receipt::number`](super::Receipt::number).
    pub number: u64,
    /// Its name.
    pub name: String,
    /// What it says.
    pub payload: Value,
    /// Its sender's idempotency key.
    pub key: Option<String>,
    /// When it came. Once the run was told of it, this is when that was.
    pub at: Timestamp,
    /// What has become of it.
    pub state: MessageState,
}

/// What has become of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MessageState {
    /// No wait has taken it.
    Pending,
    /// A wait has taken it.
    Consumed {
        /// The operation's number.
        operation: u64,
        /// The number of the event that says so.
        event: u64,
        /// When.
        at: Timestamp,
        /// What is wrong with it, where it is not of the type that the workflow waits for (M37).
        invalid: Option<String>,
    },
    /// The run has ended without it (M42).
    Unread,
}

/// How many messages a page has where nothing else is asked for.
const PAGE: usize = 100;
/// How many it may have.
const MOST: usize = 10_000;

impl ListMessages {
    pub(super) fn new(shared: Arc<Shared>, run: RunKey) -> Self {
        Self {
            shared,
            run,
            filter: MessageFilter {
                after: None,
                before: None,
                limit: PAGE,
                named: None,
            },
        }
    }

    /// Only messages with greater numbers: the next ones after a page that ended with this number.
    pub fn after(mut self, number: u64) -> Self {
        self.filter.after = Some(number);
        self
    }

    /// Only messages with smaller numbers, the last of them: those before a page that began with this number.
    pub fn before(mut self, number: u64) -> Self {
        self.filter.before = Some(number);
        self
    }

    /// At most so many messages a page: 1 to 10,000. Default: 100.
    pub fn limit(mut self, limit: usize) -> Self {
        self.filter.limit = limit.clamp(1, MOST);
        self
    }

    /// Only messages of this name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.filter.named = Some(name.into());
        self
    }

    /// Reads the page, of the run's last generation. What comes meanwhile does not shift the others.
    ///
    /// No more than a page is held in memory. The generation's history is read from its beginning: to where all of the
    /// page have been taken, if there are later ones, and else to its end.
    ///
    /// # Errors
    ///
    /// [`ReadError`]; [`ReadError::BothDirections`] where both [`after`](Self::after) and [`before`](Self::before)
    /// are given (M40).
    pub async fn page(&self) -> Result<MessagePage, ReadError> {
        let Self {
            shared,
            run,
            filter,
        } = self.clone();
        read(&shared, move |shared| page(&*shared.store, &run, &filter)).await
    }
}

/// A page of a run's messages.
pub(crate) fn page(
    store: &dyn Store,
    run: &RunKey,
    filter: &MessageFilter,
) -> Result<MessagePage, ReadError> {
    if filter.after.is_some() && filter.before.is_some() {
        return Err(ReadError::BothDirections);
    }
    let mut page = Page {
        after: filter.after.unwrap_or(0),
        before: filter.before,
        limit: filter.limit,
        named: filter.named.clone(),
        ..Page::default()
    };
    page.read(store, run)?;
    Ok(MessagePage {
        messages: page.messages.into(),
        more: page.more,
    })
}

/// The first messages of a run's last generation, so many.
pub(super) fn first(
    store: &dyn Store,
    run: &RunKey,
    count: usize,
) -> Result<Vec<MessageInfo>, ReadError> {
    let mut page = Page {
        limit: count,
        ..Page::default()
    };
    page.read(store, run)?;
    Ok(page.messages.into())
}

/// What is on a page, as far as it was read.
#[derive(Default)]
struct Page {
    after: u64,
    before: Option<u64>,
    limit: usize,
    named: Option<String>,
    /// In the order of their numbers: a run is told of them in that order, and those in its queue come after those.
    messages: VecDeque<MessageInfo>,
    /// How many of them no wait has taken.
    pending: usize,
    more: bool,
}

impl Page {
    fn read(&mut self, store: &dyn Store, run: &RunKey) -> Result<(), ReadError> {
        let Some(Loaded { head, queue, .. }) = store.load(run)? else {
            return Err(ReadError::NotFound { run: run.clone() });
        };
        if let Some(purged) = head.purged {
            let (run, at) = (run.clone(), purged.at);
            return Err(ReadError::Purged { run, at });
        }
        let not_its_own = not_its_own(store, run, &head)?;
        each_unit(store, run, &head, |unit| {
            if let Observation::MessageArrived(told) = unit.observation
                && !not_its_own.contains(&told.number)
            {
                self.put(told, unit.at);
            }
            for (event, decision) in (unit.number + 1..).zip(unit.decisions) {
                self.take(event, unit.at, decision);
            }
            !self.is_told()
        })?;
        for row in queue {
            if let Observation::MessageArrived(told) = row.observation {
                self.put(told, row.at);
            }
        }
        if head.status.is_finished() {
            let left = self.messages.iter_mut();
            left.filter(|message| message.state == MessageState::Pending)
                .for_each(|message| message.state = MessageState::Unread);
        }
        Ok(())
    }

    /// Whether nothing that follows changes it.
    fn is_told(&self) -> bool {
        self.before.is_none() && self.more && self.pending == 0
    }

    fn put(&mut self, told: Told, at: Timestamp) {
        let is_there = told.number > self.after
            && self.before.is_none_or(|before| told.number < before)
            && self.named.as_ref().is_none_or(|name| *name == told.name);
        if !is_there {
            return;
        }
        if self.messages.len() == self.limit {
            self.more = true;
            // Those before a number are the last of them.
            if self.before.is_none() {
                return;
            }
            let gone = self.messages.pop_front();
            let was_pending = gone.is_some_and(|gone| gone.state == MessageState::Pending);
            self.pending -= usize::from(was_pending);
        }
        self.pending += 1;
        self.messages.push_back(MessageInfo {
            number: told.number,
            name: told.name,
            payload: told.payload,
            key: told.key,
            at,
            state: MessageState::Pending,
        });
    }

    fn take(&mut self, event: u64, at: Timestamp, decision: Decision) {
        let Decision::Received {
            operation,
            channel: Channel::Message,
            number,
            invalid,
        } = decision
        else {
            return;
        };
        let place = self
            .messages
            .binary_search_by_key(&number, |message| message.number);
        if let Ok(place) = place {
            let message = &mut self.messages[place];
            self.pending -= usize::from(message.state == MessageState::Pending);
            message.state = MessageState::Consumed {
                operation,
                event,
                at,
                invalid,
            };
        }
    }
}

/// Of a run that is a fork: the messages in what it has from the other run that no wait has taken. They were told to
/// that one (M43).
fn not_its_own(store: &dyn Store, run: &RunKey, head: &Head) -> Result<BTreeSet<u64>, StoreError> {
    let first = store.history(run, head.generation, 1, 1)?;
    let inherited = match first.first().map(|unit| &unit.observation) {
        Some(Observation::Started(started)) => started.inherited(),
        _ => 0,
    };
    let mut left = BTreeSet::new();
    if inherited == 0 {
        return Ok(left);
    }
    each_unit(store, run, head, |unit| {
        match unit.observation {
            Observation::MessageArrived(told) if unit.number <= inherited => {
                left.insert(told.number);
            }
            _ => {}
        }
        for decision in unit.decisions {
            if let Decision::Received {
                channel: Channel::Message,
                number,
                ..
            } = decision
            {
                left.remove(&number);
            }
        }
        unit.number < inherited || !left.is_empty()
    })?;
    Ok(left)
}

/// The units of a generation up to the event that its head names, one page in memory at a time, for as long as more
/// are wanted.
fn each_unit(
    store: &dyn Store,
    run: &RunKey,
    head: &Head,
    mut each: impl FnMut(Unit) -> bool,
) -> Result<(), StoreError> {
    const PAGE: usize = 1_000;
    let mut next = 1;
    while next <= head.sequence {
        let page = store.history(run, head.generation, next, PAGE)?;
        let Some(last) = page.last() else {
            return Err(StoreError::Gap {
                run: run.clone(),
                expected: next,
                found: None,
            });
        };
        next = last.last() + 1;
        for unit in page {
            if unit.number > head.sequence || !each(unit) {
                return Ok(());
            }
        }
    }
    Ok(())
}
