//! How fast files are copied, where they are not to be copied as fast as the disk can.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Lets copies begin one after the other, with some time between them.
#[derive(Debug)]
pub struct Pace {
    every: Duration,
    /// When the next one may begin.
    next: Mutex<Instant>,
}

impl Pace {
    /// No two copies begin within `every`, or within a day where that is longer. Zero: as they come.
    #[must_use]
    pub fn new(every: Duration) -> Self {
        Self {
            every: every.min(LONGEST),
            next: Mutex::new(Instant::now()),
        }
    }

    /// Waits until it is this copy's turn.
    pub(super) fn wait(&self) {
        if !self.every.is_zero() {
            std::thread::sleep(self.turn(Instant::now()));
        }
    }

    /// How long somebody has to wait who asks now.
    fn turn(&self, now: Instant) -> Duration {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = now.max(*next);
        *next = turn + self.every;
        turn - now
    }
}

#[test]
fn copies_begin_one_after_the_other() {
    let (pace, now) = (Pace::new(Duration::from_secs(2)), Instant::now());
    let later = now + Duration::from_secs(7);
    let waits = [now, now, now, later].map(|when| pace.turn(when).as_secs());
    assert_eq!(waits, [0, 2, 4, 0]);
}
