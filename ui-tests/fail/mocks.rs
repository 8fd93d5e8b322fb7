//! Mocks that do not fit their activities.

use perennial::prelude::*;
use perennial::testing::TestRun;

#[activity(idempotent)]
async fn charge(_acx: &ActivityCx, cents: u64, to: String) -> Result<u64, Failure<String>> {
    Ok(cents + to.len() as u64)
}

#[workflow]
async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
    Ok(charge(cx, cents, String::new()).await?)
}

fn pair(cents: u64, to: String) -> Result<(u64, String), Failure<String>> {
    Ok((cents, to))
}

fn refused() -> Result<u64, &'static str> {
    Err("no")
}

fn mocks(t: &mut TestRun) {
    t.mock(charge, |(cents, to)| pair(cents, to));
    t.mock(charge, |cents, to| Ok(cents));
    t.mock(charge, |_| refused());
    t.mock(order, |_| Ok(5));
    t.start(order, "5");
    t.start(charge, 5);
}

fn main() {}
