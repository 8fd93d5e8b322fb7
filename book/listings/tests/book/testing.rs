//! *Testing workflows*: the tests that it shows, and what they say when they fail.

use crate::texts::assert_text;

// ANCHOR: first
use perennial::prelude::*;
use perennial::testing::TestRun;
use perennial_book::testing::{Order, charge_card, fulfil, refund, ship};

fn order() -> Order {
    Order {
        id: "A-1".to_owned(),
        cents: 1_200,
    }
}

#[perennial::test]
fn what_is_shipped_is_not_refunded(t: &mut TestRun) {
    t.mock(charge_card, |order| Ok(format!("R-{}", order.cents)));
    let shipped = t.mock(ship, |(_order, _receipt)| Ok(())).times(1);

    let run = t.start(fulfil, order());

    assert!(run.result().unwrap());
    assert_eq!(shipped.calls(), [(order(), "R-1200".to_owned())]);
}
// ANCHOR_END: first

// ANCHOR: time
#[perennial::test]
fn what_is_not_shipped_within_a_week_is_refunded(t: &mut TestRun) {
    t.mock(charge_card, |_| Ok("R-1".to_owned()));
    t.mock(ship, |_| Ok(())).takes(days(8));
    let refunded = t.mock(refund, |_| Ok(()));

    let run = t.start(fulfil, order());
    t.advance(days(6));
    assert!(refunded.calls().is_empty());
    t.advance(days(1));

    assert_eq!(refunded.calls(), ["R-1"]);
    assert_eq!(run.logs(), ["not shipped in time"]);
    assert!(!run.result().unwrap());
}
// ANCHOR_END: time

// ANCHOR: retries
#[perennial::test]
fn a_bank_that_is_out_for_a_while_is_asked_again(t: &mut TestRun) {
    let charged = t
        .mock_with(charge_card, |acx, _order| match acx.attempt() {
            1 | 2 => Err(Failure::transient("no connection")),
            _ => Ok("R-1".to_owned()),
        })
        .times(3);
    t.mock(ship, |_| Ok(()));

    let run = t.start(fulfil, order());

    assert!(run.result().unwrap());
    assert_eq!(t.now(), TestRun::BEGIN + seconds(1 + 2));
    assert_eq!(charged.calls().len(), 3);
}

#[perennial::test]
fn a_card_without_money_fails_the_run(t: &mut TestRun) {
    t.mock(charge_card, |_| Err(Failure::reject("no money".to_owned())));
    let failed = t.start(fulfil, order()).result().unwrap_err();
    assert!(failed.to_string().contains("no money"));
}
// ANCHOR_END: retries

// ANCHOR: allow
#[perennial::test]
fn the_tax_is_part_of_the_price(t: &mut TestRun) {
    t.allow(perennial_book::testing::vat);
    let run = t.start(perennial_book::testing::invoice, order());
    assert_eq!(run.result().unwrap(), 191);
}
// ANCHOR_END: allow

#[test]
fn a_missing_mock_cannot_be_swallowed() {
    let failure = perennial::testing::failure_of(|t| {
        // ANCHOR: swallows
        t.mock(charge_card, |_| Ok("R-1".to_owned()));
        // nothing answers for `send_mail`
        let run = t.start(perennial_book::testing::fulfil_and_tell, order());
        assert!(run.result().is_ok());
        // ANCHOR_END: swallows
    });
    shown("texts/testing/not-mocked.txt", failure);
}

#[test]
fn a_mock_that_is_not_needed_is_told() {
    let failure = perennial::testing::failure_of(|t| {
        // ANCHOR: miscounted
        t.mock(charge_card, |_| Ok("R-1".to_owned()));
        t.mock(ship, |_| Ok(())).times(2);
        t.mock(refund, |_| Ok(()));
        assert!(t.start(fulfil, order()).result().unwrap());
        // ANCHOR_END: miscounted
    });
    shown("texts/testing/miscounted.txt", failure);
}

#[test]
fn an_order_that_is_another_each_time_is_found() {
    let failure = perennial::testing::failure_of(|t| {
        // ANCHOR: hidden
        t.mock(ship, |_| Ok(()));
        let order = Order {
            id: "lamp+desk".to_owned(),
            cents: 0,
        };
        let _ = t.start(perennial_book::testing::ship_each, order).result();
        // ANCHOR_END: hidden
    });
    // Which of the two is first is another each time.
    let text = failure.unwrap().to_string();
    let text = match text.find("lamp") < text.find("desk") {
        true => text,
        false => text
            .replace("lamp", "?")
            .replace("desk", "lamp")
            .replace('?', "desk"),
    };
    assert_text("texts/testing/diverged.txt", &text);
}

fn shown(file: &str, failure: Option<perennial::testing::TestFailure>) {
    assert_text(file, &failure.unwrap().to_string());
}
