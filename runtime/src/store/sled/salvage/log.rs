//! Reading sled's file without sled, message by message.
//!
//! Of a file that is cut short sled often makes an empty store, and where one page is missing it panics:
//! everything that is still there is then out of reach. The file itself says more. It is a log in segments,
//! and each message in it has a checksum and names its page; the newest base of a page and the changes after
//! it give the page, and the leaves give keys and values. What is damaged takes no more with it than the
//! messages that it hits.
//!
//! The layout is that of sled 0.34.7, with a segment size of 512 KiB and without compression, which is how
//! stores are opened. Integers are varints of sled's own, unless noted otherwise.
//!
//! | in a segment | what |
//! |---|---|
//! | 20 bytes | header: checksum (4, little-endian, inverted), position (8, `xor i64::MAX`), stable position (8) |
//! | messages | checksum (4), kind (1), length, number of the segment, page, and so many bytes |
//!
//! Positions are those of a log in which no segment is ever used again; the number of a segment is its
//! position by its size.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

/// How large a segment is.
const SEGMENT: usize = 512 << 10;
const SEGMENT_HEADER: usize = 20;
/// No message begins in the last bytes of a segment.
const LAST_START: usize = SEGMENT - 31;

/// The kinds of messages that matter here.
mod kind {
    pub(super) const CANCELED: u8 = 1;
    pub(super) const CAP: u8 = 2;
    pub(super) const FREE: u8 = 4;
    pub(super) const NODE: u8 = 8;
    // 9 and 11 are those whose bytes are in a file of their own. No store has such.
    pub(super) const LINK: u8 = 10;
    pub(super) const BLOB_LINK: u8 = 11;
    pub(super) const LAST: u8 = BLOB_LINK;
}

/// A message about a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    kind: u8,
    /// Where its bytes are in the file.
    offset: u64,
    length: usize,
}

/// What is in the file, by page: the newest base that it has, and the changes after it.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) pages: BTreeMap<u64, Vec<Message>>,
    /// How many bytes could not be understood.
    pub(super) lost: u64,
}

/// Bytes of a file, or of something that stands for one.
pub(super) trait Bytes {
    /// Fills `buffer` from `offset` on, and says how many bytes there were.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl Bytes for File {
    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::io::{Read as _, Seek as _, SeekFrom};

        let mut file = self;
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }
}

/// Reads so many bytes from `offset` on. Where the device does not give them there are zeros, which no
/// checksum fits.
fn read<B: Bytes>(file: &B, offset: u64, length: usize) -> Vec<u8> {
    const BLOCK: usize = 4_096;
    let mut bytes = vec![0; length];
    let mut at = 0;
    while at < length {
        match file.read_at(&mut bytes[at..], offset + at as u64) {
            Ok(0) => break,
            Ok(read) => at += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Block by block, to lose one alone.
            Err(_) => {
                let end = (at + BLOCK).min(length);
                if let Ok(read @ 1..) = file.read_at(&mut bytes[at..end], offset + at as u64) {
                    at += read;
                } else {
                    bytes[at..end].fill(0);
                    at = end;
                }
            }
        }
    }
    bytes.truncate(at);
    bytes
}

impl Log {
    /// Reads all segments of a file of so many bytes, in the order in which they were written.
    pub(super) fn read<B: Bytes>(file: &B, length: u64) -> Self {
        let mut log = Self::default();
        let mut segments = Vec::new();
        for offset in (0..length).step_by(SEGMENT) {
            // A header that is lost can be told from the messages: each has the number of its segment.
            let number = header(&read(file, offset, SEGMENT_HEADER)).or_else(|| {
                let bytes = read(file, offset, SEGMENT);
                let number = number_of_any(&bytes);
                if number.is_none() && bytes.iter().any(|byte| *byte != 0) {
                    log.lost += bytes.len() as u64;
                }
                number
            });
            segments.extend(number.map(|number| (number, offset)));
        }
        segments.sort_unstable();
        for (number, offset) in segments {
            log.segment(&read(file, offset, SEGMENT), number, offset);
        }
        log
    }

    fn segment(&mut self, bytes: &[u8], number: u64, offset: u64) {
        let last = bytes.len().min(LAST_START);
        let mut at = SEGMENT_HEADER;
        while at < last {
            let Some(parsed) = message(&bytes[at..], number) else {
                let next = (at..last).find(|&at| message(&bytes[at..], number).is_some());
                // Behind the last message there may be what the segment held when it was another one.
                let is_ours = || parse(&bytes[at..]).is_some_and(|parsed| parsed.number == number);
                let end = next.unwrap_or(bytes.len());
                if next.is_some() || is_ours() {
                    self.lost += (end - at) as u64;
                }
                at = end;
                continue;
            };
            let start = at + parsed.header;
            at = start + parsed.length;
            let messages = match parsed.kind {
                kind::CAP => break,
                kind::FREE | kind::NODE..=kind::LAST => self.pages.entry(parsed.page).or_default(),
                _ => continue,
            };
            // What came before the base of a page does not count any more.
            if !matches!(parsed.kind, kind::LINK | kind::BLOB_LINK) {
                messages.clear();
            }
            messages.push(Message {
                kind: parsed.kind,
                offset: offset + start as u64,
                length: parsed.length,
            });
        }
    }

