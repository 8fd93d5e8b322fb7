//! Values that are made once.

use std::panic::Location;

use super::Cx;
use crate::Data;
use crate::allowed::Allowed;
use crate::history::RecordSource;
use crate::value::{EncodeError, Value};

impl Cx {
    /// Makes a value once and records it under `name`: when the workflow is replayed, `make` is not called
    /// and the recorded value is returned (S6). The value rides in the next commit.
    ///
    /// For what is quick, has no effects and is not the same twice, such as a setting that was read at
    /// start. What takes time or can fail belongs into an activity.
    ///
    /// `make` may not use the `Cx`. A value that cannot be stored blocks the run, as does one that does not
    /// decode; the caller then gets what `make` gives, and the workflow is not polled again.
    #[track_caller]
    pub fn record<T: Data>(&self, name: &str, make: impl FnOnce() -> T) -> T {
        let mut make = Some(make);
        let mut made = None;
        let source = RecordSource::Named(name.to_owned());
        let recorded = self.core().record(source, Location::caller(), |_| {
            let value = made.insert(make.take().map(|make| {
                // What is not the same twice is what it is for.
                let _allowed = Allowed::enter();
                make()
            }));
            value
                .as_ref()
                .map_or_else(|| Ok(Value::null()), Data::to_value)
        });
        match (recorded.map(|value| T::from_value(&value)), &made) {
            // What was made is read back too: live and in replay the caller gets the same.
            (Some(Ok(value)), _) => return value,
            (Some(Err(error)), None) => {
                let detail = format!("the recorded value \"{}\": {error}", name.escape_debug());
                self.core().undecodable(self.core().last_event(), detail);
            }
            (Some(Err(error)), Some(_)) => {
                let what = format!("recorded value \"{}\"", name.escape_debug());
                let reason = format!("it is written, but cannot be read back: {error}");
                self.core()
                    .unstorable(what, EncodeError::Refused { reason });
            }
            (None, _) => {}
        }
        match (made.flatten(), make) {
            (Some(made), _) => made,
            (None, Some(make)) => make(),
            (None, None) => unreachable!("what was made is kept"),
        }
    }
}
