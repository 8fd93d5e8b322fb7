//! Time passes only when the test lets it.

use perennial::prelude::*;
use perennial::testing::TestRun;

use super::{charge, text_of};

#[workflow]
async fn every_day(cx: &Cx, times: u64) -> Result<Vec<Timestamp>, Error> {
    let mut days_seen = Vec::new();
    for _ in 0..times {
        cx.sleep(days(1)).await?;
        days_seen.push(cx.now());
    }
    Ok(days_seen)
}

#[workflow]
async fn until(cx: &Cx, time: Timestamp) -> Result<Timestamp, Error> {
    cx.sleep_until(time).await?;
    Ok(cx.now())
}

#[workflow]
async fn charge_within(cx: &Cx, limit: u64) -> Result<Option<u64>, Error> {
    select! {
        charged = charge(cx, 5) => Ok(Some(charged?)),
        _ = cx.sleep(hours(limit)) => Ok(None),
    }
}

#[workflow]
async fn waits_for_ever(cx: &Cx) -> Result<(), Error> {
    loop {
        cx.sleep(perennial::MAX_SLEEP).await?;
    }
}

#[perennial::test]
fn the_clock_stops_at_each_timer_on_its_way(t: &mut TestRun) {
    let run = t.start(every_day, 3);
    t.advance(days(2) - seconds(1));
    assert_eq!(run.history().length(), 4);
    t.advance(seconds(1));
    assert_eq!(run.history().length(), 6);
    assert_eq!(t.now(), TestRun::BEGIN + days(2));
    assert!(!run.is_finished());
    t.advance(days(7));
    assert_eq!(t.now(), TestRun::BEGIN + days(9));
    let seen = run.result().unwrap();
    assert_eq!(seen, [1, 2, 3].map(|n| TestRun::BEGIN + days(n)));
}

#[perennial::test]
fn who_asks_for_a_result_moves_the_clock_as_far_as_that_takes(t: &mut TestRun) {
    let run = t.start(every_day, 365);
    assert_eq!(run.result().unwrap().len(), 365);
    assert_eq!(t.now(), TestRun::BEGIN + days(365));
}

#[perennial::test]
fn timers_of_several_runs_fire_in_the_order_in_which_they_are_due(t: &mut TestRun) {
    let late = t.start(until, TestRun::BEGIN + hours(3));
    let early = t.start(until, TestRun::BEGIN + hours(2));
    let past = t.start(until, TestRun::BEGIN - hours(1));
    assert_eq!(past.result().unwrap(), TestRun::BEGIN);
    assert_eq!(early.result().unwrap(), TestRun::BEGIN + hours(2));
    assert!(!late.is_finished());
    assert_eq!(late.result().unwrap(), TestRun::BEGIN + hours(3));
}

#[perennial::test]
fn the_clock_can_be_set_to_a_date_and_never_goes_back(t: &mut TestRun) {
    let date = Timestamp::from_millis(1_761_436_800_000);
    t.advance_to(date);
    t.advance_to(TestRun::BEGIN);
    assert_eq!(t.now().to_string(), "2025-10-26T00:00:00.000Z");
    let run = t.start(until, TestRun::BEGIN);
    assert_eq!(run.result().unwrap(), date);
}

/// S2: a due timer comes before what arrives at the same time.
#[perennial::test]
fn a_timer_that_is_due_comes_before_an_answer_of_that_moment(t: &mut TestRun) {
    t.mock(charge, Ok).takes(hours(2));
    assert_eq!(t.start(charge_within, 2).result().unwrap(), None);
}

#[perennial::test]
fn an_answer_that_comes_in_time_comes_first(t: &mut TestRun) {
    t.mock(charge, Ok).takes(hours(2) - millis(1));
    assert_eq!(t.start(charge_within, 2).result().unwrap(), Some(5));
}

#[perennial::test]
fn a_mock_need_not_answer_at_all(t: &mut TestRun) {
    t.mock(charge, Ok).takes(std::time::Duration::MAX);
    assert_eq!(t.start(charge_within, 24).result().unwrap(), None);
}

#[test]
fn a_clock_that_was_stopped_is_moved_by_the_test_alone() {
    insta::assert_snapshot!(text_of(|t| {
        t.stop_clock();
        let run = t.start(every_day, 2);
        t.advance(days(1));
        let _ = run.result();
    }));
}

#[test]
fn a_wait_that_no_time_ends_fails_the_test() {
    insta::assert_snapshot!(text_of(|t| {
        t.mock(charge, Ok).takes(std::time::Duration::MAX);
        let _ = t.start(waits_and_charges, ()).result();
    }));
    insta::assert_snapshot!(text_of(|t| {
        let _ = t.start(waits_for_ever, ()).result();
    }));
}

#[workflow]
async fn waits_and_charges(cx: &Cx) -> Result<u64, Error> {
    let first = cx.spawn(charge(cx, 1));
    cx.sleep(hours(1)).await?;
    Ok(first.await?)
}
