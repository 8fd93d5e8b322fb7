//! What writes do to keys, before sled hears of it.

use std::collections::BTreeMap;

use ::sled::Db;

use super::keys::Key;
use super::problem::{damaged, sled_error};
use super::value::{self, Body};
use crate::store::StoreError;

/// Puts and removals, the last of each key.
pub(super) type Changed = BTreeMap<Key, Option<Vec<u8>>>;

/// What a key costs in a batch beside its own and its value's bytes.
const AROUND_KEY: usize = 32;

pub(super) fn size(key: &[u8], value: Option<&Vec<u8>>) -> usize {
    AROUND_KEY + key.len() + value.map_or(0, Vec::len)
}

/// The effects of one write, on top of those of the writes before it in its drain.
#[derive(Debug)]
pub(super) struct Effects<'a> {
    db: &'a Db,
    before: &'a Changed,
    /// The number of the commit that this will be part of.
    commit: u64,
    next_chunk: u32,
    pub(super) changed: Changed,
    pub(super) chunks: Vec<(Key, Vec<u8>)>,
}

impl<'a> Effects<'a> {
    pub(super) fn new(db: &'a Db, before: &'a Changed, commit: u64, next_chunk: u32) -> Self {
        Self {
            db,
            before,
            commit,
            next_chunk,
            changed: Changed::new(),
            chunks: Vec::new(),
        }
    }

    /// Lets go of what the effects stand on.
    pub(super) fn finish(self) -> Step {
        let changed_size = self
            .changed
            .iter()
            .map(|(key, value)| size(key, value.as_ref()))
            .sum();
        let chunks_size = self
            .chunks
            .iter()
            .map(|(key, value)| size(key, Some(value)))
            .sum();
        let Self {
            changed,
            chunks,
            next_chunk,
            ..
        } = self;
        Step {
            changed,
            chunks,
            next_chunk,
            changed_size,
            chunks_size,
        }
    }

    pub(super) fn put(&mut self, key: Key, version: u8, content: &[u8]) {
        let value = if value::fits(content) {
            value::inline(version, self.commit, content)
        } else {
            let (chunks, values) = value::split(self.commit, self.next_chunk, content);
            self.next_chunk += chunks.count;
            self.chunks.extend(values);
            value::chunked(version, self.commit, chunks)
        };
        self.changed.insert(key, Some(value));
    }

    pub(super) fn remove(&mut self, key: Key) {
        self.changed.insert(key, None);
    }

    /// The value of a key as this write finds it.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        if let Some(value) = self.changed.get(key).or_else(|| self.before.get(key)) {
            return Ok(value.clone());
        }
        let value = self.db.get(key).map_err(|error| sled_error(&error))?;
        Ok(value.map(|value| value.to_vec()))
    }

    /// Removes a record with all its chunks. Says whether it was there.
    pub(super) fn remove_with_chunks(&mut self, key: Key) -> Result<bool, StoreError> {
        Ok(self.remove_any(key, u8::MAX)?.is_some())
    }

    /// Removes a record and gives its content, which is empty if it was in chunks.
    pub(super) fn take(&mut self, key: Key, version: u8) -> Result<Option<Vec<u8>>, StoreError> {
        self.remove_any(key, version)
    }

    fn remove_any(&mut self, key: Key, version: u8) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(value) = self.get(&key)? else {
            return Ok(None);
        };
        let opened = value::opened(&value, version)
            .map_err(|problem| damaged(format!("the record `{}`", key.escape_ascii()), problem))?;
        let content = match opened.body {
            Body::Inline(content) => content.to_vec(),
            Body::Chunked(chunks) => {
                for key in chunks.keys() {
                    // A write puts a key once, so these are chunks of writes before it.
                    self.remove(key);
                }
                Vec::new()
            }
        };
        self.remove(key);
        Ok(Some(content))
    }
}

/// The effects of one write, complete.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) changed: Changed,
    pub(super) chunks: Vec<(Key, Vec<u8>)>,
    pub(super) next_chunk: u32,
    pub(super) changed_size: usize,
    pub(super) chunks_size: usize,
}
