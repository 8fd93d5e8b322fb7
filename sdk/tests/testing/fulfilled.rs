//! What runs fulfil: of runs of the test, of others, and of themselves.

use std::cell::Cell;
use std::rc::Rc;

use perennial::RunEnd;
use perennial::prelude::*;
use perennial::testing::{Fulfilled, Snapshot, TestRun};

#[stub]
async fn review(cx: &Cx, order: String) -> bool;

#[stub]
async fn inject(cx: &Cx) -> bool;

/// Waits for a review, and not for ever.
#[workflow]
async fn purchase(cx: &Cx, order: String) -> Result<Option<bool>, Error> {
    Ok(review(cx, order).timeout(days(7)).await?)
}

/// Gives each of the verdicts to what is asked.
#[workflow]
async fn reviewer(
    cx: &Cx,
    asked: OperationId,
    verdicts: Vec<bool>,
) -> Result<Vec<Result<Receipt, FulfilFailure>>, Error> {
    let mut all = Vec::new();
    for verdict in verdicts {
        all.push(cx.fulfil(&asked, review, &verdict).await);
    }
    Ok(all)
}

fn reference(text: &str) -> OperationId {
    text.parse().unwrap()
}

fn conflict(text: &str) -> FulfilFailure {
    FulfilFailure::Conflict {
        reference: reference(text),
        stub: "review".into(),
    }
}

#[perennial::test]
fn a_run_of_the_test_gets_what_another_one_gives_it_once(t: &mut TestRun) {
    let order = t.start_as("order-42", purchase, "a lamp".to_owned());
    let asked = order.offers()[0].reference.clone();
    let run = t.start(reviewer, (asked, vec![true, true, false]));
    let first = Receipt {
        number: 1,
        at: TestRun::BEGIN,
        duplicate: false,
    };
    let again = Receipt {
        duplicate: true,
        ..first
    };
    assert_eq!(
        run.result().unwrap(),
        [Ok(first), Ok(again), Err(conflict("order-42~1"))]
    );
    assert_eq!(order.result().unwrap(), Some(true));
    insta::assert_snapshot!(Snapshot::new().text(&run).unwrap());
}

#[perennial::test]
fn what_is_fulfilled_of_a_run_that_is_not_in_the_test_counts_as_fulfilled(t: &mut TestRun) {
    let run = t.start(reviewer, (reference("order-42~3"), vec![true, false]));
    let numbers = run.result().unwrap().into_iter();
    let numbers: Vec<_> = numbers.map(|given| given.unwrap().number).collect();
    assert_eq!(numbers, [1, 2]);
    let fulfilled = run.fulfilled();
    let first = Fulfilled::clone(&fulfilled[0]);
    assert_eq!(
        (first.from.as_str(), first.reference.to_string()),
        ("test-1", "order-42~3".to_owned())
    );
    assert_eq!((&*first.stub, first.failure), ("review", None));
    let values = fulfilled.iter().map(|one| one.value.decode::<bool>());
    assert_eq!(
        values.map(Result::unwrap).collect::<Vec<_>>(),
        [true, false]
    );
}

#[perennial::test]
fn b11_b12_why_a_run_of_the_test_does_not_get_it(t: &mut TestRun) {
    /// Waits for something else first, and ends.
    #[workflow]
    async fn slow(cx: &Cx) -> Result<bool, Error> {
        cx.sleep(hours(1)).await?;
        let early = review(cx, "a lamp".to_owned()).open()?;
        drop(early);
        let late = inject(cx).open()?;
        cx.sleep(hours(1)).await?;
        drop(late);
        let _left = review(cx, "a lamp".to_owned()).open()?;
        Ok(true)
    }
    t.stop_clock();
    t.start_as("slow", slow, ());
    let of = |number: u64| reference(&format!("slow~{number}"));
    let given = |t: &mut TestRun, number| {
        let run = t.start(reviewer, (of(number), vec![true]));
        run.result().unwrap().remove(0).unwrap_err()
    };
    assert_eq!(given(t, 1), FulfilFailure::NotAStub { reference: of(1) });
    assert_eq!(
        given(t, 2),
        FulfilFailure::NoSuchOperation { reference: of(2) }
    );
    let closed = |number, at, end| FulfilFailure::Closed {
        reference: of(number),
        stub: "review".into(),
        at,
        end,
    };
    t.advance(hours(1));
    let then = TestRun::BEGIN + hours(1);
    assert_eq!(given(t, 2), closed(2, then, None));
    let other = FulfilFailure::OtherStub {
        reference: of(3),
        is: "inject".into(),
        given: "review".into(),
    };
    assert_eq!(given(t, 3), other);
    t.advance(hours(1));
    let then = TestRun::BEGIN + hours(2);
    assert_eq!(given(t, 5), closed(5, then, Some(RunEnd::Completed)));
}

#[perennial::test]
fn a_test_answers_for_what_is_fulfilled(t: &mut TestRun) {
    let asked = Rc::new(Cell::new(0));
    let counted = Rc::clone(&asked);
    t.on_fulfil(move |fulfilled| {
        counted.set(counted.get() + 1);
        let reference = fulfilled.reference.clone();
        match counted.get() {
            1 => Err(FulfilFailure::RunNotFound { reference }),
            _ => Ok(()),
        }
    });
    let order = t.start_as("order-42", purchase, "a lamp".to_owned());
    let run = t.start(reviewer, (reference("order-42~1"), vec![true, false]));
    let given = run.result().unwrap();
    let missing = FulfilFailure::RunNotFound {
        reference: reference("order-42~1"),
    };
    assert_eq!(given[0], Err(missing.clone()));
    assert!(given[1].is_ok());
    assert_eq!(order.result().unwrap(), Some(false));
    assert_eq!(run.fulfilled()[0].failure, Some(missing));
    // It is asked once each, and by no replay.
    assert_eq!(asked.get(), 2);
}

#[perennial::test]
fn a_run_fulfils_what_it_offers_itself(t: &mut TestRun) {
    /// Answers itself where nobody else has in time.
    #[workflow]
    async fn impatient(cx: &Cx, order: String) -> Result<bool, Error> {
        let mut offer = review(cx, order).open()?;
        let answered = select! {
            verdict = &mut offer => Some(verdict?),
            _ = cx.sleep(days(1)) => None,
        };
        match answered {
            Some(verdict) => Ok(verdict),
            None => {
                cx.fulfil(&offer.reference(), review, &false).await?;
                Ok(offer.await?)
            }
        }
    }
    let run = t.start(impatient, "a lamp".to_owned());
    assert!(!run.result().unwrap());
    insta::assert_snapshot!(Snapshot::new().text(&run).unwrap());
}

/// What a run does with its own offers comes before what it fulfils.
#[perennial::test]
fn an_offer_that_is_dropped_before_the_next_wait_is_closed(t: &mut TestRun) {
    #[workflow]
    async fn drops(cx: &Cx) -> Result<Result<Receipt, FulfilFailure>, Error> {
        let offer = review(cx, "a lamp".to_owned()).open()?;
        let given = cx.fulfil(&offer.reference(), review, &true);
        let (given, ()) = join!(given, async move { drop(offer) });
        Ok(given)
    }
    let given = t.start(drops, ()).result().unwrap();
    assert!(
        matches!(given, Err(FulfilFailure::Closed { end: None, .. })),
        "{given:?}"
    );
}
