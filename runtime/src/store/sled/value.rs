//! The values: each is a record that says by which commit it was written and holds its content, or says in
//! which chunks the content is. So no value is longer than [`MAX_VALUE`], and sled, which would put a long
//! one into a file that it never syncs, has no reason to.

use perennial::wire::{FieldWriter, Fields, RecordError, RecordWriter, open};

use super::keys;
use super::overlay::{Bytes, View};
use super::problem::damaged;
use crate::store::StoreError;

/// The longest value, in bytes.
pub(super) const MAX_VALUE: usize = 6_000;
/// What the record around a content takes at most, in bytes.
const AROUND: usize = 40;
/// The content of a chunk, in bytes.
const CHUNK_CONTENT: usize = MAX_VALUE - AROUND;
/// The schema version of a chunk.
const CHUNK_VERSION: u8 = 1;

/// Fields of every value.
mod field {
    pub(super) const COMMIT: u32 = 1;
    pub(super) const CONTENT: u32 = 2;
    pub(super) const CHUNKS: u32 = 3;
    /// Of a chunk alone.
    pub(super) const INDEX: u32 = 4;
}

/// Where a content is that is too long for one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunks {
    /// The commit that wrote them.
    pub(super) commit: u64,
    /// The index of the first.
    pub(super) first: u32,
    /// How many there are.
    pub(super) count: u32,
    /// How long the content is, in bytes.
    pub(super) length: u64,
}

impl Chunks {
    pub(super) fn keys(self) -> impl Iterator<Item = keys::Key> {
        (self.first..self.first.saturating_add(self.count))
            .map(move |index| keys::chunk(self.commit, index))
    }

    pub(super) fn write(self, f: &mut FieldWriter<'_>) {
        f.number(1, self.commit);
        f.number(2, self.first.into());
        f.number(3, self.count.into());
        f.number(4, self.length);
    }

    pub(super) fn read(mut fields: Fields<'_>) -> Result<Self, RecordError> {
        let mut chunks = Self {
            commit: 0,
            first: 0,
            count: 0,
            length: 0,
        };
        while let Some((field, content)) = fields.next_field()? {
            match field {
                1 => chunks.commit = content.number("commit")?,
                2 => chunks.first = content.small("first")?,
                3 => chunks.count = content.small("count")?,
                4 => chunks.length = content.number("length")?,
                _ => {}
            }
        }
        Ok(chunks)
    }
}

/// A value that was read.
#[derive(Debug)]
pub(super) struct Opened<'a> {
    /// The commit that wrote it.
    pub(super) commit: u64,
    pub(super) body: Body<'a>,
}

#[derive(Debug)]
pub(super) enum Body<'a> {
    Inline(&'a [u8]),
    Chunked(Chunks),
}

/// Bare fields, as the content of a value.
pub(super) fn content(write: impl FnOnce(&mut FieldWriter<'_>)) -> Vec<u8> {
    let mut record = RecordWriter::new(0);
    write(&mut record.fields());
    // The record around the content has the version and the checksum.
    record.finish().split_off(5)
}

/// Whether a content fits into one value.
pub(super) fn fits(content: &[u8]) -> bool {
    content.len() <= CHUNK_CONTENT
}

/// Whether they do when one stands behind the other.
pub(super) fn fits_both(one: &[u8], other: &[u8]) -> bool {
    one.len() + other.len() <= CHUNK_CONTENT
}

/// A value with its content in it.
pub(super) fn inline(version: u8, commit: u64, content: &[u8]) -> Vec<u8> {
    let mut record = RecordWriter::new(version);
    record.fields().number(field::COMMIT, commit);
    record.fields().bytes(field::CONTENT, content);
    record.finish()
}

/// A value whose content is in chunks.
pub(super) fn chunked(version: u8, commit: u64, chunks: Chunks) -> Vec<u8> {
    let mut record = RecordWriter::new(version);
    record.fields().number(field::COMMIT, commit);
    record.fields().nested(field::CHUNKS, |f| chunks.write(f));
    record.finish()
}

/// The chunks of a content, from index `first` on: where they are, and each with its key.
pub(super) fn split(
    commit: u64,
    first: u32,
    content: &[u8],
) -> (Chunks, Vec<(keys::Key, Vec<u8>)>) {
    let chunks: Vec<_> = (first..)
        .zip(content.chunks(CHUNK_CONTENT))
        .map(|(index, part)| {
            let mut record = RecordWriter::new(CHUNK_VERSION);
            record.fields().number(field::COMMIT, commit);
            record.fields().bytes(field::CONTENT, part);
            record.fields().number(field::INDEX, index.into());
            (keys::chunk(commit, index), record.finish())
        })
        .collect();
    // A content is at most some MiB long.
    let count = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
    (
        Chunks {
            commit,
            first,
            count,
            length: content.len() as u64,
        },
        chunks,
    )
}

/// Opens a value of at most schema `version`.
pub(super) fn opened(value: &[u8], version: u8) -> Result<Opened<'_>, RecordError> {
    let (_, mut fields) = open(value, version)?;
    let (mut commit, mut body) = (None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            field::COMMIT => commit = Some(content.number("commit")?),
            field::CONTENT => body = Some(Body::Inline(content.bytes("content")?)),
            field::CHUNKS => body = Some(Body::Chunked(Chunks::read(content.fields("chunks")?)?)),
            _ => {}
        }
    }
    Ok(Opened {
        commit: commit.ok_or(RecordError::Malformed { field: "commit" })?,
        body: body.ok_or(RecordError::Malformed { field: "content" })?,
    })
}

