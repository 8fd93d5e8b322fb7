//! What `#[allow_nondeterminism]` leaves behind for those who watch a workflow's code while it runs.

use std::cell::Cell;

thread_local! {
    /// How many opt-outs this thread is inside of.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// While it lives, this thread is inside of an opt-out.
///
/// An opt-out may hold an await. What comes after the await, in a later poll, does not count as inside: the
/// machine begins each poll outside of all.
#[derive(Debug)]
#[must_use]
pub struct Allowed(());

impl Allowed {
    /// Enters an opt-out.
    #[inline]
    pub fn enter() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self(())
    }
}

impl Drop for Allowed {
    #[inline]
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }
}

/// Whether this thread is inside of an opt-out.
#[must_use]
pub fn is_allowed() -> bool {
    // While the thread ends there is nothing to ask any more.
    DEPTH.try_with(Cell::get).is_ok_and(|depth| depth > 0)
}

/// Leaves all opt-outs: a poll begins.
pub(crate) fn leave_all() {
    DEPTH.set(0);
}
