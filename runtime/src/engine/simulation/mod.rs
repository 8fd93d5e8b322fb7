//! The engine in a world that a story makes up: senders, runs, crashes, clocks that jump, and commits whose answers are
//! lost. All of it on one thread, so that a story is the same each time.
//!
//! A shard here is the shard of a real process; what surrounds it is the story's. The store's writes are done when the
//! story says so, the mailbox is read when it says so, alarms ring by its clock. What must hold whatever happens is in
//! [`judge`]. A story that shows a fault is made as short as it can be and printed.

mod faulty;
mod judge;
mod plan;
mod process;
mod senders;
mod story;
mod world;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use faulty::Fault;
use story::Story;
use world::World;

/// How many stories a test tells, and which: another seed tells others.
fn rounds(variable: &str, otherwise: u32) -> u32 {
    let said = std::env::var(variable).ok();
    said.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Tells so many stories. The error is the shortest story that was found for the first fault.
fn tell(stories: u32, fault: Option<Fault>) -> Result<(), String> {
    let config = Config {
        cases: stories,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let mut seed = [0; 32];
    seed[..4].copy_from_slice(&rounds("PERENNIAL_SEED", 1).to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let told = runner.run(&story::any(), |story| {
        World::new(&story, fault)
            .and_then(World::tell)
            .map_err(TestCaseError::fail)
    });
    told.map_err(|error| match error {
        TestError::Fail(reason, story) => format!("{reason}\n\n{story:?}"),
        TestError::Abort(reason) => reason.to_string(),
    })
}

#[test]
fn m53_whatever_happens_nothing_acknowledged_is_lost_and_nothing_is_consumed_twice() {
    if let Err(story) = tell(rounds("PERENNIAL_STORIES", 1_000), None) {
        panic!("{story}");
    }
}

/// A simulator that finds nothing proves nothing.
#[test]
fn each_fault_of_a_store_is_found() {
    for fault in Fault::ALL {
        let found = tell(2_000, Some(fault));
        assert!(found.is_err(), "{fault:?} was not found");
    }
}

#[test]
fn what_a_fault_is_found_with_is_a_short_story() {
    let Err(story) = tell(2_000, Some(Fault::LosesAMessage)) else {
        panic!("it was not found");
    };
    let steps = story.lines().filter(|line| line.starts_with("  ")).count();
    assert!(steps <= 8, "{story}");
    assert!(Story::is_readable(&story), "{story}");
}
