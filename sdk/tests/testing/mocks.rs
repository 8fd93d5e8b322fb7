//! Answers in place of activities.

use perennial::ActivityError;
use perennial::prelude::*;
use perennial::testing::TestRun;
use serde::{Deserialize, Serialize};

use super::{charge, count, notify, text_of};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum End {
    Charged(u64),
    Refused(String),
    GaveUp(String, u32),
    TimedOut,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

#[workflow]
async fn pay(cx: &Cx, cents: u64) -> Result<(End, u64), Error> {
    let began = cx.now();
    let end = match charge(cx, cents).attempt(seconds(10)).await {
        Ok(cents) => End::Charged(cents),
        Err(ActivityError::Rejected(why)) => End::Refused(why),
        Err(ActivityError::RetriesExhausted { last, attempts }) => End::GaveUp(last, attempts),
        Err(_) => End::TimedOut,
    };
    Ok((end, u64::try_from(cx.now().since(began).as_millis())?))
}

#[workflow]
async fn pay_within(cx: &Cx, limit: u64) -> Result<End, Error> {
    let retry = Retry::new().initial(seconds(1));
    match charge(cx, 5).retry(retry).timeout(seconds(limit)).await {
        Ok(cents) => Ok(End::Charged(cents)),
        Err(ActivityError::TimedOut) => Ok(End::TimedOut),
        Err(other) => Err(Error::from(other)),
    }
}

#[workflow]
async fn counts(cx: &Cx) -> Result<u64, Error> {
    Ok(count(cx).await? + count(cx).await?)
}

#[workflow]
async fn notifies(cx: &Cx) -> Result<(), Error> {
    notify(cx, "Ada".into(), "hello".into()).await?;
    notify(cx, "Bob".into(), "bye".into()).await?;
    Ok(())
}

#[perennial::test]
fn a_mock_gets_the_input_as_it_was_passed(t: &mut TestRun) {
    let notified = t.mock(notify, |(whom, text)| {
        assert!(whom.len() == 3 && !text.is_empty());
        Ok(())
    });
    let counted = t.mock(count, |()| Ok(4));
    t.start(notifies, ()).result().unwrap();
    assert_eq!(t.start(counts, ()).result().unwrap(), 8);
    let calls = [("Ada", "hello"), ("Bob", "bye")];
    assert_eq!(
        notified.calls(),
        calls.map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
    assert_eq!(counted.calls(), [(), ()]);
}

#[perennial::test]
fn a_rejection_reaches_the_workflow_at_once(t: &mut TestRun) {
    t.mock(charge, |_| Err(Failure::reject("no money".to_owned())))
        .times(1);
    let (end, took) = t.start(pay, 5).result().unwrap();
    assert_eq!((end, took), (End::Refused("no money".into()), 0));
}

#[perennial::test]
fn transient_failures_are_tried_again_after_the_waits_that_are_declared(t: &mut TestRun) {
    let charged = t.mock_with(charge, |acx, cents| match acx.attempt() {
        3 => Ok(cents),
        n => Err(Failure::transient(format!("attempt {n}"))),
    });
    let (end, took) = t.start(pay, 5).result().unwrap();
    assert_eq!((end, took), (End::Charged(5), 3_000));
    assert_eq!(charged.calls(), [5, 5, 5]);
}

#[perennial::test]
fn a_budget_that_is_spent_is_told(t: &mut TestRun) {
    t.mock(charge, |_| Err(Failure::transient("no connection")))
        .times(3);
    let (end, _) = t.start(pay, 5).result().unwrap();
    assert_eq!(end, End::GaveUp("no connection".into(), 3));
}

#[perennial::test]
fn an_attempt_that_takes_too_long_has_failed(t: &mut TestRun) {
    t.mock(charge, Ok).takes(seconds(11)).times(3);
    let (end, took) = t.start(pay, 5).result().unwrap();
    let text = "the attempt took longer than it may".to_owned();
    assert_eq!((end, took), (End::GaveUp(text, 3), 33_000));
}

#[perennial::test]
fn all_attempts_together_have_a_deadline_too(t: &mut TestRun) {
    let charged = t.mock(charge, |_| Err(Failure::transient("no connection")));
    let run = t.start(pay_within, 10);
    assert_eq!(run.result().unwrap(), End::TimedOut);
    // After 1, 2 and 4 seconds; the wait of 8 seconds would end too late.
    assert_eq!(charged.calls().len(), 4);
    assert_eq!(t.now(), TestRun::BEGIN + seconds(7));
}

#[perennial::test]
fn answers_may_follow_each_other(t: &mut TestRun) {
    let counted = t
        .mock(count, |()| Ok(1))
        .then(|()| Ok(10))
        .then(|()| Ok(100));
    assert_eq!(t.start(counts, ()).result().unwrap(), 11);
    assert_eq!(t.start(counts, ()).result().unwrap(), 200);
    assert_eq!(counted.calls().len(), 4);
}

#[test]
fn all_answers_that_follow_each_other_are_needed() {
    insta::assert_snapshot!(text_of(|t| {
        t.mock(count, |()| Ok(1))
            .then(|()| Ok(10))
            .then(|()| Ok(100));
        assert_eq!(t.start(counts, ()).result().unwrap(), 11);
    }));
}

#[perennial::test]
fn a_later_mock_takes_the_place_of_an_earlier_one(t: &mut TestRun) {
    let first = t.mock(count, |()| Ok(1));
    t.mock(count, |()| Ok(2));
    assert_eq!(t.start(counts, ()).result().unwrap(), 4);
    assert!(first.calls().is_empty());
}

#[test]
fn a_mock_that_must_not_be_called_is_not() {
    insta::assert_snapshot!(text_of(|t| {
        t.mock(count, |()| Ok(1)).never();
        t.start(counts, ());
    }));
}

#[test]
#[should_panic = "the mock says so"]
fn a_panic_of_a_mock_fails_the_test() {
    perennial::testing::test(|t| {
        t.mock(count, |()| panic!("the mock says so"));
        t.start(counts, ());
    });
}

#[perennial::test]
fn a_mock_sees_what_the_activity_would(t: &mut TestRun) {
    t.state(7_u64);
    t.mock_with(charge, |acx, cents| {
        assert_eq!(acx.idempotency_key(), "default/order-42~1");
        assert_eq!(acx.deadline(), Some(TestRun::BEGIN + seconds(10)));
        assert!(!acx.is_stopping());
        Ok(cents + acx.state::<u64>())
    });
    let (end, _) = t.start_as("order-42", pay, 5).result().unwrap();
    assert_eq!(end, End::Charged(12));
}

#[perennial::test]
fn a_failed_attempt_is_not_in_the_history(t: &mut TestRun) {
    t.mock(charge, |_| Err(Failure::transient("no connection")))
        .then(Ok);
    let run = t.start(pay, 5);
    run.result().unwrap();
    insta::assert_snapshot!(run.history().text());
}

#[test]
fn an_activity_that_fails_for_ever_does_not_stop_the_clock() {
    insta::assert_snapshot!(text_of(|t| {
        t.mock(notify, |_| Err(Failure::transient("no connection")));
        let _ = t.start(notifies, ()).result();
    }));
}

#[workflow]
async fn leaves_it_behind(cx: &Cx) -> Result<(), Error> {
    select! {
        _ = notify(cx, "Ada".into(), "hello".into()) => Ok(()),
        _ = cx.sleep(days(1)) => Ok(()),
    }
}

#[workflow]
async fn wait(cx: &Cx) -> Result<(), Error> {
    Ok(cx.sleep(days(9)).await?)
}

#[perennial::test]
fn what_a_run_has_left_behind_may_fail_for_ever(t: &mut TestRun) {
    let notified = t.mock(notify, |_| Err(Failure::transient("no connection")));
    let left = t.start(leaves_it_behind, ());
    t.advance(days(1));
    assert!(left.is_finished());
    t.start(wait, ()).result().unwrap();
    assert!(notified.calls().len() > 10_000);
}

#[perennial::test]
fn it_may_fail_for_a_week_where_the_test_moves_the_clock(t: &mut TestRun) {
    let notified = t.mock(notify, |_| Err(Failure::transient("no connection")));
    let run = t.start(notifies, ());
    t.advance(days(7));
    assert!(!run.is_finished());
    assert!(notified.calls().len() > 10_000);
}
