//! Putting runs back as an export holds them.
//!
//! A run comes in parts: its kept histories from the first generation on, each in as many parts as one
//! likes, the keys that it knows and its offers, before or among those, and at last all that is beside them, which makes
//! it visible. Until then there is no such run, and none can be made under its name. A restore that was interrupted can go on where it stood, or is
//! [given up](Restore::GiveUp) and begun again.
//!
//! Restored heads and tasks name owners of the store that they came from. Those that
//! [enroll](super::Store::enroll) afterwards get greater numbers; one that enrolled before may be taken for
//! one of them, so a store is filled before anybody works on it.

use std::collections::BTreeSet;

use perennial::RunKey;
use perennial::history::Unit;

use super::contract::{Head, Loaded};
use super::inbox::{Inbox, KeyRecord};
use super::offers::{Offer, OfferState};
use super::stream::{self, StreamRange};
use super::tasks::AttemptRecord;
use super::{Refusal, Status, StoreError, rules, view};

/// A part of a run that is put back.
#[derive(Clone, Debug, PartialEq)]
pub enum Restore {
    /// Some of a generation's history and attempts: those that follow on what was restored before.
    History {
        /// The run.
        run: RunKey,
        /// The generation: that of the part before, or the one after it if that had an `end`.
        generation: u64,
        /// Units that follow on those of the parts before.
        units: Vec<Unit>,
        /// Attempts, in the order in which they were recorded.
        attempts: Vec<AttemptRecord>,
        /// This is the last part of a generation that another one follows: the number of its last event.
        end: Option<u64>,
    },
    /// Some of the sends that the run knows by their keys, in the order of their arrival.
    Keys {
        /// The run.
        run: RunKey,
        /// Keys that follow on those of the parts before, as [`Store::keys`](super::Store::keys) gave them.
        keys: Vec<KeyRecord>,
    },
    /// Some of the run's offers, in the order of their operations.
    Offers {
        /// The run.
        run: RunKey,
        /// Offers that follow on those of the parts before, as [`Store::offers`](super::Store::offers) gave them.
        offers: Vec<Offer>,
    },
    /// All that is beside the histories. It makes the run visible, and is refused unless they are there.
    Run {
        /// The run.
        run: RunKey,
        /// What [`Store::load`](super::Store::load) gave.
        loaded: Box<Loaded>,
    },
    /// Takes away what was restored so far of a run that is not whole, in slices. Nothing is refused where
    /// there is nothing.
    GiveUp {
        /// The run.
        run: RunKey,
    },
}

impl Restore {
    /// The run.
    #[must_use]
    pub fn run(&self) -> &RunKey {
        match self {
            Self::History { run, .. }
            | Self::Keys { run, .. }
            | Self::Offers { run, .. }
            | Self::Run { run, .. }
            | Self::GiveUp { run } => run,
        }
    }
}

/// How far the restore of a run is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Restoring {
    /// The first generation that has a history.
    pub(super) first: u64,
    /// The last one so far; 0: none has begun.
    pub(super) generation: u64,
    /// The last event of that.
    pub(super) sequence: u64,
    /// It has all its events.
    pub(super) ended: bool,
    /// It is being given up.
    pub(super) given_up: bool,
    /// How many keys it has.
    pub(super) keys: u64,
    /// The arrival of the first of them.
    pub(super) first_key: u64,
    /// The arrival of the last of them.
    pub(super) last_key: u64,
    /// The last event by which one of them was accepted; 0: none is of an update.
    pub(super) last_update: u64,
    /// The streams of which its histories have items.
    pub(super) streams: Vec<StreamRange>,
    /// Its offers so far.
    pub(super) offers: RestoredOffers,
}

/// The offers of a run that is restored, as far as its head has to fit them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RestoredOffers {
    /// How many of them are open.
    pub(super) open: u64,
    /// The operation of the last of them; 0: there is none.
    pub(super) last: u64,
    /// The generation of the first.
    pub(super) first_generation: u64,
    /// The generation of the last.
    pub(super) last_generation: u64,
    /// The greatest arrival of those that were fulfilled.
    pub(super) arrival: u64,
}

/// Numbers beyond this come from no store, and counting on from them would overflow.
const MOST: u64 = u64::MAX / 2;

fn refused<T>(refusal: Refusal) -> Result<T, StoreError> {
    Err(StoreError::Refused(refusal))
}

fn absent(run: &RunKey, exists: bool, so_far: Option<&Restoring>) -> Result<(), StoreError> {
    let run = || run.clone();
    if exists {
        return refused(Refusal::Exists { run: run() });
    }
    if so_far.is_some_and(|restoring| restoring.given_up) {
        return refused(Refusal::Restoring { run: run() });
    }
    Ok(())
}

