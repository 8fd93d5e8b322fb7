//! *Snapshot-testing histories*.

// ANCHOR: uses
use perennial::assert_history;
use perennial::testing::{Run, Snapshot, TestRun, check_histories, save_history};
// ANCHOR_END: uses
use perennial::testing::replay_folder;
use perennial_book::histories::{
    self, Customer, Receipt, changed, charge_card, send_mail, subscribe,
};

use crate::texts::assert_text;

// ANCHOR: begin
fn begin(t: &mut TestRun) -> Run<subscribe> {
    t.mock(send_mail, |_| Ok(()));
    t.mock(charge_card, |_| {
        Ok(Receipt {
            number: "R-1".into(),
        })
    })
    .optional();
    let customer = Customer {
        email: "ada@example.org".into(),
        card: "4000 0012 3456 7899".into(),
    };
    t.start(subscribe, customer)
}
// ANCHOR_END: begin

// ANCHOR: snapshot
#[perennial::test]
fn charged_after_the_trial(t: &mut TestRun) {
    let run = begin(t);
    assert!(run.result().is_ok());
    assert_history!(run);
}
// ANCHOR_END: snapshot

// ANCHOR: inline
#[perennial::test]
fn nobody_sees_the_card(t: &mut TestRun) {
    let run = begin(t);
    assert!(run.result().is_ok());
    let shown = Snapshot::new()
        .redact("**.card", "[card]")
        .redact("charge_card.input", "[card]");
    assert_history!(run, shown, @r#"
    1 started      subscribe {"card":"[card]","email":"ada@example.org"}
    2   activity   ~1 send_mail ["ada@example.org","Welcome"]       histories.rs subscribe
    3 completed    ~1 send_mail null
    4   sleep      ~2                                               histories.rs subscribe
    5 fired        ~2 sleep
    6   activity   ~3 charge_card "[card]"                          histories.rs subscribe
    7 completed    ~3 charge_card {"number":"R-1"}
    8 completed    {"number":"R-1"}
    "#);
}
// ANCHOR_END: inline

// ANCHOR: save
#[perennial::test]
fn histories_of_the_first_release(t: &mut TestRun) {
    let run = begin(t);
    save_history(&run, "tests/histories/subscribe-v1-in-trial.json").unwrap();
    assert!(run.result().is_ok());
    save_history(&run, "tests/histories/subscribe-v1.json").unwrap();
}
// ANCHOR_END: save

// ANCHOR: check
#[test]
fn runs_in_flight_go_on() {
    check_histories("tests/histories", histories::subscribe);
}
// ANCHOR_END: check

#[test]
fn a_change_without_a_thought_of_the_runs_in_flight() {
    let misfits = replay_folder("tests/histories", changed::subscribe).unwrap_err();
    assert_text("texts/histories/misfits.txt", &misfits.to_string());
}

#[perennial::test]
fn a_redaction_that_hides_nothing(t: &mut TestRun) {
    let run = begin(t);
    let error = Snapshot::new()
        .redact("subscribe.input.crad", "[card]")
        .text(&run);
    assert_text(
        "texts/histories/redaction.txt",
        &error.unwrap_err().to_string(),
    );
}

#[perennial::test]
fn without_numbers(t: &mut TestRun) {
    let run = begin(t);
    assert!(run.result().is_ok());
    let text = Snapshot::new().unnumbered().text(&run).unwrap();
    assert_text("texts/histories/unnumbered.txt", &text);
}
