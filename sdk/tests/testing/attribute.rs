//! `#[perennial::test]` makes ordinary tests.

use perennial::prelude::*;
use perennial::testing::TestRun;

use super::charge;

#[workflow]
async fn pay(cx: &Cx, cents: u64) -> Result<u64, Error> {
    Ok(charge(cx, cents).await?)
}

/// With a documentation.
#[perennial::test]
fn a_test_runs(t: &mut TestRun) {
    t.mock(charge, |cents| Ok(cents + 1));
    assert_eq!(t.start(pay, 5).result().unwrap(), 6);
}

#[perennial::test]
fn it_may_return_a_result(t: &mut TestRun) -> Result<(), Error> {
    t.mock(charge, |cents| Ok(cents + 1));
    let paid = t.start(pay, 5).result()?;
    assert_eq!(paid, 6);
    Ok(())
}

#[perennial::test]
#[should_panic = "which is neither mocked nor allowed"]
fn it_may_be_one_that_panics(t: &mut TestRun) {
    t.start(pay, 5);
}

#[perennial::test]
#[should_panic = "`charge` was never called"]
fn the_checks_at_the_end_follow_it(t: &mut TestRun) {
    t.mock(charge, Ok);
}

#[perennial::test]
#[ignore = "an ignored test is not run"]
fn it_may_be_ignored(_: &mut TestRun) {
    panic!("not run");
}

#[cfg(any())]
#[perennial::test]
fn it_may_be_left_out(t: &mut TestRun) {
    missing(t);
}

mod renamed {
    extern crate perennial as other;
    use other::testing::TestRun as Kit;

    #[other::test(crate = other)]
    pub(super) fn the_crate_may_have_another_name(kit: &mut Kit) {
        assert_eq!(kit.now(), Kit::BEGIN);
    }
}

macro_rules! tests {
    ($($name:ident $cents:literal)*) => {$(
        #[perennial::test]
        fn $name(t: &mut TestRun) {
            t.mock(charge, Ok);
            assert_eq!(t.start(pay, $cents).result().unwrap(), $cents);
        }
    )*};
}

tests!(a_macro_may_make_it 1 and_several 2);
