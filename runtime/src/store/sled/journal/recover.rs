//! Reading the journal that a process before has left.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::frame::{self, Kind, Link};
use super::segment::{self, FRAMES, Header};
use crate::store::sled::effects::Changed;

/// What the journal holds.
#[derive(Debug, Default)]
pub(in crate::store::sled) struct Recovered {
    /// The commits after the one asked for, in their order.
    pub(in crate::store::sled) commits: Vec<(u64, Changed)>,
    /// The last commit; where the journal is empty the one that it begins after.
    pub(in crate::store::sled) last: u64,
    /// The commit before the first that is there; `None`: there is no segment.
    pub(in crate::store::sled) before: Option<u64>,
    /// The checksum of the last frame.
    pub(super) checksum: u32,
    /// Its segments: sequence, and last commit.
    pub(super) full: VecDeque<(u64, u64)>,
    /// The epoch of the last segment, and where its frames end.
    end: (u64, u64),
    /// What is wrong. What comes before it is in the other fields.
    pub(in crate::store::sled) broken: Option<Broken>,
}

/// What can be wrong with a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store::sled) enum Broken {
    /// The header of a segment, in both of its places.
    Header { segment: u64 },
    /// A segment is missing.
    Segment { segment: u64 },
    /// A segment is shorter than it was.
    Short { segment: u64 },
    /// A frame that was acknowledged.
    Commit { segment: u64, commit: u64 },
}

/// Reads the commits after `applied`.
pub(in crate::store::sled) fn recover(journal: &Path, applied: u64) -> io::Result<Recovered> {
    let mut recovered = Recovered::default();
    let sequences = segment::list(journal)?;
    let Some(&first) = sequences.first() else {
        return Ok(recovered);
    };
    for (index, (&sequence, expected)) in sequences.iter().zip(first..).enumerate() {
        if sequence != expected {
            recovered.broken = Some(Broken::Segment { segment: expected });
            break;
        }
        let bytes = fs::read(segment::path(journal, sequence))?;
        let header = Header::read(&bytes).filter(|header| header.sequence == sequence);
        let Some(header) = header else {
            recovered.broken = Some(Broken::Header { segment: sequence });
            break;
        };
        if index == 0 {
            (recovered.last, recovered.checksum) = (header.before, header.checksum);
            recovered.before = Some(header.before);
        } else if (header.before, header.checksum) != (recovered.last, recovered.checksum) {
            // The segment before ended earlier than this one says.
            let (segment, commit) = (sequence - 1, recovered.last + 1);
            recovered.broken = Some(Broken::Commit { segment, commit });
            break;
        }
        read_segment(
            &bytes,
            header,
            index + 1 == sequences.len(),
            applied,
            &mut recovered,
        );
        recovered.full.push_back((sequence, recovered.last));
        if recovered.broken.is_some() {
            break;
        }
    }
    Ok(recovered)
}

fn read_segment(
    bytes: &[u8],
    header: Header,
    is_last: bool,
    applied: u64,
    recovered: &mut Recovered,
) {
    if is_last && (bytes.len() as u64) < header.size {
        let segment = header.sequence;
        recovered.broken = Some(Broken::Short { segment });
    }
    let mut at = FRAMES;
    loop {
        recovered.end = (header.epoch, at as u64);
        let rest = bytes.get(at..).unwrap_or_default();
        let next = Link {
            commit: recovered.last + 1,
            before: recovered.checksum,
        };
        let found = frame::read(rest, header.epoch);
        let commit = next.commit;
        let Some(frame) = found.filter(|frame| frame.kind == Kind::Commit && frame.link == next)
        else {
            // Where the segment is not the last, the next one's header says whether all is there.
            if is_last && frame::later(rest, header.epoch, recovered.last).is_some() {
                recovered.broken = Some(Broken::Commit {
                    segment: header.sequence,
                    commit,
                });
            } else if is_last && found.is_some_and(|frame| frame.kind == Kind::End) {
                let segment = header.sequence + 1;
                recovered.broken.get_or_insert(Broken::Segment { segment });
            }
            return;
        };
        if commit > applied {
            let Some(changed) = frame::changes(frame.body) else {
                recovered.broken = Some(Broken::Commit {
                    segment: header.sequence,
                    commit,
                });
                return;
            };
            recovered.commits.push((commit, changed));
        }
        (recovered.last, recovered.checksum) = (commit, frame.checksum);
        at += frame.length;
    }
}

impl Recovered {
    /// Takes the segments away that come after what was recovered.
    pub(in crate::store::sled) fn discard_rest(&mut self, journal: &Path) -> io::Result<()> {
        let last = self.full.back().map(|(sequence, _)| *sequence);
        for sequence in segment::list(journal)? {
            if last.is_none_or(|last| sequence > last) {
                fs::remove_file(segment::path(journal, sequence))?;
            }
        }
        crate::store::sled::folder::sync(journal)
    }

