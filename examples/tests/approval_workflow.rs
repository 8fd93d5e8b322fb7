//! The purchase's workflow alone, with each kind of answer.
#![allow(clippy::unwrap_used)]

use perennial::assert_history;
use perennial::prelude::*;
use perennial::testing::TestRun;
use perennial_examples::approval::{
    APPROVAL, Answer, Order, Outcome, Person, place_order, purchase, tell,
};

fn desk() -> Order {
    Order {
        item: "a desk".into(),
        price: 300,
        within: days(7),
    }
}

#[perennial::test]
fn an_answer_ends_the_wait(t: &mut TestRun) {
    let letters = t.mock(tell, |_| Ok(()));
    t.mock(place_order, |_| Ok("7".to_owned()));
    let run = t.start(purchase, desk());
    t.advance(days(6));
    run.send(APPROVAL, Answer::yes("Grace"));
    let bought = Outcome::Bought {
        order: "7".into(),
        by: "Grace".into(),
    };
    assert_eq!(run.result().unwrap(), bought);
    assert_eq!(letters.calls()[1], (Person::Buyer, bought.to_string()));
    assert_history!(run);
}

#[perennial::test]
fn a_no_orders_nothing(t: &mut TestRun) {
    t.mock(tell, |_| Ok(()));
    t.mock(place_order, |_| Ok("7".to_owned())).never();
    let run = t.start(purchase, desk());
    let because = Some("we have one".to_owned());
    run.send(APPROVAL, Answer::no("Grace", because.clone()));
    let by = "Grace".to_owned();
    assert_eq!(run.result().unwrap(), Outcome::Refused { by, because });
}

#[perennial::test]
fn an_early_answer_is_kept_until_it_is_waited_for(t: &mut TestRun) {
    // The letter to the boss is under way for a day.
    t.mock(tell, |_| Ok(())).takes(days(1));
    t.mock(place_order, |_| Ok("7".to_owned()));
    let run = t.start(purchase, desk());
    run.send(APPROVAL, Answer::yes("Grace"));
    assert_eq!(run.unread().len(), 1);
    assert!(matches!(run.result(), Ok(Outcome::Bought { .. })));
    assert_eq!(
        t.now(),
        TestRun::BEGIN + days(2),
        "two letters, and no wait"
    );
}

#[perennial::test]
fn of_two_answers_the_first_is_taken_and_the_second_stays_unread(t: &mut TestRun) {
    t.mock(tell, |_| Ok(())).takes(days(1));
    let run = t.start(purchase, desk());
    run.send(APPROVAL, Answer::no("Grace", None));
    run.send(APPROVAL, Answer::yes("Edsger"));
    assert!(matches!(run.result(), Ok(Outcome::Refused { by, .. }) if by == "Grace"));
    let unread: Vec<_> = run.unread().iter().map(|left| left.number).collect();
    assert_eq!(unread, [2]);
}

#[perennial::test]
fn without_an_answer_it_is_not_bought(t: &mut TestRun) {
    t.mock(tell, |_| Ok(()));
    let run = t.start(purchase, desk());
    assert_eq!(run.result().unwrap(), Outcome::Unanswered);
    assert_eq!(t.now(), TestRun::BEGIN + days(7));
}

#[perennial::test]
fn an_answer_that_comes_when_the_time_is_over_changes_nothing(t: &mut TestRun) {
    t.mock(tell, |_| Ok(())).takes(days(1));
    t.mock(place_order, |_| Ok("7".to_owned())).never();
    let run = t.start(purchase, desk());
    // The question is there after a day, and its time is over after seven more; now the buyer is told.
    t.advance(days(8));
    assert!(!run.is_finished());
    run.send(APPROVAL, Answer::yes("Grace"));
    assert_eq!(run.result().unwrap(), Outcome::Unanswered);
    assert_eq!(run.unread().len(), 1);
}

#[perennial::test]
fn after_what_is_no_answer_it_is_asked_again(t: &mut TestRun) {
    let letters = t.mock(tell, |_| Ok(()));
    t.mock(place_order, |_| Ok("7".to_owned()));
    let run = t.start(purchase, desk());
    run.send_json("approval", r#""sure""#);
    let again = "that was no answer; may we buy a desk for 300?".to_owned();
    assert_eq!(letters.calls()[1], (Person::Boss, again));
    run.send(APPROVAL, Answer::yes("Grace"));
    assert!(matches!(run.result(), Ok(Outcome::Bought { .. })));
    assert_history!("asked_again", run);
}

#[perennial::test]
fn asking_again_does_not_begin_the_time_anew(t: &mut TestRun) {
    let letters = t.mock(tell, |_| Ok(()));
    let run = t.start(purchase, desk());
    for _ in 0..3 {
        t.advance(days(2));
        run.send_json("approval", "null");
    }
    assert_eq!(run.result().unwrap(), Outcome::Unanswered);
    assert_eq!(t.now(), TestRun::BEGIN + days(7));
    assert_eq!(letters.calls().len(), 1 + 3 + 1);
}
