//! Lines for people.

use std::fmt;
use std::panic::Location;

use super::Cx;

impl Cx {
    /// Logs a line under the run's name. It appears once its unit is durable, and not again when the
    /// workflow is replayed.
    ///
    /// A text may not use the `Cx` to decide anything, since a replay does not make it. At most 16 KiB of it
    /// are kept.
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// # fn charged(cx: &Cx, cents: u64) {
    /// cx.log(format_args!("charged {cents} cents"));
    /// # }
    /// ```
    #[track_caller]
    pub fn log(&self, message: impl fmt::Display) {
        self.core().log(&message, Location::caller());
    }
}