    /// Says in the last segment that another one follows.
    pub(super) fn end(&self, journal: &Path) -> io::Result<()> {
        let Some(&(sequence, commit)) = self.full.back() else {
            return Ok(());
        };
        let file = File::options()
            .write(true)
            .open(segment::path(journal, sequence))?;
        let (epoch, at) = self.end;
        let before = self.checksum;
        super::end(&file, at, epoch, Link { commit, before })
    }

    /// Makes what was read durable: the last frame may be in the memory of the system alone, or have been
    /// given up by it after a failed sync, and is about to be shown. `all`: so may the frames before it.
    pub(in crate::store::sled) fn settle(&self, journal: &Path, all: bool) -> io::Result<()> {
        for &(sequence, _) in self.full.iter().filter(|_| all) {
            let path = segment::path(journal, sequence);
            let bytes = fs::read(&path)?;
            segment::write_at(&File::options().write(true).open(&path)?, &bytes, 0)?;
        }
        let Some(&(sequence, _)) = self.full.back() else {
            return Ok(());
        };
        let path = segment::path(journal, sequence);
        let bytes = fs::read(&path)?;
        let Some(header) = Header::read(&bytes) else {
            return Ok(());
        };
        let (mut at, mut last) = (FRAMES, None);
        while let Some(frame) = bytes
            .get(at..)
            .and_then(|rest| frame::read(rest, header.epoch))
        {
            if frame.link.commit > self.last || frame.kind != Kind::Commit {
                break;
            }
            last = Some(at..at + frame.length);
            at += frame.length;
        }
        if let Some(range) = last {
            let file = File::options().write(true).open(&path)?;
            segment::write_at(&file, &bytes[range.clone()], range.start as u64)?;
        }
        segment::sync_all(journal)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Journal, Settings};
    use super::*;

    fn changed(commit: u64, bytes: usize) -> Changed {
        Changed::from([(commit.to_be_bytes().to_vec(), Some(vec![7; bytes]))])
    }

    const SETTINGS: Settings = Settings {
        segment: 16_384,
        sync: false,
    };

    fn start(journal: &Path) -> Journal {
        let recovered = recover(journal, 0).unwrap();
        assert_eq!(recovered.broken, None);
        Journal::start(journal.to_owned(), SETTINGS, &recovered).unwrap()
    }

    /// A journal of so many commits, as a process leaves it that was killed.
    fn journal(commits: u64, bytes: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = start(folder.path());
        for commit in 1..=commits {
            journal.append(commit, &changed(commit, bytes)).unwrap();
            journal.mark().unwrap();
        }
        folder
    }

    fn numbers(recovered: &Recovered) -> Vec<u64> {
        recovered
            .commits
            .iter()
            .map(|(commit, _)| *commit)
            .collect()
    }

    #[test]
    fn what_was_appended_is_recovered_over_several_segments_and_processes() {
        let folder = journal(100, 500);
        assert!(segment::list(folder.path()).unwrap().len() > 3);
        let mut again = start(folder.path());
        for commit in 101..=110 {
            again.append(commit, &changed(commit, 50_000)).unwrap();
        }
        let recovered = recover(folder.path(), 7).unwrap();
        assert_eq!(numbers(&recovered), (8..=110).collect::<Vec<_>>());
        assert!(recovered.commits.iter().all(|(commit, found)| {
            *found == changed(*commit, if *commit > 100 { 50_000 } else { 500 })
        }));
        assert_eq!(
            (recovered.last, recovered.before, recovered.broken.clone()),
            (110, Some(0), None)
        );
        recovered.settle(folder.path(), true).unwrap();
        assert_eq!(
            numbers(&recover(folder.path(), 7).unwrap()),
            numbers(&recovered)
        );
    }

    #[test]
    fn segments_go_when_all_of_their_commits_are_applied() {
        let folder = journal(100, 500);
        let mut again = start(folder.path());
        again.recycle(60).unwrap();
        let recovered = recover(folder.path(), 60).unwrap();
        assert_eq!(numbers(&recovered), (61..=100).collect::<Vec<_>>());
        assert!(
            recovered
                .before
                .is_some_and(|before| 0 < before && before <= 60)
        );
        again.recycle(100).unwrap();
        assert_eq!(segment::list(folder.path()).unwrap().len(), 1);
        again.append(101, &changed(101, 1)).unwrap();
        assert_eq!(recover(folder.path(), 100).unwrap().last, 101);
    }

