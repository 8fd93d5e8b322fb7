//! Showing how the run stands (S28).

use std::any::type_name;

use super::Cx;
use crate::{Data, View};

impl Cx {
    /// Sets what a view of the run shows from now on, in place of what it showed. It is seen once the unit is durable
    /// of which it is part; of several values that are set in one unit that is the last.
    ///
    /// It is no decision: it does not stand in the history, a replay does not compare it, and what is shown may change
    /// with the code, also of runs in flight (S28). Nobody can change the run by reading it (O20). What others must
    /// not miss is an item of a [stream](Self::emit).
    ///
    /// A value that cannot be stored blocks the run, as does a view more than [`MAX_VIEWS`](crate::MAX_VIEWS); the
    /// workflow is then not polled again.
    pub fn set<T: Data>(&self, view: View<T>, value: T) {
        let core = self.core();
        match value.to_value() {
            Ok(value) => core.set_view(view.name(), type_name::<T>(), value),
            Err(error) => core.unstorable(
                format!("value of view \"{}\"", view.name().escape_debug()),
                error,
            ),
        }
    }
}
