//! The body of a test, and what frames it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::failure::TestFailure;
use super::test_run::TestRun;

/// What the body of a test returns: nothing, or a `Result`.
#[diagnostic::on_unimplemented(
    message = "a test of the kit cannot return `{Self}`",
    label = "expected nothing or a `Result`"
)]
pub trait TestResult: sealed::Sealed {
    #[doc(hidden)]
    fn is_failure(&self) -> bool;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl<T, E> Sealed for Result<T, E> {}
}

impl TestResult for () {
    fn is_failure(&self) -> bool {
        false
    }
}

impl<T, E> TestResult for Result<T, E> {
    fn is_failure(&self) -> bool {
        self.is_err()
    }
}

/// Runs the body of a test and then the checks at its end. It is what
/// [`#[perennial::test]`](macro@crate::test) makes of a function, for where an attribute cannot be used.
///
/// The checks at the end do not run where the body panics or returns an error: then the test has failed.
///
/// # Panics
///
/// When the test fails ([`TestFailure`]).
///
/// ```
/// # use perennial::prelude::*;
/// # #[workflow]
/// # async fn wait(cx: &Cx) -> Result<(), Error> { Ok(cx.sleep(days(7)).await?) }
/// perennial::testing::test(|t| {
///     let run = t.start(wait, ());
///     t.advance(days(6));
///     assert!(!run.is_finished());
///     t.advance(days(1));
///     assert!(run.is_finished());
/// });
/// ```
#[track_caller]
pub fn test<R: TestResult>(body: impl FnOnce(&mut TestRun) -> R) -> R {
    let mut t = TestRun::new();
    let result = body(&mut t);
    if !result.is_failure() {
        t.finish();
    }
    result
}

/// Runs the body of a test as [`test()`] does, and gives why the kit lets it fail; `None` where it does not. A
/// panic of the body's own goes on.
///
/// For those who test what they have built on the kit.
pub fn failure_of(body: impl FnOnce(&mut TestRun)) -> Option<TestFailure> {
    let mut t = TestRun::new();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        body(&mut t);
        t.finish();
    }));
    let failure = t.failure();
    match (failure, ended) {
        (None, Err(payload)) => resume_unwind(payload),
        (failure, _) => failure,
    }
}
