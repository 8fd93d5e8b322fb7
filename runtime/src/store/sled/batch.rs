//! From effects to sled: one commit, whatever its size, in batches of at most [`MAX_BATCH`] bytes, each
//! flushed before the next.
//!
//! | the commit | what is written |
//! |---|---|
//! | fits into a batch | one batch |
//! | has long contents | their chunks, then one batch with everything else |
//! | has many keys | chunks that say what it does, one batch that makes it valid, then what it does |
//!
//! Chunks whose commit never came are swept when the store is opened; a commit that became valid and did
//! not get to all its places is carried out then.

use ::sled::{Batch, Db};
use perennial::wire::{Fields, RecordError};

use super::effects::{Changed, size};
use super::keys::{self, Key};
use super::problem::{damaged, sled_error};
use super::value::{self, Body, Chunks, content};
use crate::store::StoreError;

/// The largest batch, in bytes.
pub(super) const MAX_BATCH: usize = 128 << 10;
/// So much of it is kept for the record of the commit itself.
pub(super) const RESERVED: usize = 8 << 10;
/// The schema version of the record of a commit that is on its way.
const PENDING_VERSION: u8 = 1;

/// All that a drain does.
#[derive(Debug, Default)]
pub(super) struct Whole {
    pub(super) commit: u64,
    pub(super) changed: Changed,
    pub(super) chunks: Vec<(Key, Vec<u8>)>,
    pub(super) next_chunk: u32,
    /// The record of the commit.
    pub(super) last: (Key, Vec<u8>),
}

type Change = (Key, Option<Vec<u8>>);

/// Makes a commit durable.
pub(super) fn write(db: &Db, whole: Whole) -> Result<(), StoreError> {
    let Whole {
        commit,
        mut changed,
        chunks,
        next_chunk,
        last,
    } = whole;
    let changed_size: usize = changed
        .iter()
        .map(|(key, value)| size(key, value.as_ref()))
        .sum();
    let chunks_size: usize = chunks
        .iter()
        .map(|(key, value)| size(key, Some(value)))
        .sum();
    let chunks = chunks.into_iter().map(|(key, value)| (key, Some(value)));
    if changed_size + chunks_size <= MAX_BATCH - RESERVED {
        changed.extend(chunks);
        changed.insert(last.0, Some(last.1));
        return apply(db, changed);
    }
    slices(db, chunks)?;
    if changed_size <= MAX_BATCH - RESERVED {
        changed.insert(last.0, Some(last.1));
        return apply(db, changed);
    }
    let (chunks, values) = value::split(commit, next_chunk, &changes_content(&changed));
    slices(
        db,
        values.into_iter().map(|(key, value)| (key, Some(value))),
    )?;
    let pending = (
        keys::PENDING.to_vec(),
        Some(value::chunked(PENDING_VERSION, commit, chunks)),
    );
    apply(db, [pending, (last.0, Some(last.1))])?;
    carry_out(db, commit, chunks, changed)
}

/// Finishes what the process before left on its way.
pub(super) fn finish_pending(db: &Db) -> Result<(), StoreError> {
    let place = || "the commit on its way".to_owned();
    let Some(value) = db.get(keys::PENDING).map_err(|error| sled_error(&error))? else {
        return Ok(());
    };
    let opened =
        value::opened(&value, PENDING_VERSION).map_err(|problem| damaged(place(), problem))?;
    match opened.body {
        Body::Chunked(chunks) => {
            let joined = value::join(db, chunks, &place)?;
            let changed = read_changes(&joined).map_err(|problem| damaged(place(), problem))?;
            carry_out(db, opened.commit, chunks, changed)
        }
        Body::Inline(content) => {
            let chunks =
                Chunks::read(Fields::new(content)).map_err(|problem| damaged(place(), problem))?;
            clean_up(db, chunks)
        }
    }
}

/// Puts everything into its place; doing it twice does no harm.
fn carry_out(db: &Db, commit: u64, chunks: Chunks, changed: Changed) -> Result<(), StoreError> {
    slices(db, changed)?;
    // From here on the chunks are not needed: the record says only what has to be removed.
    let done = value::inline(PENDING_VERSION, commit, &content(|f| chunks.write(f)));
    apply(db, [(keys::PENDING.to_vec(), Some(done))])?;
    clean_up(db, chunks)
}

fn clean_up(db: &Db, chunks: Chunks) -> Result<(), StoreError> {
    slices(db, chunks.keys().map(|key| (key, None)))?;
    apply(db, [(keys::PENDING.to_vec(), None)])
}

