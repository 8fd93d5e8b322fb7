//! The clocks of a world: one that can be set, and one that only goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use perennial::Timestamp;

use crate::clock::Clock;

/// The wall clock begins here, in milliseconds.
const BEGIN: u64 = 1_800_000_000_000;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Time(Arc<(AtomicU64, AtomicU64)>);

impl Time {
    pub(super) fn new() -> Self {
        Self(Arc::new((AtomicU64::new(BEGIN), AtomicU64::new(0))))
    }

    pub(super) fn wall(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }

    pub(super) fn passed(&self) -> u64 {
        self.0.1.load(Ordering::Relaxed)
    }

    pub(super) fn pass(&self, milliseconds: u64) {
        self.0.0.fetch_add(milliseconds, Ordering::Relaxed);
        self.0.1.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// The clock of the machine is set to another time; nothing passes.
    pub(super) fn jump(&self, milliseconds: i64) {
        let wall = self.wall().saturating_add_signed(milliseconds);
        self.0.0.store(wall, Ordering::Relaxed);
    }
}

impl Clock for Time {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.wall())
    }
}
