//! The store in a folder: what it has acknowledged is there after a power cut at any moment, nothing is torn,
//! and it goes on (S3, S4).

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use perennial_powercut::{Faults, Recorder, Trace, pretend_restart};
use perennial_runtime::store::{Durability, ListQuery, SledStore, Store, StoreError};

use crate::child::Judge;
use crate::cuts::{Outcome, judge_all};
use crate::script::{Script, find};
use crate::sled::SEGMENT;
use crate::writing::{Acked, LITTLE, MUCH, Tell, make, open, scripts, step, write_beside_readers};

const IMAGES: &str = "PERENNIAL_TEST_IMAGES";

/// How much is written, and how.
#[derive(Clone, Copy, Debug)]
struct Load {
    durability: Durability,
    threads: usize,
    /// Of each thread.
    runs: usize,
    /// Of each run, each time that the store is opened.
    steps: u64,
    /// How often the store is opened. Closing it carries the journal over into sled.
    openings: usize,
    /// So many bytes gather before sled takes them over.
    gather: usize,
    /// Decides about the images.
    seed: u64,
}

const SHORT: Load = Load {
    durability: Durability::Sync,
    threads: 3,
    runs: 4,
    steps: 24,
    openings: 2,
    gather: LITTLE,
    seed: 1,
};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Many threads write to a new store, each to runs of its own, while others read.
fn write(folder: &Path, load: &Load) -> Option<Trace<Acked>> {
    make(folder, load.durability)?;
    let recorder = Arc::new(Recorder::start(folder).unwrap());
    let tell = marks(&recorder);
    let mut scripts = scripts(load.threads, load.runs);
    for _ in 0..load.openings {
        let opened = open(folder, load.durability, load.gather);
        let store = opened.unwrap_or_else(|error| panic!("{error}"));
        store.enroll().unwrap();
        write_beside_readers(&store, &mut scripts, load.steps, &tell);
    }
    drop(tell);
    Some(end(recorder))
}

/// Each step that is told sets a mark.
fn marks(recorder: &Arc<Recorder<Acked>>) -> Tell {
    let recorder = Arc::clone(recorder);
    Arc::new(move |acked| recorder.mark(acked))
}

fn end(recorder: Arc<Recorder<Acked>>) -> Trace<Acked> {
    let recorder = Arc::into_inner(recorder).unwrap();
    recorder.finish().unwrap_or_else(|error| panic!("{error}"))
}

/// Images of a trace, aimed at where sled or the journal begins a segment.
fn outcome(trace: &Trace<Acked>, load: &Load, images: usize, by: Judge) -> Outcome {
    let segments = trace.around_writes(|offset, _| offset % SEGMENT == 0);
    let changes = trace.around_changes();
    println!(
        "{trace}; {} cuts at segments, {} at names and sizes",
        segments.len(),
        changes.len()
    );
    let cuts = trace.sample(
        images,
        &[&segments, &changes, &trace.interesting()],
        load.seed,
    );
    judge_all(trace, &cuts, by, |marks| {
        let mut promised = vec![0; load.threads * load.runs];
        for (run, steps) in marks {
            promised[*run] = promised[*run].max(*steps);
        }
        promise(load.durability, &promised, &promised)
    })
}

/// What is promised of each run: `least` steps were told before the cut, and no more than `most` until after
/// it. One more than that may be there that was not told yet.
pub(crate) fn promise(durability: Durability, least: &[u64], most: &[u64]) -> String {
    let runs = least.iter().zip(most);
    let runs: Vec<_> = runs
        .map(|(least, most)| format!("{least}-{most}"))
        .collect();
    format!("{durability:?} {}", runs.join(" "))
}

fn promises(promised: &str) -> (Durability, Vec<RangeInclusive<u64>>) {
    let (durability, steps) = promised.split_once(' ').unwrap();
    let durability = match durability {
        "Sync" => Durability::Sync,
        "Os" => Durability::Os,
        other => panic!("{other}"),
    };
    let steps = steps.split(' ').map(|steps| {
        let (least, most) = steps.split_once('-').unwrap();
        least.parse().unwrap()..=most.parse().unwrap()
    });
    (durability, steps.collect())
}

