//! Frames: what one drain changes, as it stands in the journal.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `P` `J`, the kind, the version |
//! | 4 | length of the body |
//! | 8 | epoch: a random number of the segment, so that nothing older and nothing from outside passes for a frame |
//! | 8 | number of the commit |
//! | 4 | checksum of the frame before |
//! | 4 | checksum of all of the above and the body |
//! | | the body, and zeros up to a multiple of 8 |
//!
//! Numbers are little-endian. A *mark* is a frame without a body: the commit of its number was
//! acknowledged. It is written without waiting for the device, into the next page after its frame, so
//! that the loss of a page does not take both. An *end* is one too: the segment was left for the next one.

use std::collections::BTreeMap;

use crate::store::sled::effects::Changed;

pub(super) const HEADER: usize = 32;
const VERSION: u8 = 1;
const COMMIT: u8 = 1;
const MARK: u8 = 2;
const END: u8 = 3;
/// Frames begin at multiples of this.
pub(super) const ALIGN: usize = 8;

/// Where a frame belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The number of its commit.
    pub(super) commit: u64,
    /// The checksum of the frame before; in a segment's first frame that of the segment before.
    pub(super) before: u32,
}

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What a commit changes.
    Commit,
    /// The commit was acknowledged.
    Mark,
    /// It is the last of this segment, and there is another one.
    End,
}

/// A frame that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) link: Link,
    pub(super) checksum: u32,
    pub(super) body: &'a [u8],
    pub(super) kind: Kind,
    /// Where the next one begins, counted from this one's beginning.
    pub(super) length: usize,
}

/// Appends the frame of a commit to `buffer`, and gives its checksum.
pub(super) fn encode(buffer: &mut Vec<u8>, epoch: u64, link: Link, changed: &Changed) -> u32 {
    let start = begin(buffer, COMMIT, epoch, link);
    for (key, value) in changed {
        push_number(buffer, key.len() as u64);
        buffer.extend_from_slice(key);
        match value {
            None => push_number(buffer, 0),
            Some(value) => {
                push_number(buffer, value.len() as u64 + 1);
                buffer.extend_from_slice(value);
            }
        }
    }
    end(buffer, start)
}

/// Appends a mark.
pub(super) fn encode_mark(buffer: &mut Vec<u8>, epoch: u64, link: Link) {
    let start = begin(buffer, MARK, epoch, link);
    end(buffer, start);
}

/// Appends the end of a segment.
pub(super) fn encode_end(buffer: &mut Vec<u8>, epoch: u64, link: Link) {
    let start = begin(buffer, END, epoch, link);
    end(buffer, start);
}

fn begin(buffer: &mut Vec<u8>, kind: u8, epoch: u64, link: Link) -> usize {
    let start = buffer.len();
    buffer.extend_from_slice(&[b'P', b'J', kind, VERSION, 0, 0, 0, 0]);
    buffer.extend_from_slice(&epoch.to_le_bytes());
    buffer.extend_from_slice(&link.commit.to_le_bytes());
    buffer.extend_from_slice(&link.before.to_le_bytes());
    buffer.extend_from_slice(&[0; 4]);
    start
}

fn end(buffer: &mut Vec<u8>, start: usize) -> u32 {
    let frame = &mut buffer[start..];
    // A commit is some tens of MiB long at most.
    let length = u32::try_from(frame.len() - HEADER).unwrap_or(u32::MAX);
    frame[4..8].copy_from_slice(&length.to_le_bytes());
    let checksum = checksum(frame);
    frame[28..HEADER].copy_from_slice(&checksum.to_le_bytes());
    let padded = buffer.len().next_multiple_of(ALIGN);
    buffer.resize(padded, 0);
    checksum
}

fn checksum(frame: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&frame[..28]);
    hasher.update(&frame[HEADER..]);
    hasher.finalize()
}

/// The frame that begins at the first of these bytes; `None` if there is no whole one of this epoch.
pub(super) fn read(bytes: &[u8], epoch: u64) -> Option<Frame<'_>> {
    let header: &[u8; HEADER] = bytes.first_chunk()?;
    let number = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let long = |at: usize| u64::from(number(at)) | u64::from(number(at + 4)) << 32;
    if header[..2] != *b"PJ" || long(8) != epoch || header[3] != VERSION {
        return None;
    }
    let end = HEADER.checked_add(number(4) as usize)?;
    let frame = bytes.get(..end)?;
    let checksum = checksum(frame);
    if checksum != number(28) {
        return None;
    }
    let kind = match header[2] {
        COMMIT => Kind::Commit,
        MARK => Kind::Mark,
        END => Kind::End,
        _ => return None,
    };
    Some(Frame {
        link: Link {
            commit: long(16),
            before: number(24),
        },
        checksum,
        body: &frame[HEADER..],
        kind,
        length: end.next_multiple_of(ALIGN),
    })
}

