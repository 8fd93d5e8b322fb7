//! Time as a workflow sees it (S6, S7).

use std::time::Duration;

use perennial::Timestamp;
use perennial::history::{Decision, Observation};
use perennial::prelude::*;

use crate::story::{BEGIN, Story, started};

#[workflow]
async fn nap(cx: &Cx, length: u64) -> Result<u64, Error> {
    let begin = cx.now();
    cx.sleep(millis(length)).await?;
    Ok(u64::try_from(cx.now().since(begin).as_millis())?)
}

fn deadline(story: &Story) -> Timestamp {
    match story.decisions() {
        [Decision::TimerStarted { deadline, .. }] => *deadline,
        other => panic!("{other:?}"),
    }
}

#[test]
fn s7_the_deadline_counts_from_the_clock_of_the_commit_and_not_from_the_observation() {
    let story = Story::untold::<nap>();
    let mut machine = story.into_machine();
    let clock = BEGIN + millis(250);
    let step = machine
        .observe(started::<nap>(1_000), BEGIN, clock)
        .unwrap();
    let [Decision::TimerStarted { deadline, .. }] = step.unit.decisions[..] else {
        panic!("{step:?}")
    };
    assert_eq!(deadline, BEGIN + millis(1_250));
    assert_eq!(machine.timers(), [(1, deadline)]);
}

#[test]
fn s7_a_clock_behind_the_stamps_is_not_believed() {
    let mut machine = Story::untold::<nap>().into_machine();
    machine
        .observe(started::<nap>(1_000), BEGIN, BEGIN - seconds(60))
        .unwrap();
    assert_eq!(machine.timers(), [(1, BEGIN + seconds(1))]);
}

#[test]
fn s7_a_deadline_is_rounded_up_to_the_millisecond_and_ends_with_the_calendar() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.sleep(Duration::from_nanos(1)).await?;
        cx.sleep(Duration::MAX).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    assert_eq!(deadline(&story), BEGIN + millis(1));
    story.fire(1);
    assert_eq!(deadline(&story), Timestamp::MAX);
}

#[test]
fn s7_the_recorded_deadline_holds_when_the_code_asks_for_another_length() {
    mod longer {
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn nap(cx: &Cx, length: u64) -> Result<u64, Error> {
            let begin = cx.now();
            cx.sleep(days(length)).await?;
            Ok(u64::try_from(cx.now().since(begin).as_millis())?)
        }
    }
    let mut story = Story::of::<nap>(1_000);
    story.fire(1);
    assert_eq!(story.result::<u64, Error>(), Ok(1_000));
    story.replay_on::<longer::nap>().unwrap();
}

#[test]
fn sleep_until_has_the_time_it_is_given_and_fires_at_once_when_that_has_passed() {
    #[workflow]
    async fn flow(cx: &Cx, until: Timestamp) -> Result<(), Error> {
        cx.sleep_until(until).await?;
        Ok(())
    }
    for until in [BEGIN + days(1), BEGIN - days(1)] {
        let mut story = Story::of::<flow>(until);
        assert_eq!(deadline(&story), until);
        story.fire(1);
        assert!(story.is_finished());
    }
}

#[test]
fn s6_now_is_the_stamp_of_the_last_observation_and_stands_still_between_awaits() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<Timestamp>, Error> {
        let mut seen = vec![cx.now(), cx.now()];
        cx.sleep(seconds(1)).await?;
        seen.push(cx.now());
        let _: bool = cx.random();
        seen.push(cx.now());
        Ok(seen)
    }
    let mut story = Story::of::<flow>(());
    story.advance(5_000);
    story.fire(1);
    let after = BEGIN + seconds(5);
    assert_eq!(
        story.result::<Vec<Timestamp>, Error>(),
        Ok(vec![BEGIN, BEGIN, after, after])
    );
}

#[test]
fn s6_now_never_goes_back_even_if_a_driver_lets_the_stamps() {
    let mut story = Story::of::<nap>(0);
    story.set_clock(BEGIN - days(1));
    story.observe(Observation::TimerFired { operation: 1 });
    assert_eq!(story.result::<u64, Error>(), Ok(0));
}

#[test]
fn timers_that_fire_with_one_observation_each_are_taken_in_that_order() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<String, Error> {
        let mut order = JoinSet::new(cx);
        for name in ["slow", "fast"] {
            let sleep = cx.sleep(seconds(if name == "slow" { 2 } else { 1 }));
            order.submit(async move { sleep.await.map(|()| name) });
        }
        let mut names = Vec::new();
        while let Some(name) = order.next().await {
            names.push(name?);
        }
        Ok(names.join(" "))
    }
    let mut story = Story::of::<flow>(());
    story.fire(2);
    story.fire(1);
    assert_eq!(story.result::<String, Error>(), Ok("fast slow".into()));
}
