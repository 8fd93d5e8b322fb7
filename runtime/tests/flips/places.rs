//! Where a store is damaged, and how.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::seeded::Seeded;

/// A file's part in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// A segment of the journal that others follow.
    Journal,
    /// The last segment with frames in it.
    JournalEnd,
    Db,
    Snapshot,
    State,
    Conf,
    /// Files without which a store is whole.
    Other,
}

const PARTS: [(u64, Part); 7] = [
    (42, Part::Db),
    (14, Part::Journal),
    (16, Part::JournalEnd),
    (10, Part::Snapshot),
    (8, Part::State),
    (6, Part::Conf),
    (4, Part::Other),
];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    FlipBit,
    OtherByte,
    ZeroSector,
    ZeroPage,
    /// What should have gone elsewhere was written here.
    WrongSector,
    Truncate,
    Delete,
}

const KINDS: [(u64, Kind); 7] = [
    (42, Kind::FlipBit),
    (12, Kind::OtherByte),
    (15, Kind::ZeroSector),
    (8, Kind::ZeroPage),
    (6, Kind::WrongSector),
    (12, Kind::Truncate),
    (5, Kind::Delete),
];

/// One damage.
#[derive(Clone, Debug)]
pub(crate) struct Damage {
    pub(crate) part: Part,
    pub(crate) file: PathBuf,
    kind: Kind,
    at: u64,
    value: u64,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} at {} of {}",
            self.kind,
            self.at,
            self.file.display()
        )
    }
}

const SECTOR: u64 = 512;
const PAGE: u64 = 4_096;
/// sled's segments.
const SLED_SEGMENT: u64 = 512 << 10;

