//! A system that was started anew.

use std::ffi::CStr;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::raw;

/// Where Linux names this start of the system.
const PATH: &CStr = c"/proc/sys/kernel/random/boot_id";
const OTHER: &[u8] = b"00000000-0000-4000-8000-000000000000\n";

static PRETENDED: AtomicBool = AtomicBool::new(false);

/// From now on this process finds the system started anew, as it is after a power cut: it has another name
/// in `/proc/sys/kernel/random/boot_id`.
pub fn pretend_restart() {
    PRETENDED.store(true, Ordering::Relaxed);
}

pub(crate) fn is_pretended() -> bool {
    PRETENDED.load(Ordering::Relaxed)
}

/// The file that is then opened in the place of `path`.
pub(crate) fn open(path: &CStr) -> Option<RawFd> {
    (path == PATH).then(|| raw::file_of(OTHER)).flatten()
}
