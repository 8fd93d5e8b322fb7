//! The applier: a thread that carries into sled what the journal holds, so that segments can go. It works
//! when much has gathered, so that what changed many times is written once, and when nobody writes.
//!
//! sled's own batches need not be whole: until the record of what it has taken over says so, everything is
//! done again from the journal, and doing it twice does no harm.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::sled::{Batch, Db};
use perennial::wire::{Fields, RecordError};

use super::effects::size;
use super::journal;
use super::keys::{self, Key};
use super::overlay::{Layer, Overlay, failed};
use super::problem::{guarded, sled_error};
use super::state::State;
use super::taken::Held;
use super::value::{self, Body, content};
use super::writer::Shared;
use crate::store::StoreError;

/// With so many bytes gathered it goes to work.
pub(super) const MUCH: usize = 8 << 20;
/// Or with so many times as much in the journal, where the same keys are written again and again.
const MUCH_JOURNAL: u64 = 4;
/// With so many times as much the writer waits for it.
const TOO_MUCH: usize = 8;
/// And after so long without a write.
const QUIET: Duration = Duration::from_secs(1);
/// After so long without a write the file beside sled learns of the last commit.
const IDLE: Duration = Duration::from_millis(200);
/// And under load so often.
const NOTE_EVERY: Duration = Duration::from_secs(1);
/// The largest batch for sled, in bytes.
const MAX_BATCH: usize = 128 << 10;
/// The schema version of the record of what sled has taken over.
const APPLIED_VERSION: u8 = 1;
/// So many of the newest records are named in it.
const NEWEST: usize = 64;

/// What writer and applier tell each other.
#[derive(Debug)]
pub(super) struct Progress {
    state: Mutex<Gathered>,
    changed: Condvar,
}

#[derive(Debug)]
struct Gathered {
    /// How many bytes sled does not have yet.
    bytes: usize,
    /// How many bytes the journal got since the applier last took what had gathered.
    journal: u64,
    /// The last commit that was acknowledged.
    commit: u64,
    last_write: Instant,
    /// The last commit that sled has.
    applied: u64,
    /// The writer takes no more writes.
    closing: bool,
    /// sled failed.
    failed: Option<String>,
    /// [`MUCH`], but for tests.
    much: usize,
}

impl Progress {
    pub(super) fn new(applied: u64, commit: u64, bytes: usize, much: usize) -> Self {
        let state = Gathered {
            bytes,
            journal: 0,
            commit,
            last_write: Instant::now(),
            applied,
            closing: false,
            failed: None,
            much,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, Gathered> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, Gathered>) -> MutexGuard<'a, Gathered> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A commit is durable and shown, and took so many bytes of the journal. Gives the last commit that sled
    /// has, or why it takes none any more.
    pub(super) fn written(
        &self,
        commit: u64,
        journal: u64,
        overlay: &Overlay,
    ) -> Result<u64, String> {
        let mut state = self.state();
        let (was_idle, was_much) = (state.bytes == 0, state.is_much());
        state.bytes = overlay.bytes();
        state.journal += journal;
        state.commit = commit;
        state.last_write = Instant::now();
        if was_idle || (!was_much && state.is_much()) {
            self.changed.notify_all();
        }
        match &state.failed {
            Some(reason) => Err(reason.clone()),
            None => Ok(state.applied),
        }
    }

    /// Whether sled is so far behind that nothing more is to be written.
    pub(super) fn is_too_much(&self) -> bool {
        let state = self.state();
        state.is_too_much() && state.failed.is_none()
    }

    /// Waits while sled is too far behind.
    pub(super) fn wait_for_applier(&self) {
        let mut state = self.state();
        while state.is_too_much() && state.failed.is_none() {
            state = self.wait(state);
        }
    }

    /// The last commit that was acknowledged, and the last that sled has.
    pub(super) fn commits(&self) -> (u64, u64) {
        let state = self.state();
        (state.commit, state.applied)
    }

    /// Why sled takes nothing any more.
    pub(super) fn failure(&self) -> Option<String> {
        self.state().failed.clone()
    }

    /// Nothing is written any more: the applier carries over what is left and ends.
    pub(super) fn close(&self) {
        self.state().closing = true;
        self.changed.notify_all();
    }
}

impl Gathered {
    fn is_much(&self) -> bool {
        self.bytes >= self.much || self.journal / MUCH_JOURNAL >= self.much as u64
    }

    fn is_too_much(&self) -> bool {
        self.bytes / TOO_MUCH > self.much
    }
}

/// The thread's state.
#[derive(Debug)]
pub(super) struct Applier {
    pub(super) shared: Arc<Shared>,
    pub(super) db: Db,
    pub(super) store: PathBuf,
    /// What the file beside sled says.
    pub(super) state: State,
    /// What sled has taken over.
    pub(super) applied: Applied,
}

impl Applier {
    /// Until the store is closed, or sled fails.
    pub(super) fn run(mut self) {
        let worked = guarded(|| self.work());
        if let Err(error) = worked {
            self.fail(&error);
        }
    }

