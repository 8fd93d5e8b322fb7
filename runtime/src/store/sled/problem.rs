//! Making store errors.

use std::any::Any;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

use perennial::wire::RecordError;

use crate::store::StoreError;

pub(super) fn damaged(place: String, problem: RecordError) -> StoreError {
    StoreError::Damaged { place, problem }
}

/// What the system did when it said no to sled.
pub(super) const REFUSED: &str = "the system refused it to sled";

/// sled itself failed: the writer stops when it sees this one.
pub(super) fn sled_error(error: &::sled::Error) -> StoreError {
    let what = if is_refusal(error) {
        REFUSED
    } else {
        "sled failed"
    };
    StoreError::Io {
        what: what.into(),
        error: error.to_string(),
    }
}

/// Whether it is the system that says no, and not sled that finds no sense in its files.
pub(super) fn is_refusal(error: &::sled::Error) -> bool {
    // Of what is said a second time sled keeps the kind alone.
    const EIO: i32 = 5;
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    let ::sled::Error::Io(error) = error else {
        return false;
    };
    matches!(
        error.kind(),
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::FileTooLarge
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::PermissionDenied
            | ErrorKind::OutOfMemory
    ) || (cfg!(unix) && matches!(error.raw_os_error(), Some(EIO | ENFILE | EMFILE)))
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
