//! Messages and signals: the test is who sends them.

use perennial::prelude::*;
use perennial::testing::{Recorded, Snapshot, TestFailure, TestRun, failure_of};

use super::{charge, failure, text_of};

const APPROVAL: Message<bool> = Message::new("approval");
const NOTE: Message<String> = Message::new("note");
const REFRESH: Signal<u64> = Signal::new("refresh");

#[workflow]
async fn purchase(cx: &Cx, cents: u64) -> Result<Option<bool>, Error> {
    charge(cx, cents).await?;
    Ok(cx.receive(APPROVAL).timeout(days(7)).await?)
}

/// Takes two notes, a week after it has begun.
#[workflow]
async fn notes(cx: &Cx) -> Result<(Vec<String>, Timestamp), Error> {
    cx.sleep(days(7)).await?;
    let first = cx.receive(NOTE).await?;
    let second = cx.receive(NOTE).await?;
    Ok((vec![first, second], cx.now()))
}

#[workflow]
async fn refreshed(cx: &Cx) -> Result<(u64, u64), Error> {
    let (a, b) = join!(cx.wait_for(REFRESH), cx.wait_for(REFRESH));
    Ok((a?, b?))
}

#[workflow]
async fn is_approved(cx: &Cx) -> Result<bool, ReceiveError> {
    cx.receive(APPROVAL).await
}

fn history(run: &impl Recorded) -> String {
    Snapshot::new().times().text(run).unwrap()
}

#[perennial::test]
fn a_message_ends_the_wait_for_it(t: &mut TestRun) {
    t.mock(charge, Ok);
    let run = t.start(purchase, 5);
    t.advance(days(6));
    assert!(!run.is_finished());
    run.send(APPROVAL, true);
    assert!(run.is_finished());
    assert_eq!(run.result().unwrap(), Some(true));
    assert_eq!(t.now(), TestRun::BEGIN + days(6));
}

#[perennial::test]
fn m02_a_message_that_is_early_is_kept(t: &mut TestRun) {
    t.mock(charge, Ok).takes(hours(1));
    let run = t.start(purchase, 5);
    run.send(APPROVAL, false);
    assert_eq!(run.history().length(), 2, "nothing waits for it yet");
    assert_eq!(run.result().unwrap(), Some(false));
    assert_eq!(t.now(), TestRun::BEGIN + hours(1));
    insta::assert_snapshot!(history(&run));
}

#[perennial::test]
fn m22_messages_that_nothing_waits_for_are_told_with_what_wakes_the_run_and_before_it(
    t: &mut TestRun,
) {
    let run = t.start(notes, ());
    t.advance(days(1));
    run.send(NOTE, "a".to_owned());
    t.advance(days(1));
    run.send(APPROVAL, true);
    run.send(NOTE, "b".to_owned());
    assert_eq!(run.history().length(), 2);
    let (taken, now) = run.result().unwrap();
    assert_eq!(taken, ["a", "b"]);
    // Each has the stamp of its coming, and none of them makes the clock go back.
    assert_eq!(now, TestRun::BEGIN + days(7));
    insta::assert_snapshot!(history(&run));
}

#[perennial::test]
fn m32_m36_a_time_limit_is_as_long_as_the_code_says(t: &mut TestRun) {
    t.mock(charge, Ok);
    let run = t.start(purchase, 5);
    assert_eq!(run.result().unwrap(), None);
    assert_eq!(t.now(), TestRun::BEGIN + days(7));
}

#[perennial::test]
fn m34_a_message_that_comes_when_the_time_is_over_comes_too_late(t: &mut TestRun) {
    #[workflow]
    async fn patient(cx: &Cx) -> Result<(Option<bool>, Option<bool>), Error> {
        let first = cx.receive(APPROVAL).timeout(days(7)).await?;
        Ok((first, cx.receive(APPROVAL).timeout(days(7)).await?))
    }
    let run = t.start(patient, ());
    t.advance(days(7));
    run.send(APPROVAL, true);
    assert_eq!(run.result().unwrap(), (None, Some(true)));
}

