//! Making store errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use perennial::wire::RecordError;

use crate::store::StoreError;

pub(super) fn damaged(place: String, problem: RecordError) -> StoreError {
    StoreError::Damaged { place, problem }
}

/// sled itself failed: the writer stops when it sees this one.
pub(super) fn sled_error(error: &::sled::Error) -> StoreError {
    StoreError::Io {
        what: "sled could not read the store".into(),
        error: error.to_string(),
    }
}

/// sled answers some damage with a panic; to our caller that is an error like any other.
pub(super) fn guarded<T>(ask: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|panic| {
        Err(StoreError::Io {
            what: "sled panicked".into(),
            error: panic_text(&*panic),
        })
    })
}

/// What a panic said.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it did not say why")
        .to_owned()
}
