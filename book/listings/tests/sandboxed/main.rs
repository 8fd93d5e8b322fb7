//! *Testing workflows* where the sandbox is linked.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../book/texts.rs"]
mod texts;

// ANCHOR: link
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use perennial_sandbox as _;
// ANCHOR_END: link

use perennial::testing::{TestRun, failure_of};
use perennial_book::testing::{confirm, greet, invoices, send_mail};
use texts::assert_text;

fn text(body: impl FnOnce(&mut TestRun)) -> String {
    failure_of(body).expect("the test fails").to_string()
}

#[test]
fn a_clock_in_a_helper() {
    let found = text(|t| {
        t.mock(send_mail, |_| Ok(()));
        let _ = t.start(confirm, "Ada".to_owned()).result();
    });
    assert_text("texts/testing/clock.txt", &found);
}

/// What asks, and whose answer is the same in the changed world, only a strict test finds.
#[test]
fn the_environment_in_a_helper() {
    let found = text(|t| {
        t.strict();
        t.mock(send_mail, |_| Ok(()));
        let _ = t.start(greet, "Ada".to_owned()).result();
    });
    assert_text("texts/testing/strict.txt", &found);
    perennial::testing::test(|t| {
        t.mock(send_mail, |_| Ok(()));
        t.start(greet, "Ada".to_owned()).result().unwrap();
    });
}

// ANCHOR: strict
#[perennial::test(strict)]
fn invoices_ask_the_system_for_nothing(t: &mut TestRun) {
    // ANCHOR_END: strict
    t.mock(send_mail, |_| Ok(()));
    let one = vec![("Ada".to_owned(), "GB".to_owned())];
    t.start(invoices, one).result().unwrap();
    assert_text(
        "texts/testing/report-sandboxed.txt",
        &t.report().to_string(),
    );
}