    fn work(&mut self) -> Result<(), StoreError> {
        let mut noted = Instant::now();
        loop {
            let progress = &self.shared.progress;
            let mut state = progress.state();
            let (apply, closing) = loop {
                let quiet = state.last_write.elapsed();
                let (unapplied, unnoted) = (state.bytes > 0, state.commit > self.state.commit);
                if state.closing || state.is_much() || (unapplied && quiet >= QUIET) {
                    break (true, state.closing);
                }
                if unnoted && (quiet >= IDLE || noted.elapsed() >= NOTE_EVERY) {
                    break (false, false);
                }
                if !unapplied && !unnoted {
                    state = progress.wait(state);
                    continue;
                }
                // Whatever comes first of what it waits for.
                let mut until = QUIET.saturating_sub(quiet);
                if unnoted {
                    until = until
                        .min(IDLE.saturating_sub(quiet))
                        .min(NOTE_EVERY.saturating_sub(noted.elapsed()));
                }
                let waited = progress.changed.wait_timeout(state, until);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            };
            let commit = state.commit;
            if apply {
                state.journal = 0;
            }
            drop(state);
            if apply {
                self.apply_all(closing)?;
            }
            if closing {
                return Ok(());
            }
            noted = Instant::now();
            if commit > self.state.commit {
                self.note(commit);
            }
        }
    }

    /// Carries everything over that has gathered by now; when the store is closing, everything that there is.
    fn apply_all(&mut self, closing: bool) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        loop {
            let mut taken = shared.taken.held();
            let Some(layer) = shared.overlay.take() else {
                break;
            };
            // What was found at the opening and may be in sled already is counted.
            if layer.commit > taken.commit {
                taken.add(&self.db, &layer)?;
                self.promise(&taken)?;
            }
            self.applied = guarded(|| apply(&self.db, &layer, &self.applied))?;
            shared.overlay.applied();
            drop(taken);
            let mut state = self.shared.progress.state();
            state.applied = layer.commit;
            state.bytes = self.shared.overlay.bytes();
            drop(state);
            self.shared.progress.changed.notify_all();
            if !closing {
                return Ok(());
            }
        }
        // A store that failed shows nothing any more, and there is nothing to carry over.
        let mut state = self.shared.progress.state();
        state.bytes = self.shared.overlay.bytes();
        drop(state);
        self.shared.progress.changed.notify_all();
        Ok(())
    }

    /// Tells the file beside sled what sled is about to have. sled's writes are on the device at once; it must
    /// not have what the journal may yet lose.
    fn promise(&mut self, taken: &Held) -> Result<(), StoreError> {
        let io = |what: &str, error: io::Error| StoreError::Io {
            what: what.into(),
            error: error.to_string(),
        };
        if self.state.os {
            journal::sync_all(&journal::folder(&self.store))
                .map_err(|error| io("the journal could not be synced", error))?;
        }
        self.state.commit = self.state.commit.max(taken.commit);
        self.state.taken = taken.commit;
        self.state.synced = self.state.synced.max(taken.commit);
        self.state.tallies.clone_from(&taken.tallies);
        self.state
            .write(&self.store)
            .map_err(|error| io("`perennial.state` could not be written", error))
    }

    /// The state first: a subscriber to logs may panic.
    fn fail(&self, error: &StoreError) {
        let reason = failed(&error.to_string());
        self.shared.overlay.close(&reason);
        self.shared.progress.state().failed = Some(reason);
        self.shared.progress.changed.notify_all();
        tracing::error!(%error, store = %self.store.display(), "sled failed; the store takes no more");
    }

    /// Tells the file beside sled of the last commit. It may be behind: what it does not know cannot be
    /// missed, and that is all.
    fn note(&mut self, commit: u64) {
        self.state.commit = commit;
        if let Err(error) = self.state.write(&self.store) {
            tracing::warn!(%error, "the last commit could not be noted");
        }
    }
}

/// Puts a layer into sled, and then the record that it is there, which it gives.
pub(super) fn apply(db: &Db, layer: &Layer, before: &Applied) -> Result<Applied, StoreError> {
    let (mut batch, mut bytes) = (Batch::default(), 0);
    for (key, value) in &layer.changed {
        let more = size(key, value.as_ref());
        if bytes > 0 && bytes + more > MAX_BATCH {
            write(db, std::mem::take(&mut batch))?;
            bytes = 0;
        }
        bytes += more;
        match value {
            Some(value) => batch.insert(&key[..], &value[..]),
            None => batch.remove(&key[..]),
        }
    }
    write(db, batch)?;
    flush(db)?;
    let applied = Applied::of(layer, before);
    let mut batch = Batch::default();
    batch.insert(keys::APPLIED, applied.encode());
    write(db, batch)?;
    flush(db)?;
    Ok(applied)
}

fn write(db: &Db, batch: Batch) -> Result<(), StoreError> {
    db.apply_batch(batch).map_err(|error| sled_error(&error))
}

fn flush(db: &Db) -> Result<(), StoreError> {
    db.flush().map(drop).map_err(|error| sled_error(&error))
}

