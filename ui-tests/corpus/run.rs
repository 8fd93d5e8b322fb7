//! The program that runs one workflow of the corpus in the test kit: `run <kind>/<name> [strict]`.
//!
//! Its exit code says how it went, and standard error why.

use std::process::ExitCode;
use std::time::Duration;
use std::{env, process, thread};

use perennial::Blocked;
use perennial::testing::{TestFailure, TestRun, failure_of};

use crate::corpus::shop::{charge, mail, price, ship, stock};

/// It is the same when it is replayed.
const SAME: u8 = 0;
/// It is not.
const OTHER: u8 = 10;
/// It waits for something foreign.
const FOREIGN: u8 = 11;
/// It has asked the operating system for something.
const TOUCHED: u8 = 12;
/// Something else is wrong.
const BROKEN: u8 = 13;

pub fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let strict = arguments
        .next()
        .is_some_and(|argument| argument == "strict");
    // What hangs is ended.
    thread::spawn(|| {
        thread::sleep(Duration::from_secs(30));
        eprintln!("it has not ended after 30 seconds");
        process::exit(BROKEN.into());
    });
    let failure = failure_of(|t| {
        if strict {
            t.strict();
        }
        mock(t);
        crate::corpus::start(&name, t);
    });
    let Some(failure) = failure else {
        return SAME.into();
    };
    eprintln!("{failure}");
    match failure {
        TestFailure::Diverged(_) => OTHER.into(),
        TestFailure::Blocked(Blocked::NotDurable(_)) => FOREIGN.into(),
        TestFailure::Touched(_) => TOUCHED.into(),
        _ => BROKEN.into(),
    }
}

/// The shop of all cases; what else they call is run.
fn mock(t: &mut TestRun) {
    t.mock(charge, |cents| Ok(format!("receipt for {cents}")))
        .optional();
    t.mock(ship, |sku| Ok(format!("parcel of {sku}")))
        .optional();
    t.mock(mail, |_| Ok(())).optional();
    t.mock(price, |sku| Ok(sku.len() as u64 * 100)).optional();
    t.mock(stock, |skus| {
        Ok((1..).zip(skus).map(|(count, sku)| (sku, count)).collect())
    })
    .optional();
}