/// The epoch that a frame would have that begins at the first of these bytes.
pub(super) fn epoch(bytes: &[u8]) -> Option<u64> {
    let bytes = bytes.strip_prefix(b"PJ")?;
    Some(u64::from_le_bytes(*bytes.get(6..)?.first_chunk()?))
}

/// A frame or mark of a commit after `last`, somewhere in these bytes, which begin where a frame may begin.
pub(super) fn later(bytes: &[u8], epoch: u64, last: u64) -> Option<u64> {
    (0..bytes.len())
        .step_by(ALIGN)
        .filter(|&at| bytes[at..].starts_with(b"PJ"))
        .find_map(|at| {
            read(&bytes[at..], epoch)
                .map(|frame| frame.link.commit)
                .filter(|commit| *commit > last)
        })
}

/// What a body changes; `None` when it is not one.
pub(super) fn changes(mut body: &[u8]) -> Option<Changed> {
    let mut changed = BTreeMap::new();
    while !body.is_empty() {
        let length = take_number(&mut body)?;
        let key = take(&mut body, length)?.to_vec();
        let value = match take_number(&mut body)?.checked_sub(1) {
            None => None,
            Some(length) => Some(take(&mut body, length)?.to_vec()),
        };
        changed.insert(key, value);
    }
    Some(changed)
}

/// Seven bits a byte, the lowest first.
fn push_number(buffer: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        buffer.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    buffer.push(number.to_le_bytes()[0]);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const EPOCH: u64 = 0x0123_4567_89ab_cdef;

    fn changed() -> Changed {
        Changed::from([
            (b"a".to_vec(), Some(vec![7; 300])),
            (b"b".to_vec(), None),
            (vec![0; 200], Some(Vec::new())),
        ])
    }

    fn frame() -> Vec<u8> {
        let mut buffer = Vec::new();
        encode(
            &mut buffer,
            EPOCH,
            Link {
                commit: 5,
                before: 9,
            },
            &changed(),
        );
        buffer
    }

    #[test]
    fn a_frame_reads_back() {
        let bytes = frame();
        let read = read(&bytes, EPOCH).unwrap();
        assert_eq!(
            read.link,
            Link {
                commit: 5,
                before: 9
            }
        );
        assert_eq!((read.length, read.kind), (bytes.len(), Kind::Commit));
        assert_eq!(changes(read.body).unwrap(), changed());
    }

    #[test]
    fn a_frame_that_is_not_whole_is_none() {
        let bytes = frame();
        assert!(read(&bytes, EPOCH + 1).is_none());
        // The last bytes are padding.
        for end in 0..bytes.len() - 8 {
            assert!(read(&bytes[..end], EPOCH).is_none(), "{end}");
        }
        let length = read(&bytes, EPOCH).unwrap().body.len() + HEADER;
        for at in 0..length {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert!(read(&flipped, EPOCH).is_none(), "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn what_follows_a_broken_frame_is_found() {
        let mut bytes = frame();
        let broken = bytes.len();
        bytes[40] ^= 1;
        assert_eq!(later(&bytes, EPOCH, 4), None);
        encode_mark(
            &mut bytes,
            EPOCH,
            Link {
                commit: 5,
                before: 0,
            },
        );
        assert_eq!(later(&bytes, EPOCH, 4), Some(5));
        assert_eq!(later(&bytes, EPOCH, 5), None);
        bytes.truncate(broken);
        encode(
            &mut bytes,
            EPOCH,
            Link {
                commit: 6,
                before: 0,
            },
            &changed(),
        );
        assert_eq!(later(&bytes, EPOCH, 4), Some(6));
    }

    #[test]
    fn a_body_of_anything_is_no_panic() {
        let body = frame()[HEADER..].to_vec();
        for end in 0..body.len() {
            let _ = changes(&body[..end]);
        }
        assert!(changes(&[0xff; 12]).is_none());
        assert!(changes(&[0x80, 0x80]).is_none());
    }
}
