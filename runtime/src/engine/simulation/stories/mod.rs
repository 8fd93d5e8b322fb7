//! Stories: senders, runs, crashes, clocks that jump, and commits whose answers are lost, made up by chance.
//!
//! What must hold whatever happens is in [`judge`]. A story that shows a fault is made as short as it can be and
//! printed.

mod fulfils;
mod judge;
mod model;
mod pauses;
mod plan;
mod senders;
mod story;
mod world;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::faults::Fault;
use super::{rounds, seed};
use plan::Step;
use story::{Event, Story};
use world::World;

/// Tells so many stories. The error is the shortest story that was found for the first fault.
fn tell(stories: u32, fault: Option<Fault>) -> Result<(), String> {
    let config = Config {
        cases: stories,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&seed().to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
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
fn m53_b01_b17_whatever_happens_nothing_acknowledged_is_lost_and_nothing_is_taken_twice() {
    if let Err(story) = tell(rounds("PERENNIAL_STORIES", 600), None) {
        panic!("{story}");
    }
}

/// What a run sends came to the other one by way of its own shard, and so after what had come later.
#[test]
fn m53_a_run_is_told_things_in_the_order_in_which_they_arrived_whoever_sent_them() {
    let story = Story {
        plans: vec![vec![Step::Take(0)], vec![Step::Tell(0, 0)]],
        warm: false,
        // Sent too early, and again once the run is there.
        events: vec![Event::Send {
            run: 0,
            name: 0,
            key: true,
        }],
    };
    assert_eq!(World::new(&story, None).and_then(World::tell), Ok(()));
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
