//! Lines for people.

use std::fmt;
use std::panic::Location;

use super::Cx;

impl Cx {
    /// Logs a line under the run's name. It appears once its unit is durable, and not again when the
    /// workflow is replayed.
    ///
    /// ```ignore
    /// cx.log(format_args!("charged {} cents", receipt.cents));
    /// ```
    #[track_caller]
    pub fn log(&self, message: impl fmt::Display) {
        self.core().log(&message, Location::caller());
    }
}