/// The files of a store, each with its part, by paths in it.
pub(crate) fn files(store: &Path) -> Vec<(Part, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(store.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    let is_segment = |path: &Path| path.extension().is_some_and(|extension| extension == "log");
    let last = found
        .iter()
        .rfind(|path| is_segment(path) && !frames(&fs::read(store.join(path)).unwrap()).is_empty());
    let last = last.cloned();
    let part = |path: &PathBuf| match path.to_str().unwrap_or_default() {
        "sled/db" => Part::Db,
        "sled/conf" => Part::Conf,
        "perennial.state" => Part::State,
        name if name.starts_with("sled/snap.") => Part::Snapshot,
        _ if Some(path) == last.as_ref() => Part::JournalEnd,
        _ if is_segment(path) => Part::Journal,
        _ => Part::Other,
    };
    found.into_iter().map(|path| (part(&path), path)).collect()
}

/// Where the frames of a segment begin. It may have been another one before, so only those count that
/// follow each other from the beginning on.
fn frames(segment: &[u8]) -> Vec<u64> {
    let page = usize::try_from(PAGE).unwrap();
    let epoch = segment.get(16..24);
    let (mut found, mut at) = (Vec::new(), page);
    while let Some(head) = segment.get(at..at + 32) {
        if !head.starts_with(b"PJ") || Some(&head[8..16]) != epoch {
            break;
        }
        found.push(at as u64);
        let body = u32::from_le_bytes(*head[4..].first_chunk().unwrap());
        at = (at + 32 + usize::try_from(body).unwrap()).next_multiple_of(8);
    }
    found
}

/// Where the messages of one of sled's segments begin: checksum, kind, and three numbers of one to nine
/// bytes, the first of which is the length of what follows.
fn messages(segment: &[u8]) -> Vec<u64> {
    fn number(bytes: &mut &[u8]) -> Option<u64> {
        let (&first, rest) = bytes.split_first()?;
        let (number, more) = match first {
            0..=240 => (u64::from(first), 0),
            241..=248 => (
                240 + 256 * (u64::from(first) - 241) + u64::from(*rest.first()?),
                1,
            ),
            249 => (
                2_288 + 256 * u64::from(*rest.first()?) + u64::from(*rest.get(1)?),
                2,
            ),
            _ => {
                let more = usize::from(first - 247);
                let mut number = [0; 8];
                number.get_mut(..more)?.copy_from_slice(rest.get(..more)?);
                (u64::from_le_bytes(number), more)
            }
        };
        *bytes = rest.get(more..)?;
        Some(number)
    }
    let (mut found, mut at) = (Vec::new(), 20);
    while let Some(message) = segment.get(at..).filter(|message| message.len() > 32) {
        let kind = message[4];
        if kind <= 2 || kind > 11 {
            break;
        }
        let mut rest = &message[5..];
        let (Some(length), Some(_), Some(_)) =
            (number(&mut rest), number(&mut rest), number(&mut rest))
        else {
            break;
        };
        found.push(at as u64);
        at += message.len() - rest.len() + usize::try_from(length).unwrap_or(usize::MAX / 2);
    }
    found
}

impl Damage {
    /// Chooses one.
    pub(crate) fn choose(store: &Path, chance: &mut Seeded) -> Self {
        let files = files(store);
        let there: Vec<_> = PARTS
            .into_iter()
            .filter(|(_, part)| files.iter().any(|(other, _)| other == part))
            .collect();
        let part = chance.weighted(&there);
        let of_part: Vec<_> = files.iter().filter(|(other, _)| *other == part).collect();
        let (_, file) = chance.one(&of_part);
        let bytes = fs::read(store.join(file)).unwrap();
        Self {
            part,
            at: place(part, &bytes, chance),
            kind: chance.weighted(&KINDS),
            value: chance.next(),
            file: file.clone(),
        }
    }

    /// Does it to a store. Says whether anything is another now.
    pub(crate) fn apply(&self, store: &Path) -> bool {
        let path = store.join(&self.file);
        let before = fs::read(&path).unwrap();
        let mut bytes = before.clone();
        let length = bytes.len() as u64;
        let range = |size: u64| {
            let start = self.at / size * size;
            usize::try_from(start).unwrap()..usize::try_from((start + size).min(length)).unwrap()
        };
        let at = usize::try_from(self.at).unwrap();
        match self.kind {
            Kind::Delete => {
                fs::remove_file(path).unwrap();
                return true;
            }
            Kind::Truncate => bytes.truncate(at),
            _ if bytes.is_empty() => return false,
            Kind::FlipBit => bytes[at] ^= 1 << (self.value % 8),
            Kind::OtherByte => bytes[at] = self.value.to_le_bytes()[0],
            Kind::ZeroSector => bytes[range(SECTOR)].fill(0),
            Kind::ZeroPage => bytes[range(PAGE)].fill(0),
            Kind::WrongSector => {
                let sectors = (length / SECTOR).max(1);
                let from = usize::try_from(self.value % sectors * SECTOR).unwrap();
                let from = from..(from + 512).min(bytes.len());
                let here = range(SECTOR);
                let size = from.len().min(here.len());
                bytes.copy_within(from.start..from.start + size, here.start);
            }
        }
        fs::write(path, &bytes).unwrap();
        bytes != before
    }
}

/// A place of each kind gets its share: headers are few and small.
fn place(part: Part, bytes: &[u8], chance: &mut Seeded) -> u64 {
    let length = bytes.len() as u64;
    if length == 0 {
        return 0;
    }
    let within = |chance: &mut Seeded, from: u64, size: u64| {
        let from = from.min(length - 1);
        chance.within(from..(from + size.max(1)).min(length))
    };
    match part {
        Part::Journal | Part::JournalEnd => {
            let frames = frames(bytes);
            let header = [0, 2_048];
            let from_end = chance.weighted(&[(6, 0), (3, 1), (2, 2)]);
            match (chance.within(0..10), &frames[..]) {
                (0, _) | (_, []) => {
                    let copy = *chance.one(&header);
                    within(chance, copy, 44)
                }
                // A header, and a body.
                (1..=3, _) => {
                    let frame = *chance.one(&frames);
                    within(chance, frame, 32)
                }
                (4..=6, _) => {
                    let frame = *chance.one(&frames);
                    within(chance, frame + 32, 600)
                }
                // The last frame and its mark.
                (7..=8, _) => {
                    let last = frames[frames.len().saturating_sub(1 + from_end)];
                    within(chance, last, 200)
                }
                _ => within(chance, 0, length),
            }
        }
        Part::Db if chance.percent(20) => {
            let segment = chance.within(0..length.div_ceil(SLED_SEGMENT));
            within(chance, segment * SLED_SEGMENT, 40)
        }
        // sled ignores the rest of a segment after a damaged message: the last ones are those whose loss
        // is seen least.
        Part::Db if chance.percent(60) => {
            let start = chance.within(0..length.div_ceil(SLED_SEGMENT)) * SLED_SEGMENT;
            let end = (start + SLED_SEGMENT).min(length);
            let segment = &bytes[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
            let messages = messages(segment);
            let from_end = chance.weighted(&[(3, 0), (2, 1), (2, 2), (1, 5)]);
            let message = match messages.len().checked_sub(1 + from_end) {
                Some(index) if chance.percent(60) => messages[index],
                _ if messages.is_empty() => 0,
                _ => *chance.one(&messages),
            };
            within(chance, start + message, 60)
        }
        // Where there is something: much of a segment may be empty.
        Part::Db => (0..50)
            .map(|_| chance.within(0..length))
            .find(|&at| {
                let at = usize::try_from(at).unwrap();
                bytes[at..(at + 64).min(bytes.len())]
                    .iter()
                    .any(|&byte| byte != 0)
            })
            .unwrap_or(0),
        _ => within(chance, 0, length),
    }
}
