//! The test kit.

#![allow(clippy::unwrap_used)]

mod attribute;
mod clock;
mod fulfilled;
mod mocks;
mod real;
mod replays;
mod runs;
mod rw03;
mod rw31;
mod sent;
mod streams;
mod stubs;
mod told;
mod updates;
mod versions;

use perennial::prelude::*;
use perennial::testing::{TestFailure, TestRun, failure_of};

/// The text of the failure that the kit lets this test fail with, without lines of these files.
fn text_of(body: impl FnOnce(&mut TestRun)) -> String {
    without_lines(&failure(body).to_string())
}

/// `tests/mocks.rs:3:14` becomes `tests/mocks.rs:..`.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(".rs:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += ".rs:..";
        out += part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    }
    out
}

fn failure(body: impl FnOnce(&mut TestRun)) -> TestFailure {
    failure_of(body).expect("the test fails")
}

#[activity(idempotent, retry(attempts = 3, initial = "1s", factor = 2))]
async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure<String>> {
    Ok(cents)
}

#[activity(idempotent)]
async fn notify(_acx: &ActivityCx, whom: String, text: String) -> Result<(), Failure> {
    Err(Failure::transient(format!("no {text} for {whom}")))
}

#[activity(pure, blocking)]
fn count(_acx: &ActivityCx) -> Result<u64, Failure> {
    Ok(3)
}
