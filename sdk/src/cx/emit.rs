//! Giving out items while the run goes on (S28).

use std::panic::Location;

use super::Cx;
use crate::{Data, Stream};

impl Cx {
    /// Gives out an item in a stream of the run, for whoever reads that. Nothing is waited for: the item rides in
    /// the next commit, is numbered on from the last one of its stream, and is seen when that commit is durable, not
    /// before (S4, S28).
    ///
    /// It is a decision: a replay emits nothing, and must come to the same item of the same stream again (S9).
    ///
    /// An item that cannot be stored blocks the run, as does a stream more than
    /// [`MAX_STREAMS`](crate::MAX_STREAMS); the workflow is then not polled again.
    #[doc(alias = "publish")]
    #[track_caller]
    pub fn emit<T: Data>(&self, stream: Stream<T>, item: T) {
        let core = self.core();
        match item.to_value() {
            Ok(value) => core.emit(stream.name(), value, Location::caller()),
            Err(error) => core.unstorable(
                format!("item of stream \"{}\"", stream.name().escape_debug()),
                error,
            ),
        }
    }
}