/// Opens the image, and looks at all that is in it. Gives how many steps are missing, where that is allowed.
pub(crate) fn judge(image: &Path, promised: &str) -> Result<u64, String> {
    let (durability, promised) = promises(promised);
    pretend_restart();
    let store = open(image, durability, LITTLE).map_err(|error| error.to_string())?;
    let (mut scripts, missing) = look(&store, durability, &promised)?;
    let report = store.verify().map_err(text)?;
    if !report.is_whole() {
        return Err(report.problems[0].to_string());
    }
    // It goes on.
    for script in &mut scripts {
        script.next().wait(&store).map_err(text)?;
    }
    store.close().map_err(text)?;
    Ok(missing)
}

fn text(error: StoreError) -> String {
    error.to_string()
}

/// Each run is as it was promised, and what is listed of them fits.
fn look(
    store: &SledStore,
    durability: Durability,
    promised: &[RangeInclusive<u64>],
) -> Result<(Vec<Script>, u64), String> {
    let (mut scripts, mut missing) = (Vec::new(), 0);
    let (mut runs, mut timers, mut claimable) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (run, promised) in promised.iter().enumerate() {
        let least = match durability {
            Durability::Os => 0,
            _ => *promised.start(),
        };
        let script = find(store, run, least..=promised.end() + 1)?;
        missing += promised.start().saturating_sub(script.steps());
        for run in script.runs() {
            let Some(loaded) = store.load(run).map_err(text)? else {
                continue;
            };
            runs.insert(run.id.clone());
            for (operation, deadline) in &loaded.timers {
                timers.insert((*deadline, run.clone(), *operation));
            }
            if !loaded.tasks.is_empty() || !loaded.queue.is_empty() {
                claimable.insert(run.clone());
            }
        }
        scripts.push(script);
    }
    let query = ListQuery {
        limit: usize::MAX,
        ..ListQuery::default()
    };
    let listed = store.list(&query).map_err(text)?.runs.into_iter();
    if listed.map(|(run, _)| run).collect::<BTreeSet<_>>() != runs {
        return Err("other runs are listed than are there".into());
    }
    let due = store.due(None, usize::MAX).map_err(text)?.into_iter();
    let due = due.map(|timer| (timer.deadline, timer.run, timer.operation));
    if due.collect::<BTreeSet<_>>() != timers {
        return Err("other timers are due than the runs have".into());
    }
    let found = store.claimable("one", None, usize::MAX).map_err(text)?;
    if found.into_iter().collect::<BTreeSet<_>>() != claimable {
        return Err("other runs have something to do than are said to".into());
    }
    Ok((scripts, missing))
}

/// The power goes again while the image is opened, and each of what that leaves is judged.
pub(crate) fn judge_twice(image: &Path, promised: &str) -> Result<u64, String> {
    let (durability, _) = promises(promised);
    pretend_restart();
    let recorder = Recorder::<()>::start(image).map_err(|error| error.to_string())?;
    let store = open(image, durability, LITTLE).map_err(|error| error.to_string())?;
    drop(store);
    let trace = recorder.finish().map_err(|error| error.to_string())?;
    let cuts = trace.sample(3, &[&trace.interesting(), &trace.around_changes()], 1);
    let (mut replay, mut missing) = (trace.replay(), 0);
    for (cut, choice) in cuts {
        let again = folder();
        replay.seek(cut);
        let written = replay.image(choice).write_to(again.path().join("store"));
        written.map_err(|error| error.to_string())?;
        missing += judge(&again.path().join("store"), promised)
            .map_err(|loss| format!("again {}, {choice:?}: {loss}", trace.describe(cut)))?;
    }
    Ok(missing)
}

#[test]
fn what_is_acknowledged_is_there_after_a_power_cut() {
    let folder = folder();
    let Some(trace) = write(folder.path(), &SHORT) else {
        return;
    };
    let outcome = outcome(&trace, &SHORT, 60, Judge::Store);
    assert!(outcome.losses.is_empty(), "{}", outcome.told());
}

