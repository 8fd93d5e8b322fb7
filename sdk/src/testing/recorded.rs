//! What a test can look at as a history.

use crate::history::History;

/// Something that has a history: a run of the test kit, or a history itself.
pub trait Recorded {
    /// The history so far.
    fn history(&self) -> History;
}

impl Recorded for History {
    fn history(&self) -> History {
        self.clone()
    }
}

impl<T: Recorded + ?Sized> Recorded for &T {
    fn history(&self) -> History {
        (**self).history()
    }
}