/// Removes the chunks of commits that never came: those after the last one.
pub(super) fn sweep(db: &Db, last: u64) -> Result<u64, StoreError> {
    let mut swept = 0;
    loop {
        let mut some = Vec::new();
        for entry in db
            .range(keys::chunk(last + 1, 0)..vec![keys::CHUNK + 1])
            .take(1_000)
        {
            some.push((entry.map_err(|error| sled_error(&error))?.0.to_vec(), None));
        }
        if some.is_empty() {
            return Ok(swept);
        }
        swept += some.len() as u64;
        slices(db, some)?;
    }
}

/// One batch, flushed.
fn apply(db: &Db, changes: impl IntoIterator<Item = Change>) -> Result<(), StoreError> {
    let mut batch = Batch::default();
    for (key, value) in changes {
        match value {
            Some(value) => batch.insert(key, value),
            None => batch.remove(key),
        }
    }
    let applied = db.apply_batch(batch).and_then(|()| db.flush());
    applied.map(drop).map_err(|error| StoreError::Io {
        what: "sled could not write".into(),
        error: error.to_string(),
    })
}

/// As many batches as it takes.
fn slices(db: &Db, changes: impl IntoIterator<Item = Change>) -> Result<(), StoreError> {
    let (mut slice, mut bytes) = (Vec::new(), 0);
    for (key, value) in changes {
        let more = size(&key, value.as_ref());
        if bytes + more > MAX_BATCH {
            apply(db, std::mem::take(&mut slice))?;
            bytes = 0;
        }
        bytes += more;
        slice.push((key, value));
    }
    if slice.is_empty() {
        Ok(())
    } else {
        apply(db, slice)
    }
}

fn changes_content(changed: &Changed) -> Vec<u8> {
    content(|f| {
        for (key, value) in changed {
            f.nested(1, |f| {
                f.bytes(1, key);
                if let Some(value) = value {
                    f.bytes(2, value);
                }
            });
        }
    })
}

fn read_changes(bytes: &[u8]) -> Result<Changed, RecordError> {
    let mut changed = Changed::new();
    let mut fields = Fields::new(bytes);
    while let Some((_, one)) = fields.next_field()? {
        let (mut key, mut value) = (None, None);
        let mut parts = one.fields("change")?;
        while let Some((field, content)) = parts.next_field()? {
            match field {
                1 => key = Some(content.bytes("key")?.to_vec()),
                2 => value = Some(content.bytes("value")?.to_vec()),
                _ => {}
            }
        }
        changed.insert(key.ok_or(RecordError::Malformed { field: "key" })?, value);
    }
    Ok(changed)
}

/// The schema version of the record of a commit.
const LAST_VERSION: u8 = 1;
/// How many of the last commits have a record.
pub(super) const RING: u64 = 64;
/// So many keys that a commit wrote stand in its record.
const MAX_KEYS: usize = 16;

/// The record of a commit: its number, and some of the keys that it wrote, so that the next opening can
/// look whether the newest records are there and whole.
pub(super) fn last_record(commit: u64, changed: &Changed) -> (Key, Vec<u8>) {
    let kept = |key: &&Key| matches!(key.first(), Some(&(keys::RUN | keys::UNIT)));
    let written = changed
        .iter()
        .filter(|(_, value)| value.is_some())
        .map(|(key, _)| key);
    let content = content(|f| {
        for key in written.filter(kept).take(MAX_KEYS) {
            f.bytes(1, key);
        }
    });
    // The remainder is less than 64.
    (
        keys::last(u8::try_from(commit % RING).unwrap_or_default()),
        value::inline(LAST_VERSION, commit, &content),
    )
}

