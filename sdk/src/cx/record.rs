//! Values that are made once.

use std::panic::Location;

use super::Cx;
use crate::Data;
use crate::history::RecordSource;
use crate::value::Value;

impl Cx {
    /// Makes a value once and records it under `name`: when the workflow is replayed, `make` is not called
    /// and the recorded value is returned (S6). The value rides in the next commit.
    ///
    /// For what is quick, has no effects and is not the same twice, such as a setting that was read at
    /// start. What takes time or can fail belongs into an activity.
    ///
    /// A value that cannot be stored blocks the run, as does a recorded one that does not decode; the
    /// caller then gets what `make` gives, and the workflow is not polled again.
    #[track_caller]
    pub fn record<T: Data>(&self, name: &str, make: impl FnOnce() -> T) -> T {
        let place = Location::caller();
        let mut make = Some(make);
        let recorded = self
            .core()
            .record(RecordSource::Named(name.to_owned()), place, |_| {
                // Called at most once.
                make.take()
                    .map_or_else(|| Ok(Value::null()), |make| Value::encode(&make()))
            });
        match recorded.map(|value| value.decode()) {
            Some(Ok(value)) => return value,
            Some(Err(error)) => {
                self.core().undecodable(format!(
                    "the recorded value \"{}\": {error}",
                    name.escape_debug()
                ));
            }
            None => {}
        }
        match make {
            Some(make) => make(),
            // The value was made and cannot be stored, so there is none to go on with.
            None => std::panic::resume_unwind(Box::new("")),
        }
    }
}
