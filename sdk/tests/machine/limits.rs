//! Bounds (S15, O57): each is a typed error when it is hit, and code that would never end is stopped.

use perennial::history::{Decision, Observation, Unit};
use perennial::machine::{MAX_COMMANDS, MAX_EVENTS, MAX_OPEN};
use perennial::prelude::*;
use serde_json::value::RawValue;

use crate::story::{BEGIN, Story, started};

#[activity(idempotent)]
async fn part(_acx: &ActivityCx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

#[activity(idempotent)]
async fn store(_acx: &ActivityCx, text: Box<RawValue>) -> Result<(), Failure> {
    drop(text);
    Ok(())
}

fn runaway<W: perennial::Workflow>(input: impl serde::Serialize) -> String {
    let mut story = Story::untold::<W>().unchecked();
    let blocked = story.blocked(started::<W>(input));
    assert_eq!(blocked.code(), "W102");
    assert!(!blocked.is_unfit());
    let text = blocked.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn w102_a_loop_of_draws_that_never_waits() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let mut sum = 0_u64;
        loop {
            sum = sum.wrapping_add(cx.random());
        }
    }
    let mut story = Story::untold::<flow>().unchecked();
    insta::assert_snapshot!(story.blocked(started::<flow>(())), @"
    run order-42 (flow) is blocked: 10001 commands after one event, and there may be at most 10000; this would be event 10002 [W102]

    Nothing was changed. Look for a loop that does not end, or do the work in several runs; the run is tried again when a program is started that stays within the bound.
    ");
}

#[test]
fn w102_a_loop_of_recorded_values_of_lines_and_of_tasks() {
    #[workflow]
    #[allow(unreachable_code)]
    async fn records(cx: &Cx) -> Result<(), Error> {
        loop {
            cx.record("again", || 1);
        }
    }
    #[workflow]
    #[allow(unreachable_code)]
    async fn lines(cx: &Cx) -> Result<(), Error> {
        loop {
            cx.log("again");
        }
    }
    #[workflow]
    #[allow(unreachable_code)]
    async fn tasks(cx: &Cx) -> Result<(), Error> {
        loop {
            drop(cx.spawn(cx.sleep(seconds(1))));
        }
    }
    #[workflow]
    #[allow(unreachable_code)]
    async fn idle_tasks(cx: &Cx) -> Result<(), Error> {
        loop {
            drop(cx.spawn(async {}));
        }
    }
    #[workflow]
    #[allow(unreachable_code)]
    async fn members(cx: &Cx) -> Result<(), Error> {
        let mut set = JoinSet::new(cx);
        loop {
            set.submit(part(cx, 1));
        }
    }
    let texts = [
        runaway::<records>(()),
        runaway::<lines>(()),
        runaway::<tasks>(()),
        runaway::<idle_tasks>(()),
        runaway::<members>(()),
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    run order-42 (records) is blocked: 10001 commands after one event, and there may be at most 10000; this would be event 10002 [W102]
    run order-42 (lines) is blocked: 10001 log lines after one event, and there may be at most 10000; this would be event 2 [W102]
    run order-42 (tasks) is blocked: 10001 tasks begun after one event, and there may be at most 10000; this would be event 10002 [W102]
    run order-42 (idle_tasks) is blocked: 10001 tasks begun after one event, and there may be at most 10000; this would be event 2 [W102]
    run order-42 (members) is blocked: 10001 tasks begun after one event, and there may be at most 10000; this would be event 10002 [W102]
    ");
}

#[test]
fn w102_a_loop_that_awaits_and_never_has_to_wait() {
    #[workflow]
    async fn too_large(cx: &Cx) -> Result<(), Error> {
        // A raw text is encoded by copying it.
        let text = RawValue::from_string(format!("\"{}\"", "x".repeat(1 << 20)))?;
        while store(cx, text.clone()).await.is_err() {}
        Ok(())
    }
    #[workflow]
    #[allow(unreachable_code)]
    async fn selects(cx: &Cx) -> Result<(), Error> {
        #[durable]
        async fn ready() {}
        loop {
            select! {
                _ = cx.sleep(seconds(1)) => {},
                _ = ready() => {},
            }
        }
    }
    #[workflow]
    #[allow(unreachable_code)]
    async fn asks_again(cx: &Cx) -> Result<(), Error> {
        #[durable]
        async fn ready() {}
        let mut sleep = cx.sleep(seconds(1));
        loop {
            select! {
                _ = &mut sleep => {},
                _ = ready() => {},
            }
        }
    }
    let texts = [
        runaway::<too_large>(()),
        runaway::<selects>(()),
        runaway::<asks_again>(()),
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    run order-42 (too_large) is blocked: 10001 activities with too large an input after one event, and there may be at most 10000; this would be event 2 [W102]
    run order-42 (selects) is blocked: 10001 commands after one event, and there may be at most 10000; this would be event 10002 [W102]
    run order-42 (asks_again) is blocked: 1000001 polls after one event, and there may be at most 1000000; this would be event 3 [W102]
    ");
}

#[test]
fn w102_code_that_catches_the_stop_is_stopped_again() {
    #[workflow]
    #[allow(unreachable_code)]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        for _ in 0..3 {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                loop {
                    let _: u64 = cx.random();
                }
            }));
            assert!(caught.is_err());
        }
        Ok(())
    }
    runaway::<flow>(());
}

