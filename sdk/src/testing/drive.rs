//! What lets the runs of a test go on, and how a test fails.

use super::attempts::settle;
use super::driver::Shared;
use super::failure::TestFailure;
use crate::Timestamp;

/// Lets the test fail, here and from now on.
#[track_caller]
pub(super) fn fail(shared: &Shared, failure: TestFailure) -> ! {
    let text = failure.to_string();
    if let Ok(mut driver) = shared.try_borrow_mut() {
        driver.failure.get_or_insert(failure);
    }
    panic!("{text}")
}

/// What there is, or the test fails, where its code has asked.
#[track_caller]
pub(super) fn or_fail<T>(shared: &Shared, there: Result<T, TestFailure>) -> T {
    match there {
        Ok(there) => there,
        // Not in a closure: it would be the place.
        Err(failure) => fail(shared, failure),
    }
}

/// Does something with the driver, unless the test has failed.
pub(super) fn drive<T>(
    shared: &Shared,
    what: impl FnOnce(&Shared) -> Result<T, TestFailure>,
) -> Result<T, TestFailure> {
    let failure = shared.borrow().failure.clone();
    failure.map_or_else(|| what(shared), Err)
}

pub(super) fn move_to(shared: &Shared, time: Timestamp) -> Result<(), TestFailure> {
    {
        let mut driver = shared.borrow_mut();
        driver.now = driver.now.max(time);
    }
    settle(shared)
}

/// Moves the clock until the run has ended.
pub(super) fn drive_to_the_end(shared: &Shared, index: usize) -> Result<(), TestFailure> {
    drive(shared, |shared| {
        settle(shared)?;
        loop {
            let next = {
                let driver = shared.borrow();
                if driver.runs[index].end.is_some() {
                    return Ok(());
                }
                match driver.next_time() {
                    Some(next) if driver.auto_advance => next,
                    _ => return Err(driver.waiting(index)),
                }
            };
            shared.borrow_mut().hurrying = true;
            let moved = move_to(shared, next);
            shared.borrow_mut().hurrying = false;
            moved?;
        }
    })
}