/// How far the restore is with a part of a history. `exists` says whether there is such a run.
pub(super) fn history(
    run: &RunKey,
    exists: bool,
    so_far: Option<&Restoring>,
    generation: u64,
    units: &[Unit],
    end: Option<u64>,
) -> Result<Restoring, StoreError> {
    absent(run, exists, so_far)?;
    let begun = |first| Restoring {
        first,
        generation,
        sequence: 0,
        ended: false,
        ..so_far.cloned().unwrap_or_default()
    };
    let first = so_far.is_none_or(|so_far| so_far.generation == 0);
    let current = so_far.map_or((0, 0), |so_far| (so_far.generation, so_far.sequence));
    let moved = |sequence| {
        refused(Refusal::Moved {
            run: run.clone(),
            given: (generation, sequence),
            current,
        })
    };
    let before_first = || {
        let first = units.first().map_or(0, |unit| unit.number);
        moved(first.saturating_sub(1))
    };
    let mut now = match so_far {
        _ if first && (1..=MOST).contains(&generation) => begun(generation),
        Some(so_far) if so_far.generation == generation && !so_far.ended => so_far.clone(),
        Some(so_far) if so_far.ended && so_far.generation + 1 == generation => begun(so_far.first),
        _ => return before_first(),
    };
    for unit in units {
        if unit.number != now.sequence + 1 {
            return moved(unit.number.saturating_sub(1));
        }
        now.sequence = unit.last();
        if now.sequence > MOST {
            return moved(now.sequence);
        }
        stream::count(run, &mut now.streams, unit)?;
    }
    if let Some(end) = end {
        if end != now.sequence {
            return moved(end);
        }
        now.ended = true;
    }
    Ok(now)
}

/// How far the restore is with some keys.
pub(super) fn keys(
    run: &RunKey,
    exists: bool,
    so_far: Option<&Restoring>,
    keys: &[KeyRecord],
) -> Result<Restoring, StoreError> {
    absent(run, exists, so_far)?;
    let mut now = so_far.cloned().unwrap_or_default();
    for record in keys {
        record.check()?;
        if record.arrival <= now.last_key {
            return inconsistent(run, "keys that are not in the order of their arrival");
        }
        if now.keys == 0 {
            now.first_key = record.arrival;
        }
        now.keys += 1;
        now.last_key = record.arrival;
        now.last_update = now.last_update.max(record.event.unwrap_or_default());
    }
    Ok(now)
}

/// How far the restore is with some offers.
pub(super) fn offers(
    run: &RunKey,
    exists: bool,
    so_far: Option<&Restoring>,
    given: &[Offer],
) -> Result<Restoring, StoreError> {
    absent(run, exists, so_far)?;
    let mut now = so_far.cloned().unwrap_or_default();
    let offers = &mut now.offers;
    for offer in given {
        offer.check()?;
        if offer.operation <= offers.last || offer.generation < offers.last_generation {
            return inconsistent(run, "offers that are not in the order of their operations");
        }
        if offers.last == 0 {
            offers.first_generation = offer.generation;
        }
        (offers.last, offers.last_generation) = (offer.operation, offer.generation);
        match offer.state {
            OfferState::Open => offers.open += 1,
            OfferState::Fulfilled { arrival, .. } => offers.arrival = offers.arrival.max(arrival),
            OfferState::Closed { .. } => {}
        }
    }
    Ok(now)
}

/// What a restore of two sends with one key is refused with.
pub(super) fn two_of_one_key<T>(run: &RunKey) -> Result<T, StoreError> {
    inconsistent(run, "two sends of one key")
}

fn inconsistent<T>(run: &RunKey, problem: &'static str) -> Result<T, StoreError> {
    refused(Refusal::Inconsistent {
        run: run.clone(),
        problem,
    })
}

