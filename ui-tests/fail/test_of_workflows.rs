//! `#[perennial::test]` on what it does not fit.

use perennial::testing::TestRun;

#[perennial::test]
fn without_the_kit() {}

#[perennial::test]
async fn of_a_runtime(t: &mut TestRun) {
    t.now();
}

#[perennial::test]
fn with_another_parameter(t: TestRun, orders: u32) {
    drop((t, orders));
}

#[test]
#[perennial::test(stric)]
fn twice(t: &mut TestRun) {
    t.now();
}

#[perennial::test]
struct Order;

fn main() {}
