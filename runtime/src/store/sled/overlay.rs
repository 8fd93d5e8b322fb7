//! What is durable and shown: sled, and above it what is in the journal but not in sled yet.
//!
//! What a drain changed is put into the upper layer once its frame is durable, never before: nobody sees
//! what is not (S4). The applier takes the upper layer, which becomes the lower one, and carries it into
//! sled; the lower layer covers the same keys until all of it is there, so it does not matter how far the
//! applier is. Readers hold the lock for one look or one page, and see one moment.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Peekable;
use std::ops::{Bound, Deref};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ::sled::{Db, IVec};

use super::effects::{Changed, size};
use super::keys::Key;
use super::problem::{guarded, sled_error};
use crate::store::StoreError;

/// Changes that sled does not have yet.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) changed: Changed,
    /// How many bytes it holds, about.
    pub(super) bytes: usize,
    /// The last commit that is in it.
    pub(super) commit: u64,
}

impl Layer {
    fn add(&mut self, commit: u64, changed: Changed) {
        self.commit = commit;
        for (key, value) in changed {
            let (length, more) = (
                value.as_ref().map_or(0, Vec::len),
                size(&key, value.as_ref()),
            );
            self.bytes += more;
            if let Some(old) = self.changed.insert(key, value) {
                self.bytes -= more - length + old.map_or(0, |old| old.len());
            }
        }
    }
}

/// What is shown, behind a lock.
pub(super) struct Overlay(RwLock<Shown>);

struct Shown {
    /// `Err`: why nothing is shown any more.
    db: Result<Db, String>,
    upper: Layer,
    lower: Option<Arc<Layer>>,
}

impl fmt::Debug for Overlay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Overlay")
    }
}

impl Overlay {
    pub(super) fn new(db: Db) -> Self {
        Self(RwLock::new(Shown {
            db: Ok(db),
            upper: Layer::default(),
            lower: None,
        }))
    }

    fn read_lock(&self) -> RwLockReadGuard<'_, Shown> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self) -> RwLockWriteGuard<'_, Shown> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what is durable.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&View<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.look(true, read)
    }

    /// Looks at what sled has or is about to have: the upper layer is left out.
    pub(super) fn read_taken<T>(
        &self,
        read: impl FnOnce(&View<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.look(false, read)
    }

    fn look<T>(
        &self,
        upper: bool,
        read: impl FnOnce(&View<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let shown = self.read_lock();
        let db = shown.db.as_ref().map_err(|reason| StoreError::Closed {
            reason: reason.clone(),
        })?;
        let view = View {
            db,
            layers: [
                upper.then_some(&shown.upper.changed),
                shown.lower.as_deref().map(|lower| &lower.changed),
            ],
        };
        guarded(|| read(&view))
    }

    /// Shows what a commit changed.
    pub(super) fn show(&self, commit: u64, changed: Changed) {
        self.write_lock().upper.add(commit, changed);
    }

    /// How many bytes sled does not have yet, about.
    pub(super) fn bytes(&self) -> usize {
        let shown = self.read_lock();
        shown.upper.bytes + shown.lower.as_ref().map_or(0, |lower| lower.bytes)
    }

    /// What the applier is to carry into sled next; `None` if there is nothing.
    pub(super) fn take(&self) -> Option<Arc<Layer>> {
        let mut shown = self.write_lock();
        if shown.lower.is_none() && !shown.upper.changed.is_empty() {
            shown.lower = Some(Arc::new(std::mem::take(&mut shown.upper)));
        }
        shown.lower.clone()
    }

    /// All of the lower layer is in sled.
    pub(super) fn applied(&self) {
        let lower = self.write_lock().lower.take();
        // It may be large, and others wait for the lock.
        drop(lower);
    }

    /// Shows nothing any more, once those who look now have seen enough; says `reason` to those who come.
    pub(super) fn close(&self, reason: &str) {
        let db = {
            let mut shown = self.write_lock();
            (shown.upper, shown.lower) = (Layer::default(), None);
            match &shown.db {
                Ok(_) => std::mem::replace(&mut shown.db, Err(reason.to_owned())),
                Err(_) => return,
            }
        };
        drop(db);
    }
}

/// Why a store takes nothing any more after a failed write.
pub(super) fn failed(reason: &str) -> String {
    format!("a write failed, and it closed itself: {reason}")
}

/// One moment of what is durable.
pub(super) struct View<'a> {
    db: &'a Db,
    /// The upper one first.
    layers: [Option<&'a Changed>; 2],
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("View")
    }
}

