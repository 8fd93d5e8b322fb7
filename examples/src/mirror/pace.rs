//! How fast files are copied, where they are not to be copied as fast as the disk can.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perennial::ActivityCx;

/// Lets files be copied one after the other, with some time between them.
#[derive(Debug)]
pub struct Pace {
    every: Duration,
    turn: Mutex<()>,
}

/// A batch has the turn.
pub(super) struct Turn<'a> {
    pace: &'a Pace,
    _turn: Option<MutexGuard<'a, ()>>,
}

const LONGEST: Duration = Duration::from_secs(60);

impl Pace {
    /// So long after each file, at most a minute. Zero: batches are copied side by side, as fast as it goes.
    #[must_use]
    pub fn new(every: Duration) -> Self {
        Self {
            every: every.min(LONGEST),
            turn: Mutex::new(()),
        }
    }

    /// Waits until it is this batch's turn.
    pub(super) fn turn(&self) -> Turn<'_> {
        let lock = || self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        Turn {
            pace: self,
            _turn: (!self.every.is_zero()).then(lock),
        }
    }
}

impl Turn<'_> {
    /// A file is copied. A program that is about to end is not held up.
    pub(super) fn rest(&self, acx: &ActivityCx) {
        let every = self.pace.every;
        if !every.is_zero() && !acx.is_stopping() {
            std::thread::sleep(every);
        }
    }
}

#[test]
fn with_a_pace_one_batch_is_copied_after_the_other() {
    let pace = Pace::new(Duration::from_secs(1));
    let turn = pace.turn();
    assert!(pace.turn.try_lock().is_err());
    drop(turn);
    assert!(pace.turn.try_lock().is_ok());
    let fast = Pace::new(Duration::ZERO);
    let (_one, _another) = (fast.turn(), fast.turn());
}
