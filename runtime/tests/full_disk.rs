//! Space that comes to an end: each write is acknowledged or not known, and when there is space again the
//! store opens with everything that was acknowledged.
//!
//! The space is that of a small file system where mounting is permitted, and otherwise, or as well, a bound for
//! the size of files, which no permission is needed for.
//!
//! Variables: `PERENNIAL_FULL_DISKS` (how many times the space ends, 10), `PERENNIAL_SEED` (1).
#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

#[path = "full_disk/child.rs"]
mod child;
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use child::{Asked, Told};
use support::mount::{Ballast, Mounted};
use support::seeded::Seeded;
use support::{folder_for_sync, rounds, seed};

/// What became of each round.
#[derive(Debug, Default)]
struct Seen(BTreeMap<String, u64>);

impl Seen {
    fn note(&mut self, what: &str) {
        *self.0.entry(what.to_owned()).or_default() += 1;
    }
}

/// Space ends as a store is opened or written; then there is space again.
fn round(
    store: &Path,
    what: &str,
    seen: &mut Seen,
    last: &mut BTreeMap<String, u64>,
    limit: Option<u64>,
    free_again: impl FnOnce(),
) {
    let told = child::ask(store, &Asked::Fill { limit });
    last.extend(told.acknowledged.clone());
    seen.note(&told.end);
    assert!(!told.end.contains("amaged"), "{what}: {}", told.end);
    free_again();
    let Told { found, end, .. } = child::ask(store, &Asked::Look);
    assert_eq!(end, "whole", "{what}, after {}", told.end);
    for (run, sequence) in &*last {
        let there = found.get(run).copied().unwrap_or_default();
        assert!(
            there >= *sequence,
            "{what}: event {sequence} of run {run} was acknowledged, and {there} is the last"
        );
    }
    // Also what was not known, and is there now.
    last.clone_from(&found);
}

#[test]
fn a_full_disk_loses_nothing_and_the_store_opens_when_there_is_space() {
    let (count, seed) = (rounds("PERENNIAL_FULL_DISKS", 10), seed());
    let Some(mounted) = Mounted::ext4(40) else {
        return;
    };
    let (mut seen, mut last) = (Seen::default(), BTreeMap::new());
    let store = mounted.path().join("store");
    for index in 0..count {
        let mut chance = Seeded::nth(seed, index);
        // From time to time a new one: the place where the space ends is then in its first files.
        if chance.percent(25) {
            let _ = std::fs::remove_dir_all(&store);
            last.clear();
        }
        let bytes = 4_096 * chance.weighted(&[(2, 8), (3, 128), (3, 600), (2, 1_800)]);
        let bytes = chance.within(0..bytes);
        let ballast = Ballast::leave(&mounted, bytes);
        let what = format!("round {index}, {bytes} bytes are free");
        round(&store, &what, &mut seen, &mut last, None, || drop(ballast));
        // What is written goes, so that there is always some space for the next.
        if mounted.free() < 12 << 20 {
            std::fs::remove_dir_all(&store).unwrap();
            last.clear();
        }
    }
    println!("{count} full disks with seed {seed}: {:?}", seen.0);
}

#[test]
fn a_file_that_may_not_grow_loses_nothing_and_the_store_opens_when_it_may() {
    let (count, seed) = (rounds("PERENNIAL_FULL_DISKS", 10), seed());
    let folder = folder_for_sync("full-disk");
    let (mut seen, mut last) = (Seen::default(), BTreeMap::new());
    let store: PathBuf = folder.join("store");
    for index in 0..count {
        let mut chance = Seeded::nth(seed, index);
        if chance.percent(30) {
            let _ = std::fs::remove_dir_all(&store);
            last.clear();
        }
        // Bytes, sled's segments, and where its file ends just now.
        let size = std::fs::metadata(store.join("sled/db")).map_or(0, |found| found.len());
        let limit = match chance.within(0..4) {
            0 => chance.within(1..200_000),
            1 => chance.within(1..2 << 20),
            _ => size + chance.within(0..600_000),
        };
        let what = format!("round {index}, files of {limit} bytes");
        round(&store, &what, &mut seen, &mut last, Some(limit), || {});
    }
    println!("{count} bounds with seed {seed}: {:?}", seen.0);
    std::fs::remove_dir_all(folder).unwrap();
}
