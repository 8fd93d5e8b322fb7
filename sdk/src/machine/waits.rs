//! Whether what ended a poll was durable (S9). A poll that ends pending must have met something durable;
//! each combinator checks its members, so that a foreign wait is found beside durable ones too.

use std::cell::Cell;

thread_local! {
    static WAITS: Cell<u64> = const { Cell::new(0) };
    static FOREIGN: Cell<bool> = const { Cell::new(false) };
}

/// How often something durable has said on this thread that it is not ready.
pub(crate) fn waits() -> u64 {
    WAITS.get()
}

/// Something durable is not ready.
pub(crate) fn wait() {
    WAITS.set(WAITS.get() + 1);
}

/// A poll ended pending: it must have met something durable since `before`.
pub(crate) fn check(before: u64) {
    if WAITS.get() == before {
        FOREIGN.set(true);
    }
}

/// Whether a poll has met nothing durable since this was asked last.
pub(super) fn take_foreign() -> bool {
    FOREIGN.take()
}
