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
fn s7_a_deadline_is_rounded_up_to_the_millisecond_and_a_hundred_years_are_exact() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.sleep(Duration::from_nanos(1)).await?;
        cx.sleep(perennial::MAX_SLEEP).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    assert_eq!(deadline(&story), BEGIN + millis(1));
    story.fire(1);
    assert_eq!(deadline(&story), BEGIN + millis(1) + days(36_525));
}

#[test]
fn o18_a_length_that_cannot_be_meant_is_an_error_and_nothing_is_recorded() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<SleepError>, Error> {
        let far = Timestamp::MAX;
        let long = cx.sleep(perennial::MAX_SLEEP + millis(1)).await;
        Ok([
            long,
            cx.sleep(Duration::MAX).await,
            cx.sleep_until(far).await,
        ]
        .into_iter()
        .filter_map(Result::err)
        .collect())
    }
    let story = Story::of::<flow>(());
    let [Decision::Completed { .. }] = story.decisions() else {
        panic!("{:?}", story.decisions())
    };
    let errors = story.result::<Vec<SleepError>, Error>().unwrap();
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(texts.join("\n"), @"
    a sleep of 36526 days is too long: the longest is 36525 days
    a sleep of 213503982334602 days is too long: the longest is 36525 days
    a sleep of 2913222 days is too long: the longest is 36525 days
    ");
    story.replay_on::<flow>().unwrap();
}

#[test]
fn a_loop_that_goes_on_after_such_an_error_is_stopped() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        loop {
            let _ = cx.sleep(Duration::MAX).await;
        }
    }
    let mut machine = Story::untold::<flow>().into_machine();
    let error = machine.observe(started::<flow>(()), BEGIN, BEGIN);
    assert_eq!(error.unwrap_err().code(), "W102");
}

#[test]
fn a_time_limit_that_is_too_long_is_an_error_and_the_message_stays() {
    const GO: Message<u64> = Message::new("go");
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        match cx.receive(GO).timeout(Duration::MAX).await {
            Err(ReceiveError::LimitTooLong { .. }) => Ok(cx.receive(GO).await?),
            other => panic!("{other:?}"),
        }
    }
    let mut story = Story::of::<flow>(());
    story.message(1, "go", 7);
    assert_eq!(story.result::<u64, Error>(), Ok(7));
    story.replay_on::<flow>().unwrap();
}

#[test]
fn a_time_limit_that_is_too_long_is_not_called_a_sleep() {
    let length = days(36_865);
    let texts = [
        ReceiveError::LimitTooLong { length }.to_string(),
        StubError::LimitTooLong { length }.to_string(),
        SleepError::TooLong { length }.to_string(),
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    a time limit of 36865 days is too long: the longest is 36525 days
    a time limit of 36865 days is too long: the longest is 36525 days
    a sleep of 36865 days is too long: the longest is 36525 days
    ");
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
