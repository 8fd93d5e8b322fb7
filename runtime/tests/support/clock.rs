//! A clock that the test sets.
#![allow(dead_code, unreachable_pub)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use perennial::Timestamp;
use perennial_runtime::Clock;

/// See the module.
#[derive(Clone, Debug)]
pub struct Set(Arc<AtomicU64>);

/// In milliseconds.
pub const START: u64 = 1_800_000_000_000;

impl Set {
    pub fn new() -> Self {
        Self(Arc::new(AtomicU64::new(START)))
    }

    /// So many seconds after the start.
    pub fn at(&self, seconds: u64) {
        self.at_millis(seconds * 1_000);
    }

    pub fn at_millis(&self, milliseconds: u64) {
        self.0.store(START + milliseconds, Ordering::SeqCst);
    }
}

impl Clock for Set {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
