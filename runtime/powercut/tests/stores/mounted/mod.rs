//! The power goes while a real file system is written to: an ext4 on a loop device, whose file is copied. The
//! copy is mounted, which replays the journal of the file system, and judged like any other image.
//!
//! A cut is made in one of two ways: the writer is stopped, then each of its calls has ended, and it goes on
//! after the copy; or the file system is shut down in the midst of the writer's calls, which ends the writer.
//!
//! What the device was told counts as being on it, whether it was flushed or not: in that the recorder is
//! stricter. This here knows what a file system really makes of its syncs.

mod disk;
mod mounts;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use perennial_runtime::store::Durability;

use crate::child::{Judge, judge};
use crate::cuts::{KEEP, Outcome};
use crate::writing::{LITTLE, MUCH};
use disk::Disk;
use mounts::{attached_below, program, run, run_apart, with_own_mounts};
use writer::{Load, Writer};

const CUTS: &str = "PERENNIAL_TEST_CUTS";
/// Another seed shows other plans. The moments of the cuts are others each time.
const SEED: &str = "PERENNIAL_SEED";
const WORKERS: usize = 2;
/// Then the file system does not write its journal by itself.
const MOUNT: &str = "commit=600";

/// A writer, and when the power goes.
#[derive(Clone, Debug)]
struct Plan {
    load: Load,
    /// How the file system is mounted.
    mount: &'static str,
    /// So many cuts with the writer stopped. Then there is another one, with the file system shut down.
    stops: usize,
    /// So much is told before the first cut.
    before: u64,
    /// And at most so much between one and the next.
    between: u64,
    /// The writer is killed after every other cut, and another one goes on.
    kills: bool,
    seed: u64,
}

const SYNC: Load = Load::Store {
    durability: Durability::Sync,
    threads: 2,
    runs: 3,
    steps: 40,
    gather: LITTLE,
};

const SHORT: Plan = Plan {
    load: SYNC,
    mount: MOUNT,
    stops: 2,
    before: 60,
    between: 120,
    kills: false,
    seed: 1,
};

/// What a power cut has left.
#[derive(Debug)]
struct Cut {
    image: PathBuf,
    is_stopped: bool,
    promised: String,
    /// How many steps are promised.
    steps: u64,
}

impl Cut {
    fn name(&self) -> String {
        let how = if self.is_stopped {
            "writer stopped"
        } else {
            "file system shut down"
        };
        format!("{}, {how}", self.image.file_name().unwrap().display())
    }
}

/// Writes, and cuts the power again and again.
fn cut(folder: &Path, plan: &Plan) -> Vec<Cut> {
    let mut rng = Rng::with_seed(plan.seed);
    let mut cuts = Vec::new();
    let image = folder.join("disk");
    disk::make(&image);
    let disk = Disk::mount(image, folder.join("disk.mounted"), plan.mount).unwrap();
    let mut writer = Writer::start(plan.load, disk.place(), folder);
    let copies = copies(folder);
    for number in 0..=plan.stops {
        let begin = if number == 0 { plan.before } else { 0 };
        writer.wait_for(begin + rng.u64(..plan.between));
        // Also a moment of which nothing is told, like one in the opening of the store.
        (0..rng.u64(..20_000)).for_each(|_| std::thread::yield_now());
        let image = copies.join(format!("{}-{number}", plan.seed));
        let is_stopped = number < plan.stops;
        let (told, until) = if is_stopped {
            writer.stop();
            let told = writer.told();
            (told.clone(), told)
        } else {
            let told = writer.told();
            disk.shut_down();
            writer.kill();
            (told, writer.told())
        };
        disk.copy_to(&image);
        cuts.push(Cut {
            image,
            is_stopped,
            promised: writer.promise(&told, &until),
            steps: told.iter().sum(),
        });
        if is_stopped {
            writer.go_on();
            if plan.kills && number % 2 == 0 {
                writer.start_again();
            }
        }
    }
    cuts
}

/// A folder in memory: images that are opened once need no disk.
fn copies(folder: &Path) -> PathBuf {
    let copies = folder.join("copies");
    if !copies.exists() {
        std::fs::create_dir(&copies).unwrap();
        let mount = ["-t", "tmpfs", "tmpfs"];
        run(program("mount").args(mount).arg(&copies)).unwrap();
    }
    copies
}

/// Mounts an image, and has another process look at what is in it.
fn judge_one(by: Judge, cut: &Cut) -> Result<u64, String> {
    let kept = std::env::var_os(KEEP)
        .map(|folder| Path::new(&folder).join(cut.image.file_name().unwrap()));
    if let Some(kept) = &kept {
        disk::copy_file(&cut.image, kept);
    }
    let place = cut.image.with_extension("mounted");
    let judged = Disk::mount(cut.image.clone(), place, MOUNT)
        .and_then(|disk| judge(by, &disk.place().join("store"), &cut.promised));
    std::fs::remove_file(&cut.image).unwrap();
    match (&judged, kept) {
        (Ok(_), Some(kept)) => std::fs::remove_file(kept).unwrap(),
        (Err(_), Some(_)) => println!("kept, {}: {}", cut.name(), cut.promised),
        (_, None) => {}
    }
    judged.map_err(|loss| format!("{}: {loss}", cut.name()))
}

fn judge_all(by: Judge, cuts: &[Cut]) -> Outcome {
    let (losses, next) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let behind = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        for _ in 0..WORKERS {
            threads.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cut) = cuts.get(number) else { break };
                    match judge_one(by, cut) {
                        Ok(0) => {}
                        Ok(_) => drop(behind.fetch_add(1, Ordering::Relaxed)),
                        Err(loss) => losses.lock().unwrap().push((number, loss)),
                    }
                }
            });
        }
    });
    let mut losses = losses.into_inner().unwrap();
    losses.sort_by_key(|(number, _)| *number);
    Outcome {
        images: cuts.len(),
        behind: behind.into_inner(),
        losses,
    }
}