    /// The keys and values of a page, if it is a leaf.
    pub(super) fn leaf<B: Bytes>(&self, file: &B, messages: &[Message]) -> Leaf {
        let mut leaf = Leaf::default();
        let body = |message: &Message| read(file, message.offset, message.length);
        let base = match messages.first() {
            Some(base) if base.kind == kind::NODE => base,
            // The page was let go of.
            Some(base) if base.kind == kind::FREE => return leaf,
            // Changes without their base: what their keys begin with is gone with it.
            _ => {
                leaf.lost = true;
                return leaf;
            }
        };
        let bytes = body(base);
        let Some(node) = node(&bytes) else {
            leaf.lost = true;
            return leaf;
        };
        let Some((prefix, entries)) = node else {
            return leaf;
        };
        leaf.entries = entries;
        for message in &messages[1..] {
            let bytes = body(message);
            match link(&bytes).filter(|_| message.kind == kind::LINK) {
                Some(Link::Set(key, value)) => {
                    let key = [&prefix[..], key].concat();
                    leaf.entries.insert(key, value.to_vec());
                }
                Some(Link::Remove(key)) => {
                    leaf.entries.remove(&[&prefix[..], key].concat());
                }
                Some(Link::Other) => {}
                None => leaf.lost = true,
            }
        }
        leaf
    }
}

/// What a page holds.
#[derive(Debug, Default)]
pub(super) struct Leaf {
    pub(super) entries: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Something of it could not be read.
    pub(super) lost: bool,
}

/// The number of a segment, as its header has it.
fn header(bytes: &[u8]) -> Option<u64> {
    let header: &[u8; SEGMENT_HEADER] = bytes.first_chunk()?;
    let checksum = u32::from_le_bytes(*header.first_chunk()?) ^ u32::MAX;
    if checksum != crc32fast::hash(&header[4..]) {
        return None;
    }
    let position = i64::from_le_bytes(*header[4..].first_chunk()?) ^ i64::MAX;
    Some(u64::try_from(position).ok()? / SEGMENT as u64)
}

/// The number of a segment, as the first whole message in it has it.
fn number_of_any(bytes: &[u8]) -> Option<u64> {
    let last = bytes.len().min(LAST_START);
    (SEGMENT_HEADER..last).find_map(|at| {
        let bytes = &bytes[at..];
        let number = parse(bytes)?.number;
        message(bytes, number).map(|_| number)
    })
}

/// The header of a message.
struct Parsed {
    checksum: u32,
    kind: u8,
    number: u64,
    page: u64,
    /// How long the header is.
    header: usize,
    /// How long what follows it is.
    length: usize,
}

fn parse(bytes: &[u8]) -> Option<Parsed> {
    let checksum = u32::from_le_bytes(*bytes.first_chunk()?);
    let kind = *bytes.get(4)?;
    if !(kind::CANCELED..=kind::LAST).contains(&kind) {
        return None;
    }
    let mut rest = bytes.get(5..)?;
    let length = usize::try_from(varint(&mut rest)?).ok()?;
    let (number, page) = (varint(&mut rest)?, varint(&mut rest)?);
    Some(Parsed {
        checksum,
        kind,
        number,
        page,
        header: bytes.len() - rest.len(),
        length,
    })
}

/// The message that begins here, if it is whole and belongs to the segment.
fn message(bytes: &[u8], number: u64) -> Option<Parsed> {
    let parsed = parse(bytes).filter(|parsed| parsed.number == number)?;
    let end = parsed.header.checked_add(parsed.length)?;
    let body = bytes.get(parsed.header..end)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(body);
    hasher.update(&bytes[4..parsed.header]);
    (hasher.finalize() ^ u32::MAX == parsed.checksum).then_some(parsed)
}

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// Prefix and entries of a node; `Some(None)`: it is no leaf.
#[allow(
    clippy::option_option,
    reason = "a node that is none, and one that is no leaf"
)]
fn node(mut bytes: &[u8]) -> Option<Option<(Vec<u8>, Entries)>> {
    let rest = &mut bytes;
    // The next page, and one that is being merged.
    varint(rest)?;
    varint(rest)?;
    let [_merging, prefix] = *take(rest, 2)? else {
        return None;
    };
    let low = sized(rest)?;
    let _high = sized(rest)?;
    let prefix = low.get(..prefix.into())?.to_vec();
    let [is_index] = *take(rest, 1)? else {
        return None;
    };
    if is_index != 0 {
        return Some(None);
    }
    let count = usize::try_from(varint(rest)?).ok()?;
    let mut keys = Vec::new();
    for _ in 0..count {
        keys.push([&prefix[..], sized(rest)?].concat());
    }
    let mut entries = Entries::new();
    for key in keys {
        entries.insert(key, sized(rest)?.to_vec());
    }
    Some(Some((prefix, entries)))
}

enum Link<'a> {
    Set(&'a [u8], &'a [u8]),
    Remove(&'a [u8]),
    /// About the tree.
    Other,
}

fn link(mut bytes: &[u8]) -> Option<Link<'_>> {
    let rest = &mut bytes;
    let [kind] = *take(rest, 1)? else {
        return None;
    };
    Some(match kind {
        0 => Link::Set(sized(rest)?, sized(rest)?),
        1 => Link::Remove(sized(rest)?),
        2..=4 => Link::Other,
        _ => return None,
    })
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// Bytes with their length before them.
fn sized<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(varint(bytes)?).ok()?;
    take(bytes, length)
}

/// Small numbers in few bytes: up to 240 in one, up to 2,287 in two, up to 67,823 in three; otherwise the
/// first byte says how many follow, little-endian.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let first = *take(bytes, 1)?.first()?;
    Some(match first {
        0..=240 => first.into(),
        241..=248 => 240 + 256 * u64::from(first - 241) + u64::from(take(bytes, 1)?[0]),
        249 => {
            let two = take(bytes, 2)?;
            2_288 + 256 * u64::from(two[0]) + u64::from(two[1])
        }
        250..=255 => {
            let mut number = [0; 8];
            let length = usize::from(first) - 247;
            number[..length].copy_from_slice(take(bytes, length)?);
            u64::from_le_bytes(number)
        }
    })
}

#[cfg(test)]
mod tests;