#[perennial::test]
fn m37_what_is_of_another_type_reaches_the_workflow_as_an_error(t: &mut TestRun) {
    let run = t.start(is_approved, ());
    run.send_json("approval", r#"{"by": "Ada"}"#);
    let Err(ReceiveError::Invalid { name, number, .. }) = run.result() else {
        panic!("it was of the type");
    };
    assert_eq!((name.as_str(), number), ("approval", 1));
    assert_eq!(run.unread(), [], "it is taken");
    let run = t.start(refreshed, ());
    run.signal_json("refresh", "-1");
    assert!(run.result().is_err());
    let run = t.start(is_approved, ());
    run.send_json("approval", " true ");
    assert_eq!(run.result(), Ok(true));
}

#[perennial::test]
fn m54_a_signal_reaches_all_who_wait_and_nobody_who_comes_later(t: &mut TestRun) {
    #[workflow]
    async fn late(cx: &Cx) -> Result<u64, Error> {
        cx.sleep(hours(1)).await?;
        Ok(cx.wait_for(REFRESH).await?)
    }
    let (run, late) = (t.start(refreshed, ()), t.start(late, ()));
    run.signal(REFRESH, 5);
    assert_eq!(run.result().unwrap(), (5, 5));
    late.signal(REFRESH, 6);
    assert_eq!(late.history().length(), 2, "it was dropped");
    t.advance(hours(1));
    late.signal(REFRESH, 7);
    assert_eq!(late.result().unwrap(), 7);
}

#[perennial::test]
fn a_run_tells_what_it_has_got_and_not_taken(t: &mut TestRun) {
    t.mock(charge, Ok).takes(hours(1));
    let run = t.start(purchase, 5);
    assert_eq!(run.unread(), []);
    t.advance(minutes(1));
    for approved in [false, true] {
        run.send(APPROVAL, approved);
    }
    run.send(NOTE, "please".to_owned());
    let names = |unread: Vec<perennial::testing::Unread>| {
        let text = |one: perennial::testing::Unread| {
            format!("{} {} {}", one.number, one.name, one.payload.as_json())
        };
        unread.into_iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(run.unread()[0].at, TestRun::BEGIN + minutes(1));
    assert_eq!(
        names(run.unread()),
        ["1 approval false", "2 approval true", r#"3 note "please""#]
    );
    assert_eq!(run.result().unwrap(), Some(false));
    // M42: what is left over stays.
    assert_eq!(
        names(run.unread()),
        ["2 approval true", r#"3 note "please""#]
    );
    assert_eq!(
        run.unread()[1].payload.decode::<String>().unwrap(),
        "please"
    );
}

#[test]
fn a_run_that_waits_for_a_message_says_which_and_what_came_instead() {
    insta::assert_snapshot!(text_of(|t| {
        let run = t.start(is_approved, ());
        run.send_json("aproval", "true");
        let _ = run.result();
    }));
}

#[test]
fn a_run_that_waits_for_a_signal_says_which_were_dropped() {
    #[workflow]
    async fn late(cx: &Cx) -> Result<u64, Error> {
        cx.sleep(hours(1)).await?;
        let (refreshed, approved) = join!(cx.wait_for(REFRESH), cx.receive(APPROVAL));
        approved?;
        Ok(refreshed?)
    }
    insta::assert_snapshot!(text_of(|t| {
        let run = t.start(late, ());
        run.signal(REFRESH, 6);
        let _ = run.result();
    }));
}

#[test]
fn a_wait_that_has_its_message_or_was_dropped_is_none_that_a_run_waits_for() {
    #[workflow]
    async fn several(cx: &Cx) -> Result<(), Error> {
        cx.receive(APPROVAL).await?;
        select! {
            _ = cx.receive(NOTE) => {},
            slept = cx.sleep(hours(1)) => slept?,
        }
        cx.receive(APPROVAL).await?;
        Ok(())
    }
    let TestFailure::Waiting(waiting) = failure(|t| {
        let run = t.start(several, ());
        run.send(APPROVAL, true);
        let _ = run.result();
    }) else {
        panic!("it waits");
    };
    assert_eq!(waiting.waits_for.len(), 1, "{waiting}");
    assert!(waiting.waits_for[0].starts_with("~4 receive \"approval\""));
    assert!(!waiting.others);
}

#[test]
fn m07_a_run_that_has_ended_takes_nothing() {
    let send = |signal: bool| {
        failure(move |t| {
            let run = t.start(is_approved, ());
            run.send(APPROVAL, true);
            if signal {
                run.signal(REFRESH, 1);
            } else {
                run.send(APPROVAL, false);
            }
        })
    };
    let failures = [send(false), send(true)];
    assert!(
        failures
            .iter()
            .all(|failure| matches!(failure, TestFailure::Ended(_)))
    );
    insta::assert_snapshot!(failures.map(|failure| failure.to_string()).join("\n---\n"));
}

#[test]
fn what_cannot_be_sent_fails_the_test() {
    let send = |name: &'static str, json: &'static str| {
        text_of(move |t| t.start(is_approved, ()).send_json(name, json))
    };
    let texts = [
        send("approval of a purchase", "true"),
        send("approval", "yes"),
        send("approval", "18446744073709551616"),
    ];
    insta::assert_snapshot!(texts.join("\n---\n"));
}

/// S40: what a run waits for is compared too.
#[test]
fn a_run_that_waits_for_something_else_the_second_time_fails_the_test() {
    use std::sync::atomic::{AtomicU64, Ordering};

    static TIMES: AtomicU64 = AtomicU64::new(0);

    #[workflow]
    async fn fickle(cx: &Cx) -> Result<(), Error> {
        #[allow_nondeterminism(statics, reason = "the test is about that")]
        let times = TIMES.fetch_add(1, Ordering::SeqCst);
        if times.is_multiple_of(2) {
            cx.receive(APPROVAL).await?;
        } else {
            cx.receive(NOTE).await?;
        }
        Ok(())
    }
    let failed = failure_of(|t| {
        t.start(fickle, ()).send(APPROVAL, true);
    });
    let Some(TestFailure::Diverged(diverged)) = failed else {
        panic!("{failed:?}");
    };
    let text = diverged.to_string();
    assert!(
        text.contains("receive \"approval\"") && text.contains("receive \"note\""),
        "{text}"
    );
}
