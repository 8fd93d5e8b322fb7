//! What writes do to keys, before anybody hears of it.

use std::collections::{BTreeMap, BTreeSet};

use perennial::wire::RecordError;

use super::keys::Key;
use super::overlay::{Bytes, View};
use super::problem::damaged;
use super::value::{self, Body};
use crate::store::StoreError;

/// Puts and removals, the last of each key.
pub(super) type Changed = BTreeMap<Key, Option<Vec<u8>>>;

/// What a key costs beside its own and its value's bytes, about.
const AROUND_KEY: usize = 32;

pub(super) fn size(key: &[u8], value: Option<&Vec<u8>>) -> usize {
    AROUND_KEY + key.len() + value.map_or(0, Vec::len)
}

/// The effects of one write, on top of those of the writes before it in its drain.
#[derive(Debug)]
pub(super) struct Effects<'a> {
    view: &'a View<'a>,
    before: &'a Changed,
    /// The number of the commit that this will be part of.
    commit: u64,
    next_chunk: u32,
    changed: Changed,
}

impl<'a> Effects<'a> {
    pub(super) fn new(
        view: &'a View<'a>,
        before: &'a Changed,
        commit: u64,
        next_chunk: u32,
    ) -> Self {
        Self {
            view,
            before,
            commit,
            next_chunk,
            changed: Changed::new(),
        }
    }

    /// Lets go of what the effects stand on.
    pub(super) fn finish(self) -> Step {
        let size = self
            .changed
            .iter()
            .map(|(key, value)| size(key, value.as_ref()))
            .sum();
        Step {
            changed: self.changed,
            next_chunk: self.next_chunk,
            size,
        }
    }

    pub(super) fn put(&mut self, key: Key, version: u8, content: &[u8]) {
        let value = if value::fits(content) {
            value::inline(version, self.commit, content)
        } else {
            let (chunks, values) = value::split(self.commit, self.next_chunk, content);
            self.next_chunk += chunks.count;
            self.changed
                .extend(values.into_iter().map(|(key, value)| (key, Some(value))));
            value::chunked(version, self.commit, chunks)
        };
        self.changed.insert(key, Some(value));
    }

    pub(super) fn remove(&mut self, key: Key) {
        self.changed.insert(key, None);
    }

    /// The value of a key as this write finds it.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Bytes<'_>>, StoreError> {
        match self.changed.get(key).or_else(|| self.before.get(key)) {
            Some(value) => Ok(value.as_deref().map(Bytes::Layer)),
            None => self.view.get(key),
        }
    }

    /// Reads the record of a key as this write finds it, and gives its content to `decode`; `place` names it in an
    /// error.
    pub(super) fn read<T>(
        &self,
        key: &[u8],
        version: u8,
        place: impl Fn() -> String,
        decode: impl FnOnce(&[u8]) -> Result<T, RecordError>,
    ) -> Result<Option<T>, StoreError> {
        let Some(stored) = self.get(key)? else {
            return Ok(None);
        };
        let opened =
            value::opened(&stored, version).map_err(|problem| damaged(place(), problem))?;
        let decoded = match opened.body {
            Body::Inline(content) => decode(content),
            Body::Chunked(chunks) => decode(&value::join(|key| self.get(key), chunks, &place)?),
        };
        decoded
            .map(Some)
            .map_err(|problem| damaged(place(), problem))
    }

    /// The first `limit` keys with a prefix, as the writes before this one leave them.
    pub(super) fn keys(&self, prefix: &[u8], limit: usize) -> Result<Vec<Key>, StoreError> {
        let mut found = BTreeSet::new();
        for entry in self.view.prefix(prefix) {
            let key = entry?.0;
            if found.len() == limit {
                break;
            }
            if !matches!(self.before.get(&key[..]), Some(None)) {
                found.insert(key.to_vec());
            }
        }
        let before = self
            .before
            .range(prefix.to_vec()..)
            .take_while(|(key, _)| key.starts_with(prefix))
            .filter(|(_, value)| value.is_some());
        found.extend(before.take(limit).map(|(key, _)| key.clone()));
        Ok(found.into_iter().take(limit).collect())
    }

    /// Whether this write has removed a key.
    pub(super) fn removes(&self, key: &[u8]) -> bool {
        matches!(self.changed.get(key), Some(None))
    }

    /// How many keys this write has changed so far.
    pub(super) fn count(&self) -> usize {
        self.changed.len()
    }

    /// Removes a record with all its chunks. Says whether it was there.
    pub(super) fn remove_with_chunks(&mut self, key: Key) -> Result<bool, StoreError> {
        Ok(self.remove_any(key, u8::MAX)?.is_some())
    }

    /// The same of one that nobody will ask for again, so that it may be unreadable: what chunks it had are left.
    pub(super) fn remove_unread(&mut self, key: Key) -> Result<(), StoreError> {
        match self.remove_with_chunks(key.clone()) {
            Err(StoreError::Damaged { place, problem }) => {
                tracing::warn!("{place} is removed unread: {problem}");
                self.remove(key);
                Ok(())
            }
            removed => removed.map(drop),
        }
    }

    /// Removes a record and gives its content, which is empty if it was in chunks.
    pub(super) fn take(&mut self, key: Key, version: u8) -> Result<Option<Vec<u8>>, StoreError> {
        self.remove_any(key, version)
    }

    fn remove_any(&mut self, key: Key, version: u8) -> Result<Option<Vec<u8>>, StoreError> {
        let (content, chunks) = {
            let Some(value) = self.get(&key)? else {
                return Ok(None);
            };
            let opened = value::opened(&value, version).map_err(|problem| {
                damaged(format!("the record `{}`", key.escape_ascii()), problem)
            })?;
            match opened.body {
                Body::Inline(content) => (content.to_vec(), None),
                Body::Chunked(chunks) => (Vec::new(), Some(chunks)),
            }
        };
        for key in chunks.into_iter().flat_map(value::Chunks::keys) {
            // A write puts a key once, so these are chunks of writes before it.
            self.remove(key);
        }
        self.remove(key);
        Ok(Some(content))
    }
}

/// The effects of one write, complete.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) changed: Changed,
    pub(super) next_chunk: u32,
    /// What they cost in a drain, in bytes, about.
    pub(super) size: usize,
}