    /// Whatever part of the last frame reached the device.
    #[test]
    fn a_frame_that_was_not_finished_is_not_there_and_the_next_process_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = segment::path(folder.path(), 1);
        let mut journal = start(folder.path());
        for commit in 1..=5 {
            journal.append(commit, &changed(commit, 1_000)).unwrap();
            journal.mark().unwrap();
        }
        let before = fs::read(&path).unwrap();
        journal.append(6, &changed(6, 600)).unwrap();
        drop(journal);
        let after = fs::read(&path).unwrap();
        let differs: Vec<usize> = (0..after.len())
            .filter(|&at| before[at] != after[at])
            .collect();
        let (first, last) = (differs[0], differs[differs.len() - 1]);
        for end in (first..last).step_by(7) {
            // The beginning of it, and the end of it.
            for torn in [
                [&after[..end], &before[end..]].concat(),
                [&before[..end], &after[end..]].concat(),
            ] {
                if torn == after || torn == before {
                    continue;
                }
                fs::write(&path, torn).unwrap();
                let recovered = recover(folder.path(), 0).unwrap();
                assert_eq!(recovered.broken, None, "{end}");
                assert_eq!(recovered.last, 5, "{end}");
                let mut next = Journal::start(folder.path().into(), SETTINGS, &recovered).unwrap();
                next.append(6, &changed(6, 10)).unwrap();
                let recovered = recover(folder.path(), 0).unwrap();
                assert_eq!((recovered.last, recovered.broken), (6, None), "{end}");
                fs::remove_file(segment::path(folder.path(), 2)).unwrap();
            }
        }
    }

    #[test]
    fn every_changed_byte_of_an_acknowledged_frame_is_noticed() {
        let folder = journal(30, 500);
        let segments = segment::list(folder.path()).unwrap();
        assert!(segments.len() > 1);
        for sequence in segments {
            let path = segment::path(folder.path(), sequence);
            let bytes = fs::read(&path).unwrap();
            for at in (0..bytes.len()).step_by(37) {
                let mut flipped = bytes.clone();
                flipped[at] ^= 0x10;
                fs::write(&path, &flipped).unwrap();
                let recovered = recover(folder.path(), 0).unwrap();
                assert!(
                    recovered.broken.is_some() || recovered.last == 30,
                    "byte {at} of segment {sequence}: {} commits are left",
                    recovered.last
                );
            }
            fs::write(&path, bytes).unwrap();
        }
    }

    #[test]
    fn a_missing_segment_and_a_lost_header_are_noticed() {
        let folder = journal(100, 500);
        let second = segment::path(folder.path(), 2);
        let bytes = fs::read(&second).unwrap();
        fs::remove_file(&second).unwrap();
        assert_eq!(
            recover(folder.path(), 0).unwrap().broken,
            Some(Broken::Segment { segment: 2 })
        );
        let mut lost = bytes.clone();
        lost[..FRAMES].fill(0);
        fs::write(&second, lost).unwrap();
        assert_eq!(
            recover(folder.path(), 0).unwrap().broken,
            Some(Broken::Header { segment: 2 })
        );
        fs::write(&second, bytes).unwrap();
        assert_eq!(recover(folder.path(), 0).unwrap().broken, None);
    }

    /// Also the last one, which no other one follows.
    #[test]
    fn a_last_segment_that_is_gone_or_cut_is_noticed() {
        let folder = journal(100, 500);
        let again = start(folder.path());
        let last = *segment::list(folder.path()).unwrap().last().unwrap();
        drop(again);
        for sequence in [last, last - 1] {
            let path = segment::path(folder.path(), sequence);
            let bytes = fs::read(&path).unwrap();
            for length in (FRAMES..bytes.len()).step_by(41) {
                fs::write(&path, &bytes[..length]).unwrap();
                let broken = recover(folder.path(), 0).unwrap().broken;
                assert!(
                    matches!(
                        broken,
                        Some(Broken::Short { segment } | Broken::Commit { segment, .. })
                            if segment == sequence
                    ),
                    "{broken:?} at {length}"
                );
            }
            fs::remove_file(&path).unwrap();
            let gone = Some(Broken::Segment { segment: sequence });
            assert_eq!(recover(folder.path(), 0).unwrap().broken, gone);
        }
    }

    /// Not one that was never finished: the mark that it was acknowledged stands in another page.
    #[test]
    fn a_sector_or_page_that_is_lost_is_noticed_also_of_the_last_frame() {
        for bytes in (300..5_000).step_by(97) {
            let folder = tempfile::tempdir().unwrap();
            let mut journal = start(folder.path());
            for commit in 1..=2 {
                journal.append(commit, &changed(commit, bytes)).unwrap();
                journal.mark().unwrap();
            }
            let path = segment::path(folder.path(), 1);
            let whole = fs::read(&path).unwrap();
            for size in [512, 4_096] {
                for start in (FRAMES..whole.len()).step_by(size) {
                    let mut lost = whole.clone();
                    lost[start..start + size].fill(0);
                    fs::write(&path, lost).unwrap();
                    let found = recover(folder.path(), 0).unwrap();
                    assert!(
                        found.last == 2 || found.broken.is_some(),
                        "{size} at {start}, frames of {bytes}"
                    );
                }
            }
        }
    }
}
