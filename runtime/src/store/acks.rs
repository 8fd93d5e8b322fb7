//! Calling acks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::StoreError;
use super::contract::Ack;

/// An ack with its answer, ready to be called.
pub(super) type Answer = Box<dyn FnOnce() + Send>;

/// Joins an ack and its answer.
pub(super) fn answer<T: Send + 'static>(ack: Ack<T>, result: Result<T, StoreError>) -> Answer {
    Box::new(move || ack(result))
}

/// Calls an ack. One that panics is the caller's mistake; it must not take the answers of others with it.
pub(super) fn deliver(answer: Answer) {
    if catch_unwind(AssertUnwindSafe(answer)).is_err() {
        tracing::error!("an ack panicked; its write stands as it was answered");
    }
}
