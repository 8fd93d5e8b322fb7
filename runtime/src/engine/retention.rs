//! Purging finished runs when their time is over (S26): first what is beside their heads, and the heads when
//! nobody needs to know their ids any more.
//!
//! It is done by the thread that waits, and by an alarm: the store lists finished runs in the order of their
//! ends, so the first of a list says when there is something to do next. One slice of one run is under way at
//! a time, and the next is handed over when that is durable; so runs are held up by a slice at most.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use perennial::Timestamp;

use super::Shared;
use super::timers::TimerMessage;
use crate::store::{FinishedRun, Head, Keep, Progress, Purge, Remains, StoreError};

/// How many runs are read from a list at a time.
const PAGE: usize = 100;
/// How many records go in a slice.
pub(crate) const SLICE: usize = 500;

/// The state of it.
#[derive(Debug)]
pub(super) struct Retention {
    shared: Arc<Shared>,
    lists: Vec<List>,
    under_way: Option<UnderWay>,
}

/// A list of finished runs that are to go.
#[derive(Debug)]
struct List {
    remains: Remains,
    /// How long they are kept, from the time by which they are listed.
    kept: Duration,
    keep: Keep,
    /// When there is something to do; `None`: not in this process's life, as far as is known.
    rings: Option<Instant>,
}

/// What is being done about one list.
#[derive(Debug)]
struct UnderWay {
    list: usize,
    /// Runs that are still to be looked at.
    page: VecDeque<FinishedRun>,
    /// The last that was looked at.
    last: Option<FinishedRun>,
    /// The slice that was handed over.
    purge: Option<Purge>,
}

impl Retention {
    /// Looks at once at what the process before has left.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let list = |remains, kept, keep| List {
            remains,
            kept,
            keep,
            rings: Some(Instant::now()),
        };
        let settings = &shared.settings;
        let whole = settings
            .retention
            .map(|kept| list(Remains::Whole, kept, Keep::Head));
        let heads = list(Remains::Head, settings.keep_ids, Keep::Nothing);
        Self {
            lists: whole.into_iter().chain([heads]).collect(),
            shared,
            under_way: None,
        }
    }

    /// When there is something to do next.
    pub(super) fn rings(&self) -> Option<Instant> {
        if self.under_way.is_some() {
            return None;
        }
        self.lists.iter().filter_map(|list| list.rings).min()
    }

    /// A run came into a list with this time.
    pub(super) fn note(&mut self, remains: Remains, at: Timestamp) {
        let list = self.lists.iter().position(|list| list.remains == remains);
        if let Some(list) = list {
            self.set(list, at);
        }
    }

    fn set(&mut self, list: usize, at: Timestamp) {
        let list = &mut self.lists[list];
        let wait = (at + list.kept).since(self.shared.clock.now());
        let rings = Instant::now().checked_add(wait);
        list.rings = list.rings.into_iter().chain(rings).min();
    }

    /// Begins with a list whose time has come, if nothing is under way.
    pub(super) fn ring(&mut self) {
        let now = Instant::now();
        while self.under_way.is_none() {
            let due = |list: &List| list.rings.is_some_and(|rings| rings <= now);
            let Some(list) = self.lists.iter().position(due) else {
                return;
            };
            self.lists[list].rings = None;
            if self.shared.is_draining() {
                continue;
            }
            self.under_way = Some(UnderWay {
                list,
                page: VecDeque::new(),
                last: None,
                purge: None,
            });
            self.go_on();
        }
    }

    /// The store has answered a slice.
    pub(super) fn purged(&mut self, result: Result<Progress, StoreError>) {
        let Some(under_way) = &mut self.under_way else {
            return;
        };
        let Some(purge) = under_way.purge.take() else {
            return;
        };
        match result {
            Ok(Progress::More) => return self.hand_over(purge),
            Ok(Progress::Done) => {
                tracing::debug!(run = %purge.run, keep = ?purge.keep, "purged");
                if purge.keep == Keep::Head {
                    self.note(Remains::Head, purge.at);
                }
            }
            // It has begun anew, or has activities that have not ended: whatever ends it says so.
            Err(StoreError::Refused(refusal)) => tracing::debug!("not purged: {refusal}"),
            Err(error @ (StoreError::Damaged { .. } | StoreError::Gap { .. })) => {
                tracing::warn!(run = %purge.run, "the run cannot be purged: {error}");
            }
            Err(error) => return self.stop(&error),
        }
        self.go_on();
    }

    /// Hands over the first slice of the next run that has to go, or sets the alarm for it.
    fn go_on(&mut self) {
        match self.next() {
            Ok(Some(purge)) => self.hand_over(purge),
            Ok(None) => self.under_way = None,
            Err(error) => self.stop(&error),
        }
    }

    fn hand_over(&mut self, purge: Purge) {
        if let Some(under_way) = &mut self.under_way {
            under_way.purge = Some(purge.clone());
        }
        let told = Arc::clone(&self.shared);
        let ack = Box::new(move |result| told.timer(TimerMessage::Purged(result)));
        self.shared.store.purge(purge, ack);
    }

    /// The store is closed or failing, which others say louder.
    fn stop(&mut self, error: &StoreError) {
        tracing::warn!("finished runs are not purged any more in this process: {error}");
        self.under_way = None;
        self.lists.clear();
    }

    fn next(&mut self) -> Result<Option<Purge>, StoreError> {
        let Some(UnderWay {
            list, page, last, ..
        }) = &mut self.under_way
        else {
            return Ok(None);
        };
        let store = &self.shared.store;
        let List {
            remains,
            kept,
            keep,
            ..
        } = self.lists[*list];
        let now = self.shared.clock.now();
        // A page is read up to here and not further.
        let before = (now - kept) + Duration::from_millis(1);
        loop {
            if self.shared.is_draining() {
                return Ok(None);
            }
            if page.is_empty() {
                page.extend(store.finished(remains, before, last.as_ref(), PAGE)?);
            }
            let Some(run) = page.pop_front() else { break };
            let head = store.head(&run.run);
            let purge = match head {
                Ok(head) => head.map(|head| slice(&run, &head, keep, now)),
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::warn!(run = %run.run, "the run cannot be purged: {error}");
                    None
                }
                Err(error) => return Err(error),
            };
            *last = Some(run);
            if purge.is_some() {
                return Ok(purge);
            }
        }
        let first = store.finished(remains, Timestamp::MAX, last.as_ref(), 1)?;
        let list = *list;
        if let Some(first) = first.first() {
            self.set(list, first.at);
        }
        Ok(None)
    }
}

fn slice(run: &FinishedRun, head: &Head, keep: Keep, at: Timestamp) -> Purge {
    Purge {
        run: run.run.clone(),
        generation: head.generation,
        sequence: head.sequence,
        keep,
        at,
        limit: SLICE,
    }
}
