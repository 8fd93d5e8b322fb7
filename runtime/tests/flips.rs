//! Media that change what was written: a store notices, or has it all.
//!
//! A store is damaged at one place, and opened and read in a process of its own. Allowed is that everything
//! that was acknowledged is there, that the opening is refused, or that it is said what is wrong. Not allowed
//! is a store that tells something else than what was acknowledged without a word, a process that aborts, and
//! one that comes to no end.
//!
//! Variables: `PERENNIAL_FLIPS` (how many damages, 40), `PERENNIAL_SEED` (1), `PERENNIAL_FLIPS_ONLY` (the
//! number of one that is to be looked at alone), `PERENNIAL_KEEP` (a folder in which damaged stores are kept
//! that are silent or told of by a verification alone, as they were before anybody looked: where the pages of
//! a database are differs from time to time, so the seed alone does not bring them back).
#![allow(clippy::unwrap_used)]

#[path = "flips/account.rs"]
mod account;
#[path = "flips/child.rs"]
mod child;
#[path = "flips/places.rs"]
mod places;
#[path = "flips/story.rs"]
mod story;
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use child::{Ending, Outcome};
use places::{Damage, Part};
use support::seeded::Seeded;

/// So many damages are done to one set of stores before others are written.
const OF_ONE_STORY: u64 = 250;
/// A damaged store is slow sometimes, and so are machines.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder in memory, where there is one.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")))
        .unwrap()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Stores of each ending.
struct Written {
    folder: tempfile::TempDir,
}

impl Written {
    fn new(seed: u64, writes: u64) -> Self {
        let folder = folder();
        for ending in Ending::ALL {
            let written = Self::paths(folder.path(), ending);
            child::write(&written.0, &written.1, ending, writes, seed);
        }
        Self { folder }
    }

    fn paths(folder: &Path, ending: Ending) -> (PathBuf, PathBuf) {
        let name = format!("{ending:?}");
        (folder.join(&name), folder.join(format!("{name}.account")))
    }
}

struct Case {
    index: u64,
    ending: Ending,
    damage: Damage,
    outcome: Outcome,
    said: String,
}

fn one(written: &Written, seed: u64, index: u64) -> Case {
    let mut chance = Seeded::nth(seed, index);
    let ending = *chance.one(&Ending::ALL);
    let (store, expected) = Written::paths(written.folder.path(), ending);
    let copied = written.folder.path().join(format!("case-{index}"));
    copy(&store, &copied);
    let damage = Damage::choose(&copied, &mut chance);
    damage.apply(&copied);
    let keep = std::env::var_os("PERENNIAL_KEEP").map(|keep| {
        let kept = Path::new(&keep).join(format!("case-{seed}-{index}"));
        copy(&copied, &kept);
        let _ = std::fs::copy(&expected, kept.with_extension("account"));
        kept
    });
    let (mut outcome, mut said) = child::look(&copied, &expected, PATIENCE);
    // What was said once must not be forgotten: sled writes as it opens.
    if !outcome.is_failure() && chance.percent(25) {
        let (again, says) = child::look(&copied, &expected, PATIENCE);
        if again.is_failure() {
            said = format!("{says}; the first time it was {outcome:?}: {said}");
            outcome = again;
        }
    }
    if let Some(kept) = keep.filter(|_| !outcome.is_failure() && outcome != Outcome::ToldByVerify) {
        std::fs::remove_dir_all(kept).unwrap();
    }
    std::fs::remove_dir_all(copied).unwrap();
    Case {
        index,
        ending,
        damage,
        outcome,
        said,
    }
}

fn table(cases: &[Case]) -> String {
    let mut rows: BTreeMap<(Ending, Part), [u64; 7]> = BTreeMap::new();
    let mut refused: BTreeMap<&str, u64> = BTreeMap::new();
    for case in cases {
        let row = rows.entry((case.ending, case.damage.part)).or_default();
        row[case.outcome.column()] += 1;
        if let Outcome::Refused(class) = &case.outcome {
            *refused.entry(class).or_default() += 1;
        }
    }
    let mut text = format!("{:26}", "");
    for column in Outcome::COLUMNS {
        write!(text, "{column:>9}").unwrap();
    }
    for ((ending, part), row) in rows {
        write!(text, "\n{:26}", format!("{ending:?} {part:?}")).unwrap();
        for number in row {
            write!(text, "{number:>9}").unwrap();
        }
    }
    write!(text, "\nrefused: {refused:?}").unwrap();
    text
}

#[test]
fn no_damage_is_silent_or_takes_the_process_with_it() {
    let (flips, seed) = (support::rounds("PERENNIAL_FLIPS", 40), support::seed());
    let only = std::env::var("PERENNIAL_FLIPS_ONLY").ok();
    let only: Option<u64> = only.map(|text| text.parse().unwrap());
    let writes = if flips > 100 { 4_000 } else { 600 };
    let cases = Mutex::new(Vec::new());
    let mut begin = 0;
    while begin < flips {
        let end = flips.min(begin + OF_ONE_STORY);
        if only.is_none_or(|only| (begin..end).contains(&only)) {
            let written = Written::new(seed + begin, writes);
            let next = AtomicU64::new(begin);
            std::thread::scope(|threads| {
                for _ in 0..2 * std::thread::available_parallelism().map_or(2, usize::from) {
                    threads.spawn(|| {
                        loop {
                            let index = next.fetch_add(1, Ordering::Relaxed);
                            if index >= end {
                                break;
                            }
                            if only.is_none_or(|only| only == index) {
                                let case = one(&written, seed, index);
                                cases.lock().unwrap().push(case);
                            }
                        }
                    });
                }
            });
        }
        begin = end;
    }
    let mut cases = cases.into_inner().unwrap();
    cases.sort_by_key(|case| case.index);
    println!(
        "{} damages with seed {seed}\n{}",
        cases.len(),
        table(&cases)
    );
    let told: Vec<_> = cases
        .iter()
        .filter(|case| {
            only.is_some() || case.outcome.is_failure() || case.outcome == Outcome::ToldByVerify
        })
        .map(|case| {
            let Case {
                index,
                ending,
                damage,
                outcome,
                said,
            } = case;
            format!("{index}: {ending:?}, {damage}: {outcome:?}: {said}")
        })
        .collect();
    println!("{}", told.join("\n"));
    let failures = cases
        .iter()
        .filter(|case| case.outcome.is_failure())
        .count();
    assert_eq!(failures, 0, "see above");
}