/// Gives what became of the images, and how many steps were promised to be in them.
fn outcome(folder: &Path, plan: &Plan, by: Judge) -> (Outcome, u64) {
    println!("{plan:?}");
    let cuts = cut(folder, plan);
    let outcome = judge_all(by, &cuts);
    let steps: Vec<_> = cuts.iter().map(|cut| cut.steps).collect();
    println!("{}; promised {steps:?}", outcome.told());
    (outcome, steps.iter().sum())
}

#[test]
fn what_is_acknowledged_is_there_after_a_power_cut() {
    let test = "mounted::what_is_acknowledged_is_there_after_a_power_cut";
    with_own_mounts(test, |folder| {
        let (outcome, _) = outcome(folder, &SHORT, Judge::Store);
        assert!(outcome.losses.is_empty(), "{}", outcome.told());
    });
}

/// So often a control may come to nothing: a system that is short of memory writes at once what need not be
/// written yet, and then there is nothing to lose.
const TRIES: u64 = 10;

/// That the end is missing in some images shows that it could be missing in those of the test above.
#[test]
fn what_only_the_system_has_may_be_lost() {
    let test = "mounted::what_only_the_system_has_may_be_lost";
    with_own_mounts(test, |folder| {
        let found = (1..=TRIES).any(|seed| {
            let plan = Plan {
                load: Load::Store {
                    durability: Durability::Os,
                    threads: 2,
                    runs: 3,
                    steps: 40,
                    gather: MUCH,
                },
                seed,
                ..SHORT
            };
            let (outcome, _) = outcome(folder, &plan, Judge::Store);
            assert!(outcome.losses.is_empty(), "{}", outcome.told());
            outcome.behind > 0
        });
        assert!(found, "nothing was ever lost, so nothing is shown");
    });
}

#[test]
fn sled_with_flush_alone_loses_what_it_promised() {
    let test = "mounted::sled_with_flush_alone_loses_what_it_promised";
    with_own_mounts(test, |folder| {
        let found = (1..=TRIES).any(|seed| {
            let plan = Plan {
                load: Load::Sled,
                before: 10,
                between: 10,
                seed,
                ..SHORT
            };
            !outcome(folder, &plan, Judge::Sled).0.losses.is_empty()
        });
        assert!(found, "nothing was ever lost, so nothing is shown");
    });
}

/// Where nothing has the time to clean up, not even of a writer that is stopped.
#[test]
fn nothing_stays_mounted_when_a_test_is_killed() {
    const ENDS: i32 = 7;
    if let Some(folder) = mounts::folder() {
        let image = folder.join("disk");
        disk::make(&image);
        let disk = Disk::mount(image, folder.join("disk.mounted"), SHORT.mount).unwrap();
        let mut writer = Writer::start(SHORT.load, disk.place(), &folder);
        writer.wait_for(1);
        writer.stop();
        assert_eq!(attached_below(&folder).len(), 1);
        std::process::exit(ENDS);
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let test = "mounted::nothing_stays_mounted_when_a_test_is_killed";
    let Some((status, _)) = run_apart(test, folder.path()) else {
        return;
    };
    assert_eq!(status.code(), Some(ENDS));
    let until = Instant::now() + Duration::from_secs(60);
    while !attached_below(folder.path()).is_empty() {
        assert!(Instant::now() < until, "it is still there");
        std::thread::yield_now();
    }
}

/// A plan of the long form.
fn plan(round: u64) -> Plan {
    const MOUNTS: [&str; 5] = [
        MOUNT,
        "commit=600,data=writeback",
        "commit=600,nodelalloc",
        "commit=600,data=journal",
        "commit=1",
    ];
    let mut rng = Rng::with_seed(round);
    Plan {
        load: Load::Store {
            durability: match round % 4 {
                3 => Durability::Os,
                _ => Durability::Sync,
            },
            threads: rng.usize(1..4),
            runs: rng.usize(1..6),
            // From a store that is mostly being opened to one that is open all the time.
            steps: *rng.choice(&[15, 60, 2_000]).unwrap(),
            gather: *rng.choice(&[LITTLE, MUCH]).unwrap(),
        },
        mount: rng.choice(MOUNTS).unwrap(),
        stops: 4,
        // From a store that is being made to one with long histories.
        before: *rng.choice(&[0, 500, 5_000]).unwrap(),
        between: *rng.choice(&[4, 400]).unwrap(),
        kills: rng.bool(),
        seed: round,
    }
}

/// As many cuts as `PERENNIAL_TEST_CUTS` says, of one store after the other.
#[test]
#[ignore = "takes many minutes"]
fn hundreds_of_power_cuts() {
    let number =
        |name, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let (cuts, seed) = (number(CUTS, 200), number(SEED, 1));
    let test = "mounted::hundreds_of_power_cuts";
    with_own_mounts(test, |folder| {
        let (mut all, mut promised) = (Outcome::default(), 0);
        for round in seed * 1_000.. {
            if all.images as u64 >= cuts {
                break;
            }
            let (outcome, steps) = outcome(folder, &plan(round), Judge::Store);
            promised += steps;
            all.images += outcome.images;
            all.behind += outcome.behind;
            all.losses.extend(outcome.losses);
        }
        println!("all: {}; promised {promised} steps", all.told());
        assert!(all.losses.is_empty(), "{}", all.told());
    });
}