/// The last commits, and nothing else. That they are missing in some images shows that something could be
/// missing in those of the test above.
#[test]
fn what_only_the_system_has_may_be_lost() {
    let load = Load {
        durability: Durability::Os,
        // What sled has taken over is not lost.
        gather: MUCH,
        ..SHORT
    };
    let folder = folder();
    let Some(trace) = write(folder.path(), &load) else {
        return;
    };
    // How many show it is up to chance: about one in six.
    let outcome = outcome(&trace, &load, 72, Judge::Store);
    assert!(outcome.losses.is_empty(), "{}", outcome.told());
    assert!(outcome.behind >= 1, "{}", outcome.told());
}

#[test]
fn nor_is_it_lost_when_the_power_goes_again_while_the_store_is_opened() {
    let folder = folder();
    let Some(trace) = write(folder.path(), &SHORT) else {
        return;
    };
    let outcome = outcome(&trace, &SHORT, 5, Judge::StoreTwice);
    assert!(outcome.losses.is_empty(), "{}", outcome.told());
}

/// The power goes while a store is made: then there is none, or an empty one.
#[test]
fn a_store_that_was_half_made_is_made_again() {
    let load = Load {
        threads: 1,
        runs: 1,
        ..SHORT
    };
    let folder = folder();
    let recorder = Arc::new(Recorder::start(folder.path()).unwrap());
    if make(folder.path(), Durability::Sync).is_none() {
        return;
    }
    let outcome = outcome(&end(recorder), &load, 40, Judge::Store);
    assert!(outcome.losses.is_empty(), "{}", outcome.told());
}

/// It takes no more, and what was acknowledged before is there (S4).
#[test]
fn a_sync_that_fails_takes_nothing_back() {
    let folder = folder();
    if make(folder.path(), Durability::Sync).is_none() {
        return;
    }
    let recorder = Arc::new(Recorder::start(folder.path()).unwrap());
    // Nothing else syncs meanwhile: sled is not at work.
    let store =
        open(folder.path(), Durability::Sync, MUCH).unwrap_or_else(|error| panic!("{error}"));
    let tell = marks(&recorder);
    let mut scripts = scripts(1, 3).remove(0);
    for _ in 0..10 {
        step(&store, &mut scripts, &tell).unwrap();
    }
    let faults = Faults::below(folder.path()).unwrap();
    faults.fail_sync(1);
    let unknown = step(&store, &mut scripts, &tell).unwrap_err();
    assert!(matches!(unknown, StoreError::Unknown { .. }), "{unknown}");
    assert_eq!(faults.failed(), 1);
    let closed = Script::new(9).next().wait(&store).unwrap_err();
    assert!(matches!(closed, StoreError::Closed { .. }), "{closed}");
    drop((store, tell));
    let load = Load {
        threads: 1,
        runs: 3,
        ..SHORT
    };
    let outcome = outcome(&end(recorder), &load, 8, Judge::Store);
    assert!(outcome.losses.is_empty(), "{}", outcome.told());
}

/// As many images as `PERENNIAL_TEST_IMAGES` says, of one store after the other.
#[test]
#[ignore = "takes many minutes"]
fn thousands_of_power_cuts() {
    let images = std::env::var(IMAGES).map_or(3_000, |images| images.parse().unwrap());
    let (mut judged, mut lost) = (0, String::new());
    for round in 0.. {
        if judged >= images {
            break;
        }
        let load = Load {
            durability: if round % 4 == 3 {
                Durability::Os
            } else {
                Durability::Sync
            },
            threads: 1 + round % 4,
            runs: 3 + round % 5,
            steps: 20 + 15 * (round as u64 % 4),
            openings: 1 + round % 3,
            gather: if round / 4 % 2 == 0 { LITTLE } else { MUCH },
            seed: round as u64,
        };
        let folder = folder();
        let Some(trace) = write(folder.path(), &load) else {
            return;
        };
        for (images, by) in [(200, Judge::Store), (20, Judge::StoreTwice)] {
            let outcome = outcome(&trace, &load, images, by);
            judged += outcome.images;
            println!("round {round}, {by:?}: {}", outcome.told());
            if !outcome.losses.is_empty() {
                lost = format!("{lost}\nround {round}, {by:?}: {}", outcome.told());
            }
        }
    }
    assert!(lost.is_empty(), "{lost}");
}
