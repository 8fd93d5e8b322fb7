//! Waiting for what is not durable is found in the same unit, wherever it stands (S9).

use perennial::Blocked;
use perennial::history::Observation;
use perennial::prelude::*;

use crate::story::{Foreign, Story, completed, replay, started};

#[activity(pure)]
async fn part(_acx: &ActivityCx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

/// The same is found when the run comes to it in replay.
fn found<W: perennial::Workflow>(lead: Vec<Observation>) -> Blocked {
    let mut observations = vec![started::<W>(())];
    observations.extend(lead);
    let last = observations.pop().unwrap();
    let mut story = Story::untold::<W>();
    for observation in observations {
        story.observe(observation);
    }
    let blocked = story.blocked(last.clone());
    assert_eq!(blocked.code(), "W103");
    let mut units = story.units.clone();
    let number = units.last().map_or(1, |unit| unit.last() + 1);
    units.push(perennial::history::Unit {
        number,
        at: crate::story::BEGIN,
        observation: last,
        decisions: vec![],
    });
    let replayed = replay::<W>(&units).unwrap_err();
    // Live it may have decided something before, which this history does not have.
    assert!(matches!(replayed.code(), "W103" | "H203"), "{replayed}");
    blocked
}

#[test]
fn alone() {
    #[workflow]
    async fn flow(_cx: &Cx) -> Result<(), Error> {
        Foreign.await;
        Ok(())
    }
    insta::assert_snapshot!(found::<flow>(vec![]), @"
    run order-42 (flow) is blocked: before event 2 it waits for something that is not durable, so that nothing would ever wake it [W103]

      in flow at sdk/tests/machine/foreign.rs:43:17

    Nothing was changed. Look for an `.await` inside a macro that the attributes cannot see into, and for a `Future` written by hand; await activities, timers and `#[durable]` functions only. The run is tried again when a program is started that does.
    ");
}

#[test]
fn after_something_durable_that_was_ready_in_the_same_unit() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        part(cx, 1).await?;
        Foreign.await;
        Ok(())
    }
    found::<flow>(vec![completed(1, 1)]);
}

#[test]
fn after_a_join_that_ended_in_the_same_unit() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let _ = join!(part(cx, 1), part(cx, 2));
        Foreign.await;
        Ok(())
    }
    found::<flow>(vec![completed(1, 1), completed(2, 1)]);
}

#[test]
fn after_a_select_whose_loser_was_waiting() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        select! {
            _ = cx.sleep(days(1)) => {},
            _ = part(cx, 1) => {},
        }
        Foreign.await;
        Ok(())
    }
    found::<flow>(vec![completed(2, 1)]);
}

#[test]
fn after_a_task_was_spawned_that_waits() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let _task = cx.spawn(part(cx, 1));
        let mut set = JoinSet::new(cx);
        set.submit(part(cx, 2));
        Foreign.await;
        Ok(())
    }
    found::<flow>(vec![]);
}

#[test]
fn beside_durable_members_of_a_join() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let _ = join!(part(cx, 1), Foreign, part(cx, 2));
        Ok(())
    }
    insta::assert_snapshot!(found::<flow>(vec![]), @"
    run order-42 (flow) is blocked: before event 4 it waits for something that is not durable, so that nothing would ever wake it [W103]

      in flow at sdk/tests/machine/foreign.rs:108:36

    Nothing was changed. Look for an `.await` inside a macro that the attributes cannot see into, and for a `Future` written by hand; await activities, timers and `#[durable]` functions only. The run is tried again when a program is started that does.
    ");
}

#[test]
fn in_a_collection_only_when_a_member_comes_to_it() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let members = (1..4).map(|number| async move {
            let part = part(cx, number).await;
            if number == 2 {
                Foreign.await;
            }
            part
        });
        join_all(members).await;
        Ok(())
    }
    found::<flow>(vec![completed(1, 1), completed(2, 2)]);
}

#[test]
fn beside_durable_arms_of_a_select() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        select! {
            _ = cx.sleep(days(1)) => {},
            _ = Foreign => {},
        }
        Ok(())
    }
    found::<flow>(vec![]);
}

#[test]
fn in_spawned_work_and_in_members_of_sets() {
    #[workflow]
    async fn spawned(cx: &Cx) -> Result<(), Error> {
        let own = cx.clone();
        cx.spawn(async move {
            part(&own, 1).await.ok();
            Foreign.await;
        });
        cx.sleep(days(1)).await?;
        Ok(())
    }
    found::<spawned>(vec![completed(1, 1)]);

    #[workflow]
    async fn member(cx: &Cx) -> Result<(), Error> {
        let mut set = JoinSet::new(cx);
        set.submit(Foreign);
        set.next().await;
        Ok(())
    }
    found::<member>(vec![]);
}

#[test]
fn in_spawned_work_when_the_workflow_returns_in_the_same_unit() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.spawn(Foreign);
        Ok(())
    }
    found::<flow>(vec![]);
}

#[test]
fn inside_a_macro_that_the_attribute_cannot_see_into() {
    macro_rules! hidden {
        ($future:expr) => {
            $future.await
        };
    }
    #[durable]
    async fn helper(cx: &Cx) -> u64 {
        let number = part(cx, 1).await.unwrap_or(0);
        hidden!(std::future::pending::<()>());
        number
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        Ok(helper(cx).await)
    }
    // The nearest await that the attribute saw is named.
    insta::assert_snapshot!(found::<flow>(vec![completed(1, 1)]), @"
    run order-42 (flow) is blocked: before event 4 it waits for something that is not durable, so that nothing would ever wake it [W103]

      in flow at sdk/tests/machine/foreign.rs:199:23

    Nothing was changed. Look for an `.await` inside a macro that the attributes cannot see into, and for a `Future` written by hand; await activities, timers and `#[durable]` functions only. The run is tried again when a program is started that does.
    ");
}

#[test]
fn a_machine_that_was_blocked_by_a_panic_leaves_nothing_to_the_next_on_its_thread() {
    #[workflow]
    async fn bad(cx: &Cx) -> Result<(), Error> {
        let bad = async move {
            cx.log("about to fall");
            panic!("as the test wants it")
        };
        let _: ((), ()) = join!(Foreign, bad);
        Ok(())
    }
    #[workflow]
    async fn good(cx: &Cx) -> Result<(), Error> {
        cx.sleep(seconds(1)).await?;
        Ok(())
    }
    let blocked = Story::untold::<bad>().blocked(started::<bad>(()));
    assert_eq!(blocked.code(), "W101");
    Story::of::<good>(()).fire(1);
}