/// The commit of such a record, and the keys in it.
pub(super) fn read_last(value: &[u8]) -> Result<(u64, Vec<Key>), RecordError> {
    let opened = value::opened(value, LAST_VERSION)?;
    let Body::Inline(content) = opened.body else {
        return Err(RecordError::Malformed { field: "content" });
    };
    let mut written = Vec::new();
    let mut fields = Fields::new(content);
    while let Some((field, content)) = fields.next_field()? {
        if field == 1 {
            written.push(content.bytes("key")?.to_vec());
        }
    }
    Ok((opened.commit, written))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn db() -> Db {
        ::sled::Config::new().temporary(true).open().unwrap()
    }

    fn many(count: u32) -> Changed {
        (0..count)
            .map(|number| (number.to_be_bytes().to_vec(), Some(vec![7; 500])))
            .collect()
    }

    fn whole(changed: Changed) -> Whole {
        Whole {
            commit: 5,
            last: last_record(5, &changed),
            changed,
            ..Whole::default()
        }
    }

    fn entries(db: &Db) -> Changed {
        db.iter()
            .map(Result::unwrap)
            .map(|(key, value)| (key.to_vec(), Some(value.to_vec())))
            .collect()
    }

    /// What the commit of `changed` leaves, and nothing beside it.
    fn expected(changed: &Changed) -> Changed {
        let (key, value) = last_record(5, changed);
        let mut all = changed.clone();
        all.insert(key, Some(value));
        all
    }

    #[test]
    fn a_commit_of_any_size_leaves_nothing_but_what_it_says() {
        for count in [1, 200, 250, 2_000] {
            let db = db();
            write(&db, whole(many(count))).unwrap();
            assert_eq!(entries(&db), expected(&many(count)), "{count}");
        }
    }

    /// The states that a crash can leave after each of the batches of a commit that needs several.
    #[test]
    fn a_commit_of_several_batches_is_there_as_a_whole_or_not_at_all() {
        let changed = many(1_000);
        let (chunks, values) = value::split(5, 0, &changes_content(&changed));
        let values: Vec<_> = values
            .into_iter()
            .map(|(key, value)| (key, Some(value)))
            .collect();
        let recovered = |db: &Db| {
            finish_pending(db).unwrap();
            let last = crate::store::sled::check::commits(db).unwrap().unwrap();
            sweep(db, last).unwrap();
            entries(db)
        };

        // Not valid yet: the chunks go.
        for there in [1, 50, values.len()] {
            let db = db();
            slices(&db, values[..there].to_vec()).unwrap();
            assert_eq!(recovered(&db), Changed::new());
        }
        // Valid: it is carried out, however much of it was already.
        let pending = (
            keys::PENDING.to_vec(),
            Some(value::chunked(PENDING_VERSION, 5, chunks)),
        );
        let last = last_record(5, &changed);
        // The commits before it.
        let earlier = (1..5).map(|commit| last_record(commit, &Changed::new()));
        let earlier: Vec<_> = earlier.map(|(key, value)| (key, Some(value))).collect();
        let mut all = expected(&changed);
        all.extend(earlier.clone());
        for there in [0, 1, 500, 1_000] {
            let db = db();
            apply(&db, earlier.clone()).unwrap();
            slices(&db, values.clone()).unwrap();
            apply(
                &db,
                [pending.clone(), (last.0.clone(), Some(last.1.clone()))],
            )
            .unwrap();
            slices(&db, changed.clone().into_iter().take(there)).unwrap();
            assert_eq!(recovered(&db), all, "{there}");
        }
        // In its places: what is left of the chunks goes.
        let done = value::inline(PENDING_VERSION, 5, &content(|f| chunks.write(f)));
        for gone in [0, 1, 50, values.len()] {
            let db = db();
            apply(&db, all.clone()).unwrap();
            apply(&db, [(keys::PENDING.to_vec(), Some(done.clone()))]).unwrap();
            slices(&db, values[gone..].to_vec()).unwrap();
            assert_eq!(recovered(&db), all, "{gone}");
        }
    }

    #[test]
    fn a_sweep_leaves_the_chunks_of_commits_that_came() {
        let db = db();
        let chunk = |commit, index| (keys::chunk(commit, index), Some(vec![1]));
        apply(
            &db,
            [chunk(4, 0), chunk(5, u32::MAX), chunk(6, 0), chunk(300, 1)],
        )
        .unwrap();
        assert_eq!(sweep(&db, 5).unwrap(), 2);
        assert_eq!(
            entries(&db),
            Changed::from([chunk(4, 0), chunk(5, u32::MAX)])
        );
    }

    #[test]
    fn the_record_of_a_commit_names_some_of_what_it_wrote() {
        let mut changed = many(40);
        let run = |number: u8| vec![keys::RUN, number];
        changed.extend((0..20).map(|number| (run(number), Some(Vec::new()))));
        changed.insert(run(0), None);
        let (_, value) = last_record(9, &changed);
        let (commit, written) = read_last(&value).unwrap();
        assert_eq!((commit, written.len()), (9, MAX_KEYS));
        assert_eq!(written[0], run(1));
    }
}