#[test]
fn w102_what_draws_while_it_is_dropped_by_the_stop_does_not_abort() {
    struct Noisy(Cx);
    impl Drop for Noisy {
        fn drop(&mut self) {
            for _ in 0..3 * MAX_COMMANDS {
                let _: u64 = self.0.random();
            }
        }
    }
    #[workflow]
    #[allow(unreachable_code)]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let _noisy = Noisy(cx.clone());
        loop {
            let _: u64 = cx.random();
        }
    }
    runaway::<flow>(());
}

#[test]
fn w102_a_future_that_wakes_itself_for_ever() {
    struct Restless<F>(std::pin::Pin<Box<F>>);
    impl<F: std::future::Future> std::future::Future for Restless<F> {
        type Output = F::Output;
        fn poll(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<F::Output> {
            context.waker().wake_by_ref();
            self.0.as_mut().poll(context)
        }
    }
    impl<F: std::future::Future> perennial::Durable for Restless<F> {}

    #[workflow]
    async fn root(cx: &Cx) -> Result<(), Error> {
        Restless(Box::pin(cx.sleep(seconds(1)))).await?;
        Ok(())
    }
    #[workflow]
    async fn member(cx: &Cx) -> Result<(), Error> {
        let _ = join!(Restless(Box::pin(cx.sleep(seconds(1)))), part(cx, 1));
        Ok(())
    }
    #[workflow]
    async fn task(cx: &Cx) -> Result<(), Error> {
        cx.spawn(Restless(Box::pin(cx.sleep(seconds(1))))).await?;
        Ok(())
    }
    let texts = [
        runaway::<root>(()),
        runaway::<member>(()),
        runaway::<task>(()),
    ];
    insta::assert_snapshot!(texts.join("\n"), @"
    run order-42 (root) is blocked: 1000001 polls after one event, and there may be at most 1000000; this would be event 3 [W102]
    run order-42 (member) is blocked: 1000001 polls after one event, and there may be at most 1000000; this would be event 4 [W102]
    run order-42 (task) is blocked: 1000001 polls after one event, and there may be at most 1000000; this would be event 3 [W102]
    ");
}

#[test]
fn w102_tasks_that_begin_inside_each_other_do_not_overflow_the_stack() {
    #[durable]
    async fn dig(cx: Cx, depth: u64) -> u64 {
        let own = cx.clone();
        let deeper = cx.spawn(async move { BoxDurable::new(dig(own, depth + 1)).await });
        deeper.await
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        Ok(dig(cx.clone(), 0).await)
    }
    insta::assert_snapshot!(runaway::<flow>(()), @"run order-42 (flow) is blocked: 101 tasks that begin inside each other, and there may be at most 100; this would be event 2 [W102]");
}

#[test]
fn s15_ten_thousand_operations_may_be_open_and_draws_beside_them() {
    #[workflow]
    async fn flow(cx: &Cx, count: usize) -> Result<usize, Error> {
        let mut set = JoinSet::new(cx);
        // In two units, since one has room for ten thousand commands.
        for number in 0..count / 2 {
            set.submit(part(cx, number as u64));
        }
        cx.sleep(seconds(1)).await?;
        for number in count / 2..count {
            set.submit(part(cx, number as u64));
        }
        let _: u64 = cx.random();
        set.next().await;
        Ok(set.len())
    }
    let mut story = Story::untold::<flow>().unchecked();
    story.observe(started::<flow>(MAX_OPEN));
    let timer = MAX_OPEN as u64 / 2 + 1;
    story.fire(timer);
    assert_eq!(story.machine().open_activities().len(), MAX_OPEN);
    // Leaving them behind is a decision for each, and the return one more.
    let step = story.complete(1, 1);
    assert_eq!(step.unit.decisions.len(), MAX_OPEN);

    let mut story = Story::untold::<flow>().unchecked();
    story.observe(started::<flow>(MAX_OPEN + 2));
    let blocked = story.blocked(Observation::TimerFired {
        operation: timer + 1,
    });
    insta::assert_snapshot!(blocked, @"
    run order-42 (flow) is blocked: 10001 open operations, and there may be at most 10000; this would be event 10004 [W102]

    Nothing was changed. Look for a loop that does not end, or do the work in several runs; the run is tried again when a program is started that stays within the bound.
    ");
}

#[test]
fn s15_a_unit_has_at_most_16_mib() {
    #[workflow]
    async fn flow(cx: &Cx, count: usize) -> Result<(), Error> {
        for _ in 0..count {
            let text = format!("\"{}\"", "x".repeat(1_000_000));
            cx.record("large", || RawValue::from_string(text).unwrap_or_default());
        }
        Ok(())
    }
    let mut story = Story::untold::<flow>().unchecked();
    let step = story.observe(started::<flow>(16));
    assert!(perennial::history::encode_unit(&step.unit).len() < perennial::machine::MAX_UNIT_BYTES);
    insta::assert_snapshot!(runaway::<flow>(17), @"run order-42 (flow) is blocked: 17002908 bytes after one event, and there may be at most 16777216; this would be event 18 [W102]");
}

#[test]
fn s15_a_history_has_at_most_100_000_events() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        loop {
            cx.sleep(seconds(1)).await?;
        }
    }
    let mut machine = Story::untold::<flow>().into_machine();
    machine.observe(started::<flow>(()), BEGIN, BEGIN).unwrap();
    let mut operation = 1;
    let blocked = loop {
        match machine.observe(Observation::TimerFired { operation }, BEGIN, BEGIN) {
            Ok(_) => operation += 1,
            Err(blocked) => break blocked,
        }
    };
    // `started`, and two events for each timer but the last.
    assert_eq!(2 * operation, MAX_EVENTS);
    insta::assert_snapshot!(blocked, @"
    run order-42 (flow) is blocked: 100002 events in a history, and there may be at most 100000; this would be event 100002 [W102]

    Nothing was changed. Look for a loop that does not end, or do the work in several runs; the run is tried again when a program is started that stays within the bound.
    ");
}

#[test]
fn w102_in_replay_code_that_goes_on_for_ever_is_told_the_difference_and_stopped() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        Ok(cx.random())
    }
    mod endless {
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
            let mut sum = 0_u64;
            loop {
                sum = sum.wrapping_add(cx.random());
            }
        }
    }
    assert_eq!(
        Story::of::<flow>(()).blocked_on::<endless::flow>().code(),
        "H203"
    );
}

#[test]
fn s5_stamps_and_numbers_at_the_end_of_their_range_are_no_trouble() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.sleep(seconds(1)).await?;
        Ok(())
    }
    let end = perennial::Timestamp::from_millis(u64::MAX);
    let mut machine = Story::untold::<flow>().into_machine();
    let step = machine.observe(started::<flow>(()), end, end).unwrap();
    assert!(matches!(
        step.unit.decisions[..],
        [Decision::TimerStarted { .. }]
    ));
    let unit = Unit {
        number: u64::MAX,
        ..step.unit
    };
    assert_eq!(machine.replay(unit).unwrap_err().code(), "H212");
}
