//! Who looks on from outside, at each moment: at streams, and at a mailbox.

use std::collections::{BTreeMap, BTreeSet};

use perennial::RunKey;
use perennial::history::{Decision, Observation};
use perennial::prelude::*;

use crate::store::{Head, Offer, Store, StoreError};

/// What the mailboxes of all worlds offer. They are kept open until their runs end.
#[stub]
pub(super) async fn inject(cx: &Cx) -> u64;

/// What was seen of the runs of a world.
#[derive(Default)]
pub(super) struct Watch {
    streams: BTreeMap<(RunKey, String), Vec<String>>,
    dropped: BTreeMap<RunKey, Dropped>,
    /// How many events a run had that was paused when it was looked at.
    paused: BTreeMap<RunKey, u64>,
}

/// What a run has dropped.
#[derive(Default)]
struct Dropped {
    /// The last event that was read.
    read: u64,
    operations: BTreeSet<u64>,
}

pub(super) fn text(error: StoreError) -> String {
    error.to_string()
}

impl Watch {
    /// Looks at a run. The error is what must not be seen.
    pub(super) fn look(&mut self, store: &dyn Store, run: &RunKey) -> Result<(), String> {
        let Some(head) = store.head(run).map_err(text)? else {
            return Ok(());
        };
        self.paused(run, &head)?;
        self.read(store, run, &head)?;
        let offers = store.offers(run, 0, usize::MAX).map_err(text)?;
        if offers.is_empty() {
            return Ok(());
        }
        self.dropped(store, run, &head, &offers)?;
        mailbox(store, run, &head, offers)
    }

    /// Nothing is told to a run that is paused (M45).
    fn paused(&mut self, run: &RunKey, head: &Head) -> Result<(), String> {
        if head.paused.is_none() {
            self.paused.remove(run);
            return Ok(());
        }
        let events = *self.paused.entry(run.clone()).or_insert(head.sequence);
        if events == head.sequence {
            return Ok(());
        }
        Err(format!(
            "{run} is paused, had {events} events, and has {} now",
            head.sequence
        ))
    }

    /// Reads on in each stream of the run, from where it has read up to.
    fn read(&mut self, store: &dyn Store, run: &RunKey, head: &Head) -> Result<(), String> {
        for range in &head.streams {
            let name = &range.name;
            let seen = self.streams.entry((run.clone(), name.clone()));
            let seen = seen.or_default();
            let last = seen.len() as u64;
            let items = store.stream(run, name, last, usize::MAX).map_err(text)?;
            for item in items {
                let last = seen.len() as u64;
                if item.number != last + 1 {
                    return Err(format!(
                        "{run}: item {} of stream {name} follows item {last}",
                        item.number
                    ));
                }
                seen.push(item.value.to_string());
            }
            if seen.len() as u64 != range.last {
                return Err(format!(
                    "{run}: stream {name} has {} items, and {} are to be read",
                    range.last,
                    seen.len()
                ));
            }
        }
        Ok(())
    }

    /// What the run has let go of nobody can fulfil any more (B11).
    fn dropped(
        &mut self,
        store: &dyn Store,
        run: &RunKey,
        head: &Head,
        offers: &[Offer],
    ) -> Result<(), String> {
        let Dropped { read, operations } = self.dropped.entry(run.clone()).or_default();
        let new = store.history(run, head.generation, *read + 1, usize::MAX);
        for unit in new.map_err(text)? {
            *read = unit.last();
            for decision in unit.decisions {
                if let Decision::Dropped { operation } = decision {
                    operations.insert(operation);
                }
            }
        }
        let mut open = offers.iter().filter(|offer| offer.is_open());
        match open.find(|offer| operations.contains(&offer.operation)) {
            None => Ok(()),
            Some(offer) => Err(format!(
                "{run}: the offer {} is open, and the run has dropped it",
                offer.operation
            )),
        }
    }

    /// All that was read of a stream, in its order.
    pub(super) fn items(&self, run: &RunKey, stream: &str) -> &[String] {
        let key = (run.clone(), stream.to_owned());
        self.streams.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// Once a run has a mailbox there is exactly one open offer of it until the run ends, unless the value for it waits in
/// the queue; then there is none (B1, B6).
fn mailbox(
    store: &dyn Store,
    run: &RunKey,
    head: &Head,
    mut offers: Vec<Offer>,
) -> Result<(), String> {
    offers.retain(|offer| offer.name == inject::NAME);
    if offers.is_empty() {
        return Ok(());
    }
    let loaded = store.load(run).map_err(text)?;
    let queue = loaded.map(|loaded| loaded.queue).unwrap_or_default();
    let open = offers.iter().filter(|offer| offer.is_open()).count();
    let is_mail = |observation: &Observation| match observation {
        Observation::StubFulfilled { operation, .. } => {
            offers.iter().any(|offer| offer.operation == *operation)
        }
        _ => false,
    };
    let coming = queue.iter().filter(|row| is_mail(&row.observation)).count();
    let expected = usize::from(!head.status.is_finished());
    // What came at the end is left in the queue.
    let found = if expected == 0 { open } else { open + coming };
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "{run}: its mailbox has {open} open offers, and {coming} values wait in the queue"
    ))
}
