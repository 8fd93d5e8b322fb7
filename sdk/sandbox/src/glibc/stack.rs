//! This thread's stack and error number.
#![allow(unsafe_code)]

use std::backtrace::Backtrace;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ptr;

/// How many frames tell one stack from another.
const FRAMES: usize = 128;

/// Where each function on the stack goes on, from the innermost.
#[derive(Debug)]
pub(super) struct Stack {
    frames: [*mut c_void; FRAMES],
    filled: usize,
}

impl Stack {
    pub(super) fn here() -> Self {
        let mut frames = [ptr::null_mut(); FRAMES];
        let room = c_int::try_from(FRAMES).unwrap_or_default();
        // SAFETY: there is as much room as is said.
        let filled = unsafe { libc::backtrace(frames.as_mut_ptr(), room) };
        let filled = usize::try_from(filled).unwrap_or_default();
        Self { frames, filled }
    }

    fn frames(&self) -> &[*mut c_void] {
        self.frames.get(..self.filled).unwrap_or_default()
    }

    /// The same number for the same stack.
    pub(super) fn digest(&self) -> u64 {
        // Not `RandomState`, whose keys a thread draws once: the workflow is to draw them, in its world.
        let mut hasher = DefaultHasher::new();
        self.frames().hash(&mut hasher);
        hasher.finish()
    }

    /// Whether somebody prints a backtrace. The standard library holds a lock meanwhile, and reads files: to
    /// take another backtrace then would wait for that lock for ever.
    pub(super) fn prints_a_backtrace(&self) -> bool {
        let print: fn(&Backtrace, &mut fmt::Formatter<'_>) -> fmt::Result = fmt::Display::fmt;
        let print = print as *mut c_void;
        self.frames()
            .iter()
            // SAFETY: takes any address, and looks in tables that do not change.
            .any(|frame| unsafe { _Unwind_FindEnclosingFunction(*frame) } == print)
    }
}

/// Whether a handler of a signal runs on the small stack that it has of its own, as the one of the standard library
/// does that says that a stack has overflowed. There is no room there to find out who asks.
pub(super) fn is_a_handlers() -> bool {
    let mut stack = libc::stack_t {
        ss_sp: ptr::null_mut(),
        ss_flags: 0,
        ss_size: 0,
    };
    // SAFETY: it only asks, and there is room for the answer.
    let answer = unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) };
    answer == 0 && stack.ss_flags & libc::SS_ONSTACK != 0
}

unsafe extern "C" {
    /// Where the function begins that returns to an address. It is in the library that unwinds.
    fn _Unwind_FindEnclosingFunction(address: *mut c_void) -> *mut c_void;
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
