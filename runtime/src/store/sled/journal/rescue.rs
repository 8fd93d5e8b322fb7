//! Reading what is left of a journal that is damaged: every frame that is whole, wherever it stands. Nothing
//! is changed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use super::frame::{self, Frame, Kind};
use super::segment::{self, FRAMES, Header};
use crate::store::sled::effects::Changed;

/// What is left of a journal.
#[derive(Debug, Default)]
pub(in crate::store::sled) struct Rescued {
    /// The commits that are whole.
    pub(in crate::store::sled) commits: BTreeMap<u64, Changed>,
    /// The last commit that anything in it speaks of, whole or not.
    pub(in crate::store::sled) last: u64,
    /// It may have had commits at its end of which nothing is known.
    pub(in crate::store::sled) is_short: bool,
    /// What is wrong with it, in words.
    pub(in crate::store::sled) problems: Vec<String>,
}

/// One segment.
struct Segment {
    sequence: u64,
    header: Option<Header>,
}

/// Reads all segments. That there is no journal is no error, but a problem.
pub(in crate::store::sled) fn rescue(journal: &Path) -> io::Result<Rescued> {
    let mut rescued = Rescued::default();
    let sequences = match segment::list(journal) {
        Ok(sequences) => sequences,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    if sequences.is_empty() {
        rescued.is_short = true;
        rescued.problems.push("there is no journal".into());
    }
    let segments: Vec<_> = sequences
        .into_iter()
        .map(|sequence| {
            let beginning = read_beginning(&segment::path(journal, sequence)).unwrap_or_default();
            let header = Header::read(&beginning).filter(|header| header.sequence == sequence);
            Segment { sequence, header }
        })
        .collect();
    for (at, segment) in segments.iter().enumerate() {
        let next = segments.get(at + 1);
        for missing in segment.sequence + 1..next.map_or(0, |next| next.sequence) {
            let missing = format!("segment {missing} of the journal is missing");
            rescued.problems.push(missing);
        }
        // What the next segment does not follow on was given up by an opening in between.
        let until = next
            .filter(|next| next.sequence == segment.sequence + 1)
            .and_then(|next| next.header)
            .map(|header| header.before);
        rescued.last = rescued.last.max(until.unwrap_or(0));
        match fs::read(segment::path(journal, segment.sequence)) {
            Ok(bytes) => {
                if segment
                    .header
                    .is_some_and(|header| (bytes.len() as u64) < header.size)
                {
                    rescued.is_short = true;
                    rescued.problems.push(format!(
                        "segment {} of the journal was cut short",
                        segment.sequence
                    ));
                }
                let is_left = rescued.read(segment, &bytes, until.unwrap_or(u64::MAX));
                if is_left && next.is_none() {
                    rescued.is_short = true;
                    rescued.problems.push(format!(
                        "segment {} of the journal, the last one, is missing",
                        segment.sequence + 1
                    ));
                }
            }
            Err(error) => {
                rescued.is_short = true;
                rescued.problems.push(format!(
                    "segment {} of the journal cannot be read: {error}",
                    segment.sequence
                ));
            }
        }
    }
    Ok(rescued)
}

fn read_beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(FRAMES as u64)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Rescued {
    /// The number that a segment's frames carry.
    fn epoch_of(&mut self, segment: &Segment, bytes: &[u8]) -> Option<u64> {
        if let Some(header) = segment.header {
            self.last = self.last.max(header.before);
            return Some(header.epoch);
        }
        let sequence = segment.sequence;
        self.problems.push(format!(
            "the beginning of segment {sequence} of the journal is not what was written"
        ));
        // A file may have been a segment before: those frames are older.
        frames(bytes, None)
            .max_by_key(|(_, frame)| frame.link.commit)
            .map(|(epoch, _)| epoch)
    }

    /// Reads a segment, and says whether it was left for another one.
    fn read(&mut self, segment: &Segment, bytes: &[u8], until: u64) -> bool {
        let Some(epoch) = self.epoch_of(segment, bytes) else {
            return false;
        };
        let mut is_left = false;
        for (_, frame) in frames(bytes, Some(epoch)) {
            let commit = frame.link.commit;
            if commit > until {
                continue;
            }
            self.last = self.last.max(commit);
            is_left |= frame.kind == Kind::End;
            if frame.kind != Kind::Commit {
                continue;
            }
            match frame::changes(frame.body) {
                Some(changed) => drop(self.commits.insert(commit, changed)),
                None => self.problems.push(format!(
                    "commit {commit} in segment {} of the journal is not what was written",
                    segment.sequence
                )),
            }
        }
        is_left
    }
}

/// The whole frames of a segment, with their epochs: those of one epoch, or all.
fn frames(bytes: &[u8], epoch: Option<u64>) -> impl Iterator<Item = (u64, Frame<'_>)> {
    let mut at = FRAMES;
    std::iter::from_fn(move || {
        while let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= frame::HEADER) {
            let found = frame::epoch(rest)
                .filter(|found| epoch.is_none_or(|epoch| epoch == *found))
                .and_then(|found| Some((found, frame::read(rest, found)?)));
            if let Some((epoch, frame)) = found {
                at += frame.length;
                return Some((epoch, frame));
            }
            at += frame::ALIGN;
        }
        None
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::recover::recover;
    use super::super::{Journal, Settings};
    use super::*;

    const SETTINGS: Settings = Settings {
        segment: 16_384,
        sync: false,
    };

    fn changed(commit: u64) -> Changed {
        Changed::from([(commit.to_be_bytes().to_vec(), Some(vec![7; 500]))])
    }

    /// A journal of a hundred commits over several segments.
    fn journal() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let recovered = recover(folder.path(), 0).unwrap();
        let mut journal = Journal::start(folder.path().into(), SETTINGS, &recovered).unwrap();
        for commit in 1..=100 {
            journal.append(commit, &changed(commit)).unwrap();
            journal.mark().unwrap();
        }
        assert!(segment::list(folder.path()).unwrap().len() > 3);
        folder
    }

    fn missing(rescued: &Rescued) -> Vec<u64> {
        (1..=100)
            .filter(|commit| !rescued.commits.contains_key(commit))
            .collect()
    }

    #[test]
    fn all_of_a_whole_journal_is_read() {
        let folder = journal();
        let rescued = rescue(folder.path()).unwrap();
        assert_eq!((missing(&rescued), rescued.last), (vec![], 100));
        assert!(!rescued.is_short && rescued.problems.is_empty());
        assert_eq!(rescued.commits[&42], changed(42));
    }

    #[test]
    fn a_broken_frame_takes_nothing_with_it() {
        let folder = journal();
        let second = segment::path(folder.path(), 2);
        let mut bytes = fs::read(&second).unwrap();
        bytes[FRAMES + 40] ^= 1;
        fs::write(&second, bytes).unwrap();
        let rescued = rescue(folder.path()).unwrap();
        let missing = missing(&rescued);
        assert_eq!(missing.len(), 1, "{missing:?}");
    }

    #[test]
    fn a_missing_segment_takes_its_commits_alone() {
        let folder = journal();
        fs::remove_file(segment::path(folder.path(), 2)).unwrap();
        let rescued = rescue(folder.path()).unwrap();
        let lost = missing(&rescued);
        assert!(!lost.is_empty() && lost.len() < 40, "{lost:?}");
        assert_eq!(lost.len() as u64, lost[lost.len() - 1] - lost[0] + 1);
        assert_eq!(rescued.problems, ["segment 2 of the journal is missing"]);
    }

    #[test]
    fn a_last_segment_that_is_gone_or_cut_is_noticed() {
        let folder = journal();
        let sequences = segment::list(folder.path()).unwrap();
        let last = segment::path(folder.path(), sequences[sequences.len() - 1]);
        let bytes = fs::read(&last).unwrap();
        fs::write(&last, &bytes[..bytes.len() - 1]).unwrap();
        assert!(rescue(folder.path()).unwrap().is_short);
        fs::remove_file(&last).unwrap();
        let rescued = rescue(folder.path()).unwrap();
        assert!(rescued.is_short && rescued.problems.len() == 1);
    }

    #[test]
    fn a_segment_without_a_header_is_read_all_the_same() {
        let folder = journal();
        let second = segment::path(folder.path(), 2);
        let mut bytes = fs::read(&second).unwrap();
        bytes[..FRAMES].fill(0);
        fs::write(&second, bytes).unwrap();
        let rescued = rescue(folder.path()).unwrap();
        assert_eq!(missing(&rescued), Vec::<u64>::new());
        assert_eq!(rescued.problems.len(), 1);
    }

    /// An opening after a power cut may give up the end of a journal and go on behind it.
    #[test]
    fn what_was_given_up_does_not_come_back() {
        let folder = journal();
        let sequences = segment::list(folder.path()).unwrap();
        let last = sequences[sequences.len() - 1];
        let path = segment::path(folder.path(), last);
        let mut bytes = fs::read(&path).unwrap();
        let first = frame::read(&bytes[FRAMES..], Header::read(&bytes).unwrap().epoch).unwrap();
        let (lost, length) = (first.link.commit + 1, first.length);
        bytes[FRAMES + length + 40] ^= 1;
        fs::write(&path, bytes).unwrap();
        let mut recovered = recover(folder.path(), 0).unwrap();
        assert_eq!(recovered.last, lost - 1);
        recovered.discard_rest(folder.path()).unwrap();
        let mut journal = Journal::start(folder.path().into(), SETTINGS, &recovered).unwrap();
        let other = Changed::from([(b"other".to_vec(), None)]);
        journal.append(lost, &other).unwrap();
        let rescued = rescue(folder.path()).unwrap();
        assert_eq!((rescued.last, &rescued.commits[&lost]), (lost, &other));
        assert!(!rescued.commits.contains_key(&(lost + 1)));
    }

    #[test]
    fn no_journal_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let rescued = rescue(&folder.path().join("journal")).unwrap();
        assert!(rescued.is_short && rescued.commits.is_empty());
    }
}