/// Whether all histories are there that the rest of a run speaks of, and it fits together.
pub(super) fn finish(
    run: &RunKey,
    exists: bool,
    so_far: Option<&Restoring>,
    loaded: &Loaded,
) -> Result<(), StoreError> {
    absent(run, exists, so_far)?;
    check(run, loaded)?;
    let head = &loaded.head;
    let keys = so_far.cloned().unwrap_or_default();
    let mut kept = keys.streams.iter();
    let has_items = |stream: &StreamRange| stream.first <= stream.last;
    let named = head.streams.iter().filter(|stream| has_items(stream));
    if named.clone().count() != keys.streams.len() || !kept.all(|kept| head.streams.contains(kept))
    {
        return inconsistent(run, "other items of streams than its head says");
    }
    if keys.keys != head.inbox.keys {
        return inconsistent(run, "another number of keys than its head says");
    }
    if keys.keys > 0 && (keys.first_key <= head.inbox.keys_after || keys.last_key > head.arrivals) {
        return inconsistent(run, "keys of sends that are not its own");
    }
    if keys.last_update > head.sequence {
        return inconsistent(run, "the key of an update that its history does not have");
    }
    let offers = keys.offers;
    if offers.open != head.inbox.offers {
        return inconsistent(run, "another number of open offers than its head says");
    }
    let generations = head.kept_from..=head.generation;
    if offers.last > 0
        && !(generations.contains(&offers.first_generation)
            && generations.contains(&offers.last_generation)
            && offers.last < head.next_operation
            && offers.arrival <= head.arrivals)
    {
        return inconsistent(run, "offers that are not its own");
    }
    let given = (head.generation, head.sequence);
    let fits = match so_far.filter(|so_far| so_far.generation > 0) {
        // It was purged, or its first event is in its queue.
        None => head.kept_from > head.generation || (head.kept_from, 0) == given,
        Some(so_far) if so_far.ended => {
            (so_far.first, (so_far.generation + 1, 0)) == (head.kept_from, given)
        }
        Some(so_far) => {
            (so_far.first, (so_far.generation, so_far.sequence)) == (head.kept_from, given)
        }
    };
    if fits {
        return Ok(());
    }
    refused(Refusal::Moved {
        run: run.clone(),
        given,
        current: so_far.map_or((0, 0), |so_far| (so_far.generation, so_far.sequence)),
    })
}

/// The greatest owner in what is restored.
pub(super) fn greatest_owner(loaded: &Loaded) -> u64 {
    let started = loaded.tasks.iter().filter_map(|task| task.started);
    started
        .map(|owner| owner.0)
        .max()
        .unwrap_or(0)
        .max(loaded.head.owner.0)
}

/// Whether a store could have given this out.
fn check(run: &RunKey, loaded: &Loaded) -> Result<(), StoreError> {
    let Loaded {
        head,
        tasks,
        timers,
        queue,
        blocked,
        views,
    } = loaded;
    rules::check_loaded(loaded)?;
    head.inbox.awaited.check()?;
    let Head {
        generation,
        sequence,
        fence,
        arrivals,
        next_operation,
        ..
    } = *head;
    let numbers = [
        generation,
        sequence,
        fence.0,
        arrivals,
        next_operation,
        head.inbox.messages,
        head.inbox.signals,
        head.inbox.keys_after,
        greatest_owner(loaded),
    ];
    let finished = head.status.is_finished();
    let purged = head.purged.is_some();
    let alone = tasks.is_empty()
        && timers.is_empty()
        && queue.is_empty()
        && blocked.is_empty()
        && views.is_empty();
    let problem = if numbers.iter().any(|number| *number > MOST) {
        "a number that no store gives"
    } else if let Some(problem) = stream::problem(&head.streams, MOST) {
        problem
    } else if let Some(problem) = view::problem(&head.views, views) {
        problem
    } else if generation == 0 || next_operation == 0 {
        "a number that begins with 0"
    } else if finished != head.finished.is_some() {
        "a status that does not fit the time of its end"
    } else if (head.status == Status::Migrated) != head.migrated_to.is_some() {
        "a status that does not fit the run that it was moved to"
    } else if !(1..=generation + 1).contains(&head.kept_from)
        || purged != (head.kept_from > generation)
    {
        "generations that are kept and purged at once"
    } else if purged && !(finished && alone && head.inbox == Inbox::default()) {
        "something that a purge would have taken"
    } else if finished && head.paused.is_some() {
        "a run that has ended and is paused"
    } else if finished && head.inbox.offers > 0 {
        "open offers that its end would have closed"
    } else if head.blocked == blocked.is_empty() {
        "blocked records that do not fit its head"
    } else if !distinct(tasks.iter().map(|task| task.operation)) {
        "two tasks of one operation"
    } else if !distinct(timers.iter().map(|(operation, _)| *operation)) {
        "two timers of one operation"
    } else if !distinct(queue.iter().map(|row| row.arrival)) {
        "two rows of one arrival number"
    } else if queue.iter().any(|row| row.arrival > arrivals) {
        "a row that has not arrived yet"
    } else if !distinct(blocked.iter().map(|record| &record.artifact)) {
        "two blocked records of one artifact"
    } else {
        return Ok(());
    };
    inconsistent(run, problem)
}

fn distinct<T: Ord>(items: impl Iterator<Item = T>) -> bool {
    let mut seen = BTreeSet::new();
    items.into_iter().all(|item| seen.insert(item))
}
