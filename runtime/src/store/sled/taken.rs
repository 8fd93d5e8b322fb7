//! What sled must hold: the tallies of what it has taken over.
//!
//! They are counted before a layer is carried into sled, and stand in the file beside it before the first of
//! the layer's changes does: whatever sled holds of the layer then, with the layer from the journal above it
//! the tallies must be these. So an opening can tell what is missing, however the process before has ended.

use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ::sled::Db;

use super::keys::{self, Key};
use super::overlay::{Layer, Overlay, View};
use super::problem::{guarded, sled_error};
use super::tally::{Difference, Tallies};
use crate::store::StoreError;

/// So many records are counted before others have their turn.
const SLICE: usize = 1_000;
/// What may be many times as much as everything else. When it is asked for it is seen whether it is there: a
/// history has no gaps, and a record knows its chunks. Attempts are shown, and nothing depends on them.
const BULK: [u8; 3] = [keys::ATTEMPT, keys::CHUNK, keys::UNIT];

/// See the module. Who holds it keeps sled as it is.
#[derive(Debug)]
pub(super) struct Taken {
    held: Mutex<Held>,
    /// One count at a time.
    counting: Mutex<()>,
}

#[derive(Debug)]
pub(super) struct Held {
    /// The last commit that is counted.
    pub(super) commit: u64,
    pub(super) tallies: Tallies,
    /// How far a count of what is there has come, and what it has counted.
    count: Option<(Key, Tallies)>,
}

impl Taken {
    pub(super) fn new(commit: u64, tallies: Tallies) -> Self {
        Self {
            held: Mutex::new(Held {
                commit,
                tallies,
                count: None,
            }),
            counting: Mutex::new(()),
        }
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts everything that is there, and says what is not as it must be. The applier goes on meanwhile.
    pub(super) fn verify(&self, overlay: &Overlay) -> Result<Option<Difference>, StoreError> {
        let _one = self.counting.lock().unwrap_or_else(PoisonError::into_inner);
        self.held().count = Some((Key::new(), Tallies::default()));
        loop {
            let mut held = self.held();
            let Some((last, mut counted)) = held.count.take() else {
                return Ok(None);
            };
            let next = overlay.read_taken(|view| {
                let range = view.range(Bound::Excluded(last), Bound::Unbounded);
                let mut next = None;
                for entry in range.take(SLICE) {
                    let (key, value) = entry?;
                    count(&mut counted, &key, &value);
                    next = Some(key.to_vec());
                }
                Ok(next)
            })?;
            match next {
                Some(last) => held.count = Some((last, counted)),
                None => return Ok(held.tallies.difference(&counted, |_| true)),
            }
        }
    }
}

impl Held {
    /// Counts what a layer will change in sled, which has none of it yet.
    pub(super) fn add(&mut self, db: &Db, layer: &Layer) -> Result<(), StoreError> {
        guarded(|| {
            for (key, value) in &layer.changed {
                let before = db.get(key).map_err(|error| sled_error(&error))?;
                let (before, after) = (before.as_deref(), value.as_deref());
                self.tallies.change(key, before, after);
                if let Some((_, counted)) = self.count.as_mut().filter(|(last, _)| key <= last) {
                    counted.change(key, before, after);
                }
            }
            Ok(())
        })?;
        self.commit = layer.commit;
        Ok(())
    }
}

pub(super) fn count(tallies: &mut Tallies, key: &[u8], value: &[u8]) {
    // It is not taken over from anywhere.
    if key != keys::APPLIED {
        tallies.add(key, value);
    }
}

/// Counts all but what may be very much, and says what is not as it must be.
pub(super) fn look(view: &View<'_>, tallies: &Tallies) -> Result<Option<Difference>, StoreError> {
    let mut found = Tallies::default();
    let mut from = Bound::Unbounded;
    for end in BULK.map(Some).into_iter().chain([None]) {
        let to = end.map_or(Bound::Unbounded, |kind| Bound::Excluded(vec![kind]));
        for entry in view.range(from, to) {
            let (key, value) = entry?;
            count(&mut found, &key, &value);
        }
        from = Bound::Included(vec![end.map_or(u8::MAX, |kind| kind + 1)]);
    }
    Ok(tallies.difference(&found, |kind| !BULK.contains(&kind)))
}
