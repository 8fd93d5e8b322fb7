//! Whether what ended a poll was durable (S9), and how often a unit has polled.
//!
//! A poll that ends pending must have met something durable. Each await and each member of a combinator is
//! judged on its own, so that a foreign wait is found beside durable ones and after them too.

use std::cell::Cell;
use std::task::Poll;

use super::MAX_POLLS;
use super::core::SITE;
use super::trail;
use crate::workflow::Site;

thread_local! {
    /// Whether the poll that is judged now has met something durable that is not ready.
    static WAITING: Cell<bool> = const { Cell::new(false) };
    /// A poll that ended pending without that, and the await that was nearest.
    static FOREIGN: Cell<Option<Option<&'static Site>>> = const { Cell::new(None) };
    static POLLS: Cell<usize> = const { Cell::new(0) };
    /// The await that was passed last: code that panics comes after it.
    static PASSED: Cell<Option<&'static Site>> = const { Cell::new(None) };
}

/// Before a unit: whatever an earlier one left behind on this thread, by a panic for one, is not its own.
pub(super) fn reset() {
    WAITING.set(false);
    FOREIGN.set(None);
    POLLS.set(0);
    PASSED.set(None);
    trail::reset();
}

/// An await has its result.
pub(crate) fn pass(site: &'static Site) {
    PASSED.set(Some(site));
}

/// The await that was passed last in this unit.
pub(super) fn passed() -> Option<&'static Site> {
    PASSED.get()
}

/// Something durable is not ready.
pub(crate) fn wait() {
    WAITING.set(true);
}

/// Polls something that must wait for durable things only. What is ready waits for nothing, whatever it
/// met on the way: the loser of a `select!`, say.
pub(crate) fn judged<T>(poll: impl FnOnce() -> Poll<T>) -> Poll<T> {
    let outer = WAITING.replace(false);
    let result = poll();
    if result.is_ready() {
        WAITING.set(outer);
    } else if !WAITING.replace(true) && FOREIGN.get().is_none() {
        FOREIGN.set(Some(SITE.get()));
    }
    result
}

/// Runs something whose waiting is its own: what a spawned task waits for, the one that spawns it does not.
pub(super) fn apart(run: impl FnOnce()) {
    let outer = WAITING.get();
    run();
    WAITING.set(outer);
}

/// Whether a poll has ended pending and met nothing durable since this was asked last, and near which await.
pub(super) fn take_foreign() -> Option<Option<&'static Site>> {
    FOREIGN.take()
}

/// Counts a poll of something that was woken; `false` when the unit has had too many, since things that
/// wake each other would go on for ever.
pub(crate) fn may_poll() -> bool {
    POLLS.set(POLLS.get() + 1);
    POLLS.get() <= MAX_POLLS
}

/// Whether [`may_poll`] has said no in this unit.
pub(super) fn polled_too_often() -> bool {
    POLLS.get() > MAX_POLLS
}
