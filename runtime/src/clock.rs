//! The time outside.

use std::fmt;
use std::time::SystemTime;

use perennial::Timestamp;

/// Tells the time for stamps and deadlines. Waiting itself is measured on the monotonic clock (S7).
pub trait Clock: Send + Sync + fmt::Debug + 'static {
    /// The time now. It may go back; stamps do not (S2).
    fn now(&self) -> Timestamp;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}
