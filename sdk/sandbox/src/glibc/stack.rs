//! This thread's stack and error number.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ptr;

/// How many frames tell one stack from another.
const FRAMES: usize = 128;

/// The same number for the same stack.
pub(super) fn digest() -> u64 {
    let mut frames = [ptr::null_mut(); FRAMES];
    let room = c_int::try_from(FRAMES).unwrap_or_default();
    // SAFETY: there is as much room as is said.
    let filled = unsafe { libc::backtrace(frames.as_mut_ptr(), room) };
    let filled = usize::try_from(filled).unwrap_or_default();
    // Not `RandomState`, whose keys a thread draws once: the workflow is to draw them, in its world.
    let mut hasher = DefaultHasher::new();
    for frame in frames.iter().take(filled) {
        frame.hash(&mut hasher);
    }
    hasher.finish()
}

/// Puts the error number back when it is dropped: who asked for something else may not have looked at it yet.
#[derive(Debug)]
pub(super) struct Errno(c_int);

impl Errno {
    pub(super) fn keep() -> Self {
        // SAFETY: the address of this thread's error number is always valid.
        Self(unsafe { *libc::__errno_location() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        set_errno(self.0);
    }
}

pub(super) fn set_errno(number: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = number }
}
