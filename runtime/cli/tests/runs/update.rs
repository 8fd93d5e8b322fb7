//! Asking a run of a program that is at work for a change.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use perennial::prelude::*;

use crate::at_work;
use crate::process::{Process, tell};
use crate::world::World;

const SET_LIMIT: Update<u64, u64, String> = Update::new("set-limit");

/// Has a limit that can be changed, and ends when it is 500.
#[workflow]
async fn budget(cx: &Cx, limit: u64) -> Result<u64, Error> {
    let limit = Rc::new(Cell::new(limit));
    let set = Rc::clone(&limit);
    cx.handle(
        SET_LIMIT,
        |new: &u64| match new {
            ..10 => Err(format!("{new} is less than 10")),
            _ => Ok(()),
        },
        move |new: u64| set.replace(new),
    );
    cx.until(|| limit.get() >= 500).await;
    Ok(limit.get())
}

/// The program: has a run, says how that ends, and ends with it.
#[test]
#[ignore = "the other process"]
fn program() {
    let tokio = tokio::runtime::Runtime::new().unwrap();
    tokio.block_on(async {
        let builder = at_work::runtime().workflow(budget).control_socket();
        let runtime = builder.start().await.unwrap();
        let run = runtime
            .client()
            .start(budget, "budget-1", 100)
            .await
            .unwrap();
        tell("ready");
        tell(format!("budget-1 {:?}", run.result().await));
        let _ = runtime.drain(Duration::from_secs(30)).await;
    });
}

fn started(world: &World) -> Process {
    at_work::started(at_work::role("update::program", world))
}

#[test]
fn o21_a_run_is_asked_for_a_change_and_says_what_it_thinks_of_it() {
    let world = World::new();
    let process = started(&world);
    let update = |input, more: &[&str]| {
        let all = [&["update", "store", "budget-1", "set-limit", input], more].concat();
        world.perennial(&all).all()
    };
    let told = [
        update("5", &[]),
        update("200", &["--key", "a"]),
        update("200", &["--key", "a", "--json"]),
        update("200", &["--key", "a"]),
        update("300", &["--key", "a"]),
        update("\"much\"", &[]),
        world
            .perennial(&["update", "store", "budget-1", "limits", "1"])
            .all(),
        world
            .perennial(&["update", "store", "budget-2", "set-limit", "1"])
            .all(),
        world
            .perennial(&["update", "store", "budget-1", "set limit", "1"])
            .all(),
        update("500", &[]),
    ];
    insta::assert_snapshot!(told.join("\n"));
    assert_eq!(process.line().as_deref(), Some("budget-1 Ok(500)"));
    assert!(process.ended().status.success());
    // Nobody is there who could say whether it may be.
    let after = [
        update("600", &[]),
        world.perennial(&["show", "store", "budget-1"]).all(),
        world
            .perennial(&["history", "store", "budget-1", "--plain"])
            .all(),
    ];
    insta::assert_snapshot!(after.join("\n"));
}

#[test]
fn a_run_that_waits_for_a_condition_is_shown_with_what_it_can_be_asked_for() {
    let world = World::new();
    let process = started(&world);
    let shown = || world.perennial(&["show", "store", "budget-1"]).succeeded();
    let asked = "ask it: perennial update store budget-1 set-limit 0\n";
    let running = shown();
    assert!(
        running.contains("budget · waiting for a condition, nothing new for"),
        "{running}"
    );
    assert!(running.ends_with(asked), "{running}");
    // Paused it takes none, and stopped nobody can say whether it may be.
    world.perennial(&["pause", "store", "budget-1"]).succeeded();
    let paused = shown();
    assert!(!paused.contains("ask it"), "{paused}");
    drop(process);
    world
        .perennial(&["resume", "store", "budget-1"])
        .succeeded();
    let stopped = shown();
    assert!(stopped.contains("waiting for a condition"), "{stopped}");
    assert!(!stopped.contains("ask it"), "{stopped}");
}