/// Reads the content of a value and gives it to `decode`; `place` names the record in an error.
pub(super) fn read<T>(
    view: &View<'_>,
    value: &[u8],
    version: u8,
    place: impl Fn() -> String,
    decode: impl FnOnce(&[u8]) -> Result<T, RecordError>,
) -> Result<T, StoreError> {
    let opened = opened(value, version).map_err(|problem| damaged(place(), problem))?;
    let result = match opened.body {
        Body::Inline(content) => decode(content),
        Body::Chunked(chunks) => decode(&join(|key| view.get(key), chunks, &place)?),
    };
    result.map_err(|problem| damaged(place(), problem))
}

/// Puts a content together from its chunks, which `get` gives.
pub(super) fn join<'a>(
    get: impl Fn(&[u8]) -> Result<Option<Bytes<'a>>, StoreError>,
    chunks: Chunks,
    place: &dyn Fn() -> String,
) -> Result<Vec<u8>, StoreError> {
    let mut joined = Vec::new();
    for (index, key) in (chunks.first..).zip(chunks.keys()) {
        let chunk = || format!("{}, chunk {index}", place());
        let missing = || {
            damaged(
                chunk(),
                RecordError::Damaged {
                    problem: "it is missing",
                },
            )
        };
        let value = get(&key)?.ok_or_else(missing)?;
        join_one(&value, chunks.commit, index, &mut joined)
            .map_err(|problem| damaged(chunk(), problem))?;
    }
    if joined.len() as u64 != chunks.length {
        return Err(damaged(place(), RecordError::Malformed { field: "length" }));
    }
    Ok(joined)
}

fn join_one(
    value: &[u8],
    of_commit: u64,
    of_index: u32,
    joined: &mut Vec<u8>,
) -> Result<(), RecordError> {
    let (commit, index) = chunk(value, |content| joined.extend_from_slice(content))?;
    if (commit, index) != (of_commit, of_index) {
        return Err(RecordError::Malformed { field: "index" });
    }
    Ok(())
}

/// Opens a chunk: its commit and index.
pub(super) fn chunk(
    value: &[u8],
    content_to: impl FnOnce(&[u8]),
) -> Result<(u64, u32), RecordError> {
    let (_, mut fields) = open(value, CHUNK_VERSION)?;
    let (mut commit, mut index, mut part) = (0, None, None);
    while let Some((field, content)) = fields.next_field()? {
        match field {
            field::COMMIT => commit = content.number("commit")?,
            field::CONTENT => part = Some(content.bytes("content")?),
            field::INDEX => index = Some(content.small("index")?),
            _ => {}
        }
    }
    content_to(part.ok_or(RecordError::Malformed { field: "content" })?);
    Ok((
        commit,
        index.ok_or(RecordError::Malformed { field: "index" })?,
    ))
}
