//! RW-31: a test without the mock that it needs does not pass.

use perennial::prelude::*;
use perennial::testing::{TestFailure, TestRun};

use super::{charge, failure, notify, text_of};

#[workflow]
async fn swallows(cx: &Cx) -> Result<u64, Error> {
    if let Err(error) = notify(cx, "Ada".into(), "hello".into()).await {
        cx.log(format_args!("{error}"));
    }
    Ok(1)
}

#[workflow]
async fn retries(cx: &Cx) -> Result<u64, Error> {
    let mut left = 3;
    loop {
        match charge(cx, 5).await {
            Ok(cents) => return Ok(cents),
            Err(_) if left > 0 => left -= 1,
            Err(_) => return Ok(0),
        }
    }
}

#[workflow]
async fn selects(cx: &Cx) -> Result<u64, Error> {
    select! {
        _ = notify(cx, "Ada".into(), "hello".into()) => Ok(1),
        _ = cx.sleep(days(1)) => Ok(2),
    }
}

#[test]
fn rw31_1_a_missing_mock_fails_the_test_though_the_workflow_swallows_the_error() {
    insta::assert_snapshot!(text_of(|t| {
        let run = t.start(swallows, ());
        unreachable!("{:?}", run.result());
    }));
}

#[test]
fn rw31_1_it_does_so_though_the_workflow_tries_again() {
    let failure = failure(|t| {
        t.start(retries, ());
    });
    assert!(
        matches!(failure, TestFailure::NotMocked(missing) if missing.activity == "charge" && missing.operation == 1)
    );
}

#[test]
fn rw31_1_it_does_so_though_something_else_could_be_ready() {
    let failure = failure(|t| {
        t.start(selects, ());
    });
    assert!(matches!(failure, TestFailure::NotMocked(missing) if missing.activity == "notify"));
}

#[test]
fn rw31_2_a_mock_that_is_called_less_often_than_declared_fails_the_test() {
    insta::assert_snapshot!(text_of(|t| {
        t.mock(notify, |_| Ok(())).times(2);
        t.mock(charge, Ok).at_least(1);
        assert_eq!(t.start(swallows, ()).result().unwrap(), 1);
    }));
}

#[test]
fn rw31_2_a_mock_that_is_never_called_fails_the_test_unless_it_is_optional() {
    insta::assert_snapshot!(text_of(|t| {
        t.mock(notify, |_| Ok(()));
        t.mock(charge, Ok);
        assert_eq!(t.start(swallows, ()).result().unwrap(), 1);
    }));
    perennial::testing::test(|t| {
        t.mock(notify, |_| Ok(()));
        t.mock(charge, Ok).optional();
        assert_eq!(t.start(swallows, ()).result().unwrap(), 1);
    });
}

#[test]
fn rw31_2_a_mock_that_is_called_more_often_than_declared_fails_the_test_at_once() {
    let failure = failure(|t| {
        t.mock(charge, |_| Err(Failure::reject("no".to_owned())))
            .times(2);
        t.start(retries, ());
        unreachable!("it has failed");
    });
    insta::assert_snapshot!(super::without_lines(&failure.to_string()));
}

#[test]
fn rw31_4_the_workflow_is_told_nothing_of_it() {
    let mut seen = None;
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        perennial::testing::test(|t: &mut TestRun| {
            let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                t.start_as("order-42", swallows, ());
            }));
            assert!(failed.is_err());
            // Even a test that catches the panic has failed.
            seen = Some(std::panic::catch_unwind(std::panic::AssertUnwindSafe(
                || {
                    t.mock(notify, |_| Ok(()));
                    t.advance(days(1));
                },
            )));
        });
    }));
    assert!(seen.unwrap().is_err());
    let text = failed.unwrap_err();
    let text = text.downcast_ref::<String>().unwrap();
    assert!(
        text.contains("neither mocked nor allowed (run order-42)"),
        "{text}"
    );
}

#[perennial::test]
fn what_a_run_leaves_open_at_its_end_is_in_the_history(t: &mut TestRun) {
    let mock = t.mock(notify, |_| Ok(())).takes(days(2));
    let run = t.start(selects, ());
    assert_eq!(run.result().unwrap(), 2);
    assert_eq!(mock.calls().len(), 1);
    insta::assert_snapshot!(run.history().text());
}