/// A key or a value.
#[derive(Clone, Debug)]
pub(super) enum Bytes<'a> {
    Layer(&'a [u8]),
    Sled(IVec),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Layer(bytes) => bytes,
            Self::Sled(bytes) => bytes,
        }
    }
}

type Entry<'a> = Result<(Bytes<'a>, Bytes<'a>), StoreError>;

impl<'a> View<'a> {
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Bytes<'a>>, StoreError> {
        for layer in self.layers.iter().flatten() {
            if let Some(value) = layer.get(key) {
                return Ok(value.as_deref().map(Bytes::Layer));
            }
        }
        let value = self.db.get(key).map_err(|error| sled_error(&error))?;
        Ok(value.map(Bytes::Sled))
    }

    /// Whether sled does not have the newest of this key yet.
    pub(super) fn is_covered(&self, key: &[u8]) -> bool {
        self.layers
            .iter()
            .flatten()
            .any(|layer| layer.contains_key(key))
    }

    /// What begins with `prefix`, in order.
    pub(super) fn prefix(&self, prefix: &[u8]) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let end = after_prefix(prefix).map_or(Bound::Unbounded, Bound::Excluded);
        self.range(Bound::Included(prefix.to_vec()), end)
    }

    /// What is between two keys, in order.
    pub(super) fn range(
        &self,
        from: Bound<Key>,
        to: Bound<Key>,
    ) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        self.merged(from, to, false)
    }

    /// The last between two keys.
    pub(super) fn last(&self, from: Bound<Key>, to: Bound<Key>) -> Option<Entry<'a>> {
        self.merged(from, to, true).next()
    }

    fn merged(&self, from: Bound<Key>, to: Bound<Key>, backwards: bool) -> Merged<'a> {
        let mut sources: Vec<Peekable<Source<'a>>> = Vec::with_capacity(3);
        // Such a range is a panic of the map's.
        if is_empty(&from, &to) {
            return Merged { sources, backwards };
        }
        for layer in self.layers.iter().flatten() {
            let range = layer
                .range((from.clone(), to.clone()))
                .map(|(key, value)| Ok((Bytes::Layer(key), value.as_deref().map(Bytes::Layer))));
            let source: Source<'a> = if backwards {
                Box::new(range.rev())
            } else {
                Box::new(range)
            };
            let mut source = source.peekable();
            if source.peek().is_some() {
                sources.push(source);
            }
        }
        let range = self.db.range((from, to)).map(|entry| {
            let (key, value) = entry.map_err(|error| sled_error(&error))?;
            Ok((Bytes::Sled(key), Some(Bytes::Sled(value))))
        });
        let source: Source<'a> = if backwards {
            Box::new(range.rev())
        } else {
            Box::new(range)
        };
        sources.push(source.peekable());
        Merged { sources, backwards }
    }
}

fn is_empty(from: &Bound<Key>, to: &Bound<Key>) -> bool {
    match (from, to) {
        (Bound::Included(from), Bound::Included(to)) => from > to,
        (
            Bound::Included(from) | Bound::Excluded(from),
            Bound::Included(to) | Bound::Excluded(to),
        ) => from >= to,
        _ => false,
    }
}

/// The first key after all that begin with `prefix`.
fn after_prefix(prefix: &[u8]) -> Option<Key> {
    let end = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut key = prefix[..=end].to_vec();
    key[end] += 1;
    Some(key)
}

