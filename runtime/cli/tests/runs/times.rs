//! What a timeline tells of times, and what it does not: its stamps are those of what a run was told.

use perennial::history::{Channel, Decision, Observation};
use perennial::value::Value;
use perennial_runtime::store::{Changes, Status, Store as _};

use crate::scene::{Units, activity, at, commit, completed, create, receive, told};
use crate::world::World;

/// Waits a minute for an approval, which comes later, as a signal does, and then buys. Its last message has come while
/// nobody could tell it to the run.
fn bought(ended: bool) -> World {
    let world = World::new();
    let store = world.open("store");
    create(&store, "late-1", "purchase");
    let timer = Decision::TimerStarted {
        operation: 2,
        deadline: at(60),
        site: None,
    };
    let mut end = vec![Decision::Dropped { operation: 4 }];
    if ended {
        end.push(Decision::Completed {
            value: Value::null(),
            open: Vec::new(),
        });
    }
    let wait = vec![receive(1, Channel::Message, "approval"), timer];
    let timer = |operation, seconds| Decision::TimerStarted {
        operation,
        deadline: at(seconds),
        site: None,
    };
    let message = |number, name| Observation::MessageArrived(told(number, name, "true"));
    let units = Units::of("late-1", "purchase", wait)
        .and(
            60,
            Observation::TimerFired { operation: 2 },
            vec![
                Decision::Dropped { operation: 1 },
                receive(3, Channel::Message, "buy"),
            ],
        )
        .and(70, message(1, "approval"), vec![])
        .and(
            71,
            Observation::SignalArrived(told(2, "hurry", "null")),
            vec![],
        )
        .and(
            80,
            message(3, "buy"),
            vec![
                Decision::Received {
                    operation: 3,
                    channel: Channel::Message,
                    number: 3,
                    invalid: None,
                },
                timer(4, 600),
                activity(5, "buy"),
            ],
        )
        .and(267, completed(5, "\"O-1\""), end);
    commit(
        &store,
        "late-1",
        Changes {
            units: units.0,
            status: ended.then_some(Status::Completed),
            stamp: at(267),
            next_operation: Some(6),
            ..Changes::default()
        },
    );
    store.close().unwrap();
    world
}

fn shown(ended: bool) -> String {
    let shown = bought(ended).perennial(&["show", "store", "late-1"]);
    let shown = shown.succeeded();
    // How long it has waited depends on when that is asked.
    let lines = shown.lines().filter(|line| line.starts_with("  "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_nobody_took_says_so_and_no_activity_is_said_to_have_taken_long_that_had_to_wait() {
    let ended = shown(true);
    assert!(!ended.contains("3 min"), "{ended}");
    insta::assert_snapshot!(ended);
}

#[test]
fn a_message_that_a_run_may_yet_take_is_not_said_to_be_taken_by_nobody() {
    let running = shown(false);
    assert!(
        running.contains("#1, not taken yet  true") && !running.contains("nobody took"),
        "{running}"
    );
}
