//! sled itself. That it loses shows that these tests can fail.

use std::fs::File;
use std::path::Path;

use perennial_powercut::{Recorder, Trace};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use sled::{Batch, Config};

use crate::child::Judge;
use crate::cuts::{Outcome, judge_all};

/// sled gives its file out in pieces of this size.
pub(crate) const SEGMENT: u64 = 512 << 10;
const KEYS: u64 = 3_000;
const VALUE: usize = 200;

fn config(folder: &Path) -> Config {
    Config::new().path(folder).cache_capacity(64 << 20)
}

fn value(key: u64, commit: u64) -> Vec<u8> {
    let mut value = vec![u8::try_from((key + commit) % 251).unwrap(); VALUE];
    value[..8].copy_from_slice(&commit.to_be_bytes());
    value
}

/// The keys that a commit writes.
fn keys(commit: u64) -> impl Iterator<Item = u64> {
    (0..100).map(move |n| (commit * 7_919 + n * (1 + commit % 3)) % KEYS)
}

/// One that is still being made promises nothing.
pub(crate) fn make(folder: &Path) {
    drop(config(folder).open().unwrap());
    wait(folder);
}

/// Writes so many commits, each flushed. Who is told of one is promised it, and those before it.
pub(crate) fn write(folder: &Path, commits: u64, tell: impl Fn(u64)) {
    let db = config(folder).flush_every_ms(Some(500)).open().unwrap();
    for commit in 1..=commits {
        let mut batch = Batch::default();
        for key in keys(commit) {
            batch.insert(&key.to_be_bytes(), value(key, commit));
        }
        batch.insert(b"last", &commit.to_be_bytes());
        db.apply_batch(batch).unwrap();
        db.flush().unwrap();
        tell(commit);
    }
    drop(db);
    wait(folder);
}

fn record(folder: &Path, commits: u64) -> Trace<u64> {
    make(folder);
    let recorder = Recorder::start(folder).unwrap();
    write(folder, commits, |commit| recorder.mark(commit));
    recorder.finish().unwrap_or_else(|error| panic!("{error}"))
}

/// `false`: the folder cannot have the attribute.
fn make_synchronous(folder: &Path) -> bool {
    let folder = File::open(folder).unwrap();
    let made =
        ioctl_getflags(&folder).and_then(|flags| ioctl_setflags(&folder, flags | IFlags::SYNC));
    if let Err(error) = made {
        eprintln!("passed over: no synchronous attribute here ({error})");
    }
    made.is_ok()
}

/// sled lets go of its file some time after it was dropped.
fn wait(folder: &Path) {
    File::open(folder.join("db")).unwrap().lock().unwrap();
}

fn outcome(trace: &Trace<u64>, images: usize) -> Outcome {
    println!("{trace}");
    let segments = trace.around_writes(|offset, _| offset % SEGMENT == 0);
    let cuts = trace.sample(images, &[&segments, &trace.interesting()], 1);
    judge_all(trace, &cuts, Judge::Sled, |marks| {
        marks.last().copied().unwrap_or(0).to_string()
    })
}

/// sled refuses those, whatever it has in `db`.
fn remove_half_snapshots(image: &Path) {
    for entry in std::fs::read_dir(image).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "generating")
        {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// Everything that was written up to the last commit that is there, and that is not older than promised.
pub(crate) fn judge(image: &Path, promised: &str) -> Result<u64, String> {
    let promised: u64 = promised.parse().unwrap();
    remove_half_snapshots(image);
    let db = config(image)
        .flush_every_ms(None)
        .open()
        .map_err(|error| format!("sled refuses it: {error}"))?;
    let get = |key: &[u8]| db.get(key).map_err(|error| format!("sled fails: {error}"));
    let last = get(b"last")?.map_or(0, |last| u64::from_be_bytes((*last).try_into().unwrap()));
    if last < promised {
        return Err(format!(
            "commit {promised} was promised, the last is {last}"
        ));
    }
    let mut expected = vec![0; usize::try_from(KEYS).unwrap()];
    for commit in 1..=last {
        for key in keys(commit) {
            expected[usize::try_from(key).unwrap()] = commit;
        }
    }
    for (key, commit) in (0_u64..).zip(expected).filter(|(_, commit)| *commit > 0) {
        if get(&key.to_be_bytes())?.as_deref() != Some(&value(key, commit)[..]) {
            return Err(format!("key {key} of commit {commit} is missing"));
        }
    }
    Ok(0)
}

#[test]
fn flush_alone_loses_what_it_promised() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let trace = record(folder.path(), 60);
    let outcome = outcome(&trace, 12);
    println!("lost: {}", outcome.told());
    assert!(outcome.losses.len() >= 3, "{}", outcome.told());
}

#[test]
fn with_the_synchronous_attribute_flush_keeps_what_it_promised() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if !make_synchronous(folder.path()) {
        return;
    }
    let trace = record(folder.path(), 60);
    let outcome = outcome(&trace, 20);
    assert!(outcome.losses.is_empty(), "{}", outcome.told());
}
