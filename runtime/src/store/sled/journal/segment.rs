//! Segments: the files of the journal, `journal/<sequence>.log`, filled with zeros in advance so that a
//! frame changes nothing about the file but its bytes. A file gets its name when its header is on the
//! device, whatever the durability: one with such a name and no header is damaged.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::store::sled::folder;

/// Where the first frame begins.
pub(super) const FRAMES: usize = 4_096;
/// The header stands here too, so that one changed byte does not take the segment with it.
const COPY: usize = 2_048;
const MAGIC: &[u8; 8] = b"PRNNLJ2\n";
const LENGTH: usize = 48;

/// What a segment says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Its place among the segments.
    pub(super) sequence: u64,
    /// A random number that its frames carry.
    pub(super) epoch: u64,
    /// The last commit of the segment before.
    pub(super) before: u64,
    /// The checksum of that commit's frame.
    pub(super) checksum: u32,
    /// How long its file is, in bytes: a shorter one has lost something.
    pub(super) size: u64,
}

impl Header {
    fn encode(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.before.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.size.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.checksum.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..44]);
        bytes[44..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// `None` when neither copy is whole.
    pub(super) fn read(segment: &[u8]) -> Option<Self> {
        [0, COPY].into_iter().find_map(|at| {
            let bytes: &[u8; LENGTH] = segment.get(at..)?.first_chunk()?;
            let long =
                |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap_or(&[0; 8]));
            let short =
                |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap_or(&[0; 4]));
            (bytes[..8] == *MAGIC && short(44) == crc32fast::hash(&bytes[..44])).then(|| Self {
                sequence: long(8),
                epoch: long(16),
                before: long(24),
                size: long(32),
                checksum: short(40),
            })
        })
    }
}

pub(in crate::store::sled) fn folder(store: &Path) -> PathBuf {
    store.join("journal")
}

pub(super) fn path(journal: &Path, sequence: u64) -> PathBuf {
    journal.join(format!("{sequence:020}.log"))
}

fn spare(journal: &Path) -> PathBuf {
    journal.join("spare")
}

/// The sequence numbers of the segments that there are, in order.
pub(super) fn list(journal: &Path) -> io::Result<Vec<u64>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(journal)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log"));
        found.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    found.sort_unstable();
    Ok(found)
}

/// Makes a file of `size` zeros that can become a segment, if none is there.
fn prepare(journal: &Path, size: u64) -> io::Result<()> {
    let path = spare(journal);
    if path.exists() {
        return Ok(());
    }
    let new = journal.join("spare.new");
    let file = File::create(&new)?;
    zero(&file, 0, size)?;
    file.sync_all()?;
    fs::rename(new, path)
}

/// Writes all of `bytes` at a place.
#[cfg(unix)]
pub(super) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
pub(super) fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek as _, SeekFrom, Write as _};

    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

fn zero(file: &File, mut from: u64, to: u64) -> io::Result<()> {
    let zeros = vec![0; 1 << 20];
    while from < to {
        let length = zeros
            .len()
            .min(usize::try_from(to - from).unwrap_or(usize::MAX));
        write_at(file, &zeros[..length], from)?;
        from += length as u64;
    }
    Ok(())
}

/// Makes a segment of at least the header's size out of the spare file, or out of a new one. Gives the size
/// that it has.
pub(super) fn create(journal: &Path, header: Header) -> io::Result<(File, u64)> {
    prepare(journal, header.size)?;
    let spare = spare(journal);
    let file = OpenOptions::new().read(true).write(true).open(&spare)?;
    let there = file.metadata()?.len();
    if there < header.size {
        zero(&file, there, header.size)?;
    }
    let size = header.size.max(there);
    let header = Header { size, ..header };
    let mut head = [0; FRAMES];
    let bytes = header.encode();
    head[..LENGTH].copy_from_slice(&bytes);
    head[COPY..COPY + LENGTH].copy_from_slice(&bytes);
    write_at(&file, &head, 0)?;
    file.sync_all()?;
    fs::rename(spare, path(journal, header.sequence))?;
    folder::sync(journal)?;
    Ok((file, size))
}

/// Makes all segments durable.
pub(in crate::store::sled) fn sync_all(journal: &Path) -> io::Result<()> {
    for sequence in list(journal)? {
        match File::open(path(journal, sequence)) {
            Ok(file) => file.sync_all()?,
            // It was let go of meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    folder::sync(journal)
}

/// Takes a segment out of the journal, and keeps its file for later if it has at most `size` bytes and none
/// is kept.
pub(super) fn recycle(journal: &Path, sequence: u64, size: u64) -> io::Result<()> {
    let (from, spare) = (path(journal, sequence), spare(journal));
    if spare.exists() || fs::metadata(&from)?.len() > size {
        fs::remove_file(from)?;
    } else {
        fs::rename(from, spare)?;
    }
    // Its header must not be overwritten while it can still come back under its old name.
    folder::sync(journal)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HEADER: Header = Header {
        sequence: 7,
        epoch: 8,
        before: 9,
        checksum: 10,
        size: 8_192,
    };

    #[test]
    fn a_header_outlives_the_loss_of_one_of_its_copies() {
        let folder = tempfile::tempdir().unwrap();
        create(folder.path(), HEADER).unwrap();
        let bytes = fs::read(path(folder.path(), 7)).unwrap();
        assert_eq!((Header::read(&bytes), bytes.len()), (Some(HEADER), 8_192));
        for at in 0..FRAMES {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(Header::read(&flipped), Some(HEADER), "{at}");
        }
        let mut lost = bytes;
        lost[..FRAMES].fill(0);
        assert_eq!(Header::read(&lost), None);
        assert_eq!(Header::read(&[]), None);
    }

    #[test]
    fn segments_are_listed_in_their_order_and_recycled() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path();
        for sequence in [9, 10, 11] {
            create(journal, Header { sequence, ..HEADER }).unwrap();
        }
        let larger = Header {
            sequence: 12,
            size: 20_000,
            ..HEADER
        };
        create(journal, larger).unwrap();
        assert_eq!(list(journal).unwrap(), [9, 10, 11, 12]);
        recycle(journal, 12, 8_192).unwrap();
        assert!(!spare(journal).exists(), "it was larger than the others");
        recycle(journal, 9, 8_192).unwrap();
        assert!(spare(journal).exists());
        recycle(journal, 10, 8_192).unwrap();
        assert_eq!(list(journal).unwrap(), [11]);
    }
}