/// What sled has taken over.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Applied {
    /// The last commit.
    pub(super) commit: u64,
    /// Some of the newest records, and the commits that wrote them, so that the next opening can look
    /// whether they are there and whole.
    pub(super) newest: Vec<(Key, u64)>,
}

impl Applied {
    /// After a layer: its newest records, and those from before that it does not touch.
    fn of(layer: &Layer, before: &Self) -> Self {
        let kept = |key: &Key| matches!(key.first(), Some(&(keys::RUN | keys::UNIT)));
        let mut newest: Vec<(Key, u64)> = layer
            .changed
            .iter()
            .filter(|(key, _)| kept(key))
            .filter_map(|(key, value)| {
                let opened = value::opened(value.as_ref()?, u8::MAX).ok()?;
                Some((key.clone(), opened.commit))
            })
            .collect();
        let untouched = |(key, _): &&(Key, u64)| !layer.changed.contains_key(key);
        newest.extend(before.newest.iter().filter(untouched).cloned());
        newest.sort_by_key(|(_, commit)| std::cmp::Reverse(*commit));
        newest.truncate(NEWEST);
        Self {
            commit: layer.commit,
            newest,
        }
    }

    /// What sled says that it has.
    pub(super) fn read(db: &Db) -> Result<Self, StoreError> {
        match db.get(keys::APPLIED).map_err(|error| sled_error(&error))? {
            None => Ok(Self::default()),
            Some(value) => Self::decode(&value).map_err(|problem| {
                super::problem::damaged("the record of what sled has taken over".into(), problem)
            }),
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for (key, commit) in &self.newest {
            let one = content(|f| {
                f.nested(1, |f| {
                    f.bytes(1, key);
                    f.number(2, *commit);
                });
            });
            // Long names must not make it too long for a value.
            if !value::fits_both(&body, &one) {
                break;
            }
            body.extend(one);
        }
        value::inline(APPLIED_VERSION, self.commit, &body)
    }

    pub(super) fn decode(value: &[u8]) -> Result<Self, RecordError> {
        let opened = value::opened(value, APPLIED_VERSION)?;
        let Body::Inline(content) = opened.body else {
            return Err(RecordError::Malformed { field: "content" });
        };
        let mut newest = Vec::new();
        let mut fields = Fields::new(content);
        while let Some((_, one)) = fields.next_field()? {
            let (mut key, mut commit) = (None, None);
            let mut parts = one.fields("newest")?;
            while let Some((field, content)) = parts.next_field()? {
                match field {
                    1 => key = Some(content.bytes("key")?.to_vec()),
                    2 => commit = Some(content.number("commit")?),
                    _ => {}
                }
            }
            newest.push((
                key.ok_or(RecordError::Malformed { field: "key" })?,
                commit.ok_or(RecordError::Malformed { field: "commit" })?,
            ));
        }
        Ok(Self {
            commit: opened.commit,
            newest,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn layer(keys: impl Iterator<Item = Key>) -> Layer {
        let changed = keys.zip(1..).map(|(key, commit)| {
            let value = value::inline(1, commit, &[7; 100]);
            (key, Some(value))
        });
        Layer {
            changed: changed.collect(),
            bytes: 0,
            commit: 9_999,
        }
    }

    #[test]
    fn a_layer_is_there_as_a_whole_with_the_record_that_it_is() {
        let db = ::sled::Config::new().temporary(true).open().unwrap();
        // Several batches.
        let units = (0..5_000_u32).map(|number| [&b"u"[..], &number.to_be_bytes()].concat());
        let layer = layer(units);
        apply(&db, &layer, &Applied::default()).unwrap();
        for (key, value) in &layer.changed {
            assert_eq!(db.get(key).unwrap().map(|value| value.to_vec()), *value);
        }
        let applied = Applied::read(&db).unwrap();
        assert_eq!(applied, Applied::of(&layer, &Applied::default()));
        assert_eq!((applied.commit, applied.newest.len()), (9_999, NEWEST));
        assert!(applied.newest.iter().all(|(_, commit)| *commit > 4_936));
    }

    #[test]
    fn what_a_layer_does_not_touch_is_still_named() {
        let key = |number: u8| vec![keys::RUN, number];
        let before = Applied::of(&layer([key(1), key(2)].into_iter()), &Applied::default());
        let mut next = layer([key(2)].into_iter());
        next.changed.insert(keys::OWNERS.to_vec(), Some(Vec::new()));
        let names: Vec<Key> = Applied::of(&next, &before)
            .newest
            .into_iter()
            .map(|(key, _)| key)
            .collect();
        assert_eq!(names.len(), 2);
        assert!(names.contains(&key(1)) && names.contains(&key(2)));
    }

    #[test]
    fn names_of_the_longest_kind_do_not_make_the_record_too_long() {
        let keys = (0..NEWEST).map(|number| format!("r{number:0>256}").into_bytes());
        let applied = Applied::of(&layer(keys), &Applied::default());
        let value = applied.encode();
        assert!(value.len() <= value::MAX_VALUE);
        let read = Applied::decode(&value).unwrap();
        assert!(!read.newest.is_empty() && read.newest.len() < NEWEST);
        assert_eq!(read.newest[..], applied.newest[..read.newest.len()]);
    }
}