type Source<'a> = Box<dyn Iterator<Item = Result<(Bytes<'a>, Option<Bytes<'a>>), StoreError>> + 'a>;

/// The entries of several sources in one order; of the same key that of the first source counts.
struct Merged<'a> {
    sources: Vec<Peekable<Source<'a>>>,
    backwards: bool,
}

impl Merged<'_> {
    /// The source whose entry comes next.
    fn next_source(&mut self) -> Option<usize> {
        let mut next: Option<(usize, Bytes<'_>)> = None;
        for (index, source) in self.sources.iter_mut().enumerate() {
            let key = match source.peek() {
                None => continue,
                Some(Err(_)) => return Some(index),
                Some(Ok((key, _))) => key,
            };
            let comes_first = next.as_ref().is_none_or(|(_, best)| {
                let order = if self.backwards {
                    Ordering::Greater
                } else {
                    Ordering::Less
                };
                key[..].cmp(&best[..]) == order
            });
            if comes_first {
                next = Some((index, key.clone()));
            }
        }
        next.map(|(index, _)| index)
    }
}

impl<'a> Iterator for Merged<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            let first = match &mut self.sources[..] {
                [] => return None,
                // Mostly there is nothing above sled in a range.
                [only] => only.next()?,
                _ => {
                    let index = self.next_source()?;
                    let entry = self.sources[index].next()?;
                    if let Ok((key, _)) = &entry {
                        for source in &mut self.sources[index + 1..] {
                            source.next_if(
                                |other| matches!(other, Ok((other, _)) if other[..] == key[..]),
                            );
                        }
                    }
                    entry
                }
            };
            match first {
                Ok((key, Some(value))) => return Some(Ok((key, value))),
                Ok((_, None)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;

    use super::super::apply::{Applied, apply};
    use super::*;

    fn overlay() -> (Overlay, Db) {
        let db = ::sled::Config::new().temporary(true).open().unwrap();
        (Overlay::new(db.clone()), db)
    }

    fn put(key: &[u8], value: u8) -> (Key, Option<Vec<u8>>) {
        (key.to_vec(), Some(vec![value]))
    }

    fn entries<'a>(found: impl Iterator<Item = Entry<'a>>) -> Vec<(Key, Vec<u8>)> {
        found
            .map(|entry| {
                entry
                    .map(|(key, value)| (key.to_vec(), value.to_vec()))
                    .unwrap()
            })
            .collect()
    }

    /// Numbers without a pattern, the same ones in each run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: u8) -> u8 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.0 >> 33).to_le_bytes()[0] % end
        }
    }

    /// Against a map that was told the same, with layers that come, go halfway into sled, and go.
    #[test]
    fn what_is_shown_is_what_was_written_however_far_the_applier_is() {
        let (overlay, db) = overlay();
        let (mut model, mut numbers) = (BTreeMap::new(), Numbers(7));
        let mut taken = None;
        for commit in 1..=400 {
            let mut changed = Changed::new();
            for _ in 0..numbers.below(5) {
                let key = vec![numbers.below(3), numbers.below(8)];
                let value = (numbers.below(3) > 0).then(|| vec![numbers.below(250)]);
                changed.insert(key, value);
            }
            for (key, value) in &changed {
                match value {
                    Some(value) => model.insert(key.clone(), value.clone()),
                    None => model.remove(key),
                };
            }
            overlay.show(commit, changed);
            match numbers.below(4) {
                0 => taken = overlay.take(),
                1 => {
                    if let Some(layer) = taken.take() {
                        let layer: Arc<Layer> = layer;
                        apply(&db, &layer, &Applied::default()).unwrap();
                        if numbers.below(2) == 0 {
                            overlay.applied();
                        }
                    }
                }
                _ => {}
            }
            let model_entries = |from: &[u8], to: &[u8]| -> Vec<(Key, Vec<u8>)> {
                let range = model.range::<[u8], _>((Bound::Included(from), Bound::Excluded(to)));
                range
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect()
            };
            let (one, other) = (
                vec![numbers.below(3), numbers.below(8)],
                vec![numbers.below(3), numbers.below(8)],
            );
            let (from, to) = (one.clone().min(other.clone()), one.max(other));
            overlay
                .read(|view| {
                    for key in model.keys().chain([&from, &to]) {
                        assert_eq!(
                            view.get(key).unwrap().map(|value| value.to_vec()),
                            model.get(key).cloned()
                        );
                    }
                    let (start, end) = (Bound::Included(from.clone()), Bound::Excluded(to.clone()));
                    let expected = model_entries(&from, &to);
                    let last = view
                        .last(start.clone(), end.clone())
                        .map(|entry| entry.unwrap().0.to_vec());
                    assert_eq!(last, expected.last().map(|(key, _)| key.clone()));
                    assert_eq!(entries(view.range(start, end)), expected);
                    assert_eq!(entries(view.prefix(&[1])), model_entries(&[1], &[2]));
                    Ok(())
                })
                .unwrap();
        }
    }

    #[test]
    fn a_range_that_is_none_is_empty() {
        let (overlay, _db) = overlay();
        overlay.show(1, Changed::from([put(b"b", 1)]));
        let (b, a) = (b"b".to_vec(), b"a".to_vec());
        let empty = |from, to| {
            overlay
                .read(|view| Ok(entries(view.range(from, to)).is_empty()))
                .unwrap()
        };
        assert!(empty(
            Bound::Included(b.clone()),
            Bound::Excluded(a.clone())
        ));
        assert!(empty(
            Bound::Excluded(b.clone()),
            Bound::Excluded(b.clone())
        ));
        assert!(!empty(Bound::Included(b.clone()), Bound::Included(b)));
    }

    #[test]
    fn a_prefix_ends_where_the_next_begins() {
        assert_eq!(after_prefix(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(after_prefix(&[1, 255, 255]), Some(vec![2]));
        assert_eq!(after_prefix(&[255]), None);
    }

    #[test]
    fn the_bytes_that_gather_are_those_of_the_last_changes() {
        let (overlay, db) = overlay();
        for commit in 1..=3 {
            overlay.show(commit, Changed::from([put(b"a", 1), put(b"b", 2)]));
        }
        overlay.show(4, Changed::from([(b"b".to_vec(), None)]));
        let expected = size(b"a", Some(&vec![1])) + size(b"b", None);
        assert_eq!(overlay.bytes(), expected);
        let layer = overlay.take().unwrap();
        assert_eq!(
            (layer.commit, layer.bytes, overlay.bytes()),
            (4, expected, expected)
        );
        apply(&db, &layer, &Applied::default()).unwrap();
        overlay.applied();
        assert_eq!(overlay.bytes(), 0);
        assert!(overlay.take().is_none());
    }

    #[test]
    fn a_closed_overlay_shows_nothing() {
        let (overlay, _db) = overlay();
        overlay.show(1, Changed::from([put(b"a", 1)]));
        overlay.close("done");
        overlay.close("done twice");
        let reason = "done".to_owned();
        assert_eq!(overlay.read(|_| Ok(())), Err(StoreError::Closed { reason }));
        assert_eq!(overlay.bytes(), 0);
    }

    #[test]
    fn a_panic_while_reading_is_an_error_and_others_go_on() {
        let (overlay, _db) = overlay();
        let panicked: Result<(), _> = overlay.read(|_| panic!("page out of bounds"));
        assert!(
            matches!(panicked, Err(StoreError::Io { error, .. }) if error == "page out of bounds")
        );
        overlay.show(1, Changed::from([put(b"a", 1)]));
        overlay
            .read(|view| {
                assert!(view.get(b"a")?.is_some());
                Ok(())
            })
            .unwrap();
    }
}
