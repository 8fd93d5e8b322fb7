//! Opening.
//!
//! The mode is the last of variable arguments, which are passed like others on the architectures that Linux
//! with 64 bits runs on. Where it was not given it is not looked at either.

use std::ffi::{c_char, c_int};
use std::os::fd::RawFd;

use libc::mode_t;

use super::{call, path, small};
use crate::names;
use crate::restart;
use crate::tape::watched;

/// # Safety
///
/// That of `openat`.
unsafe fn opened(at: RawFd, name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let real = || small(call!(SYS_openat, at, name, flags, mode));
    if restart::is_pretended() && !name.is_null() {
        // SAFETY: it is not null, so it is a path.
        if let Some(fd) = restart::open(unsafe { path(at, name) }.path) {
            return fd;
        }
    }
    let changes = libc::O_CREAT | libc::O_TRUNC | (libc::O_TMPFILE & !libc::O_DIRECTORY);
    if flags & changes == 0 || name.is_null() || !watched() {
        return real();
    }
    // SAFETY: it is not null, so it is a path.
    let name = unsafe { path(at, name) };
    if flags & libc::O_TMPFILE == libc::O_TMPFILE {
        names::open_unnamed(name, real)
    } else {
        names::open(name, flags & libc::O_TRUNC != 0, real)
    }
}

macro_rules! opening {
    ($($name:ident($($at:ident)?);)+) => {
        $(#[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $name($($at: c_int,)? name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            #[allow(unused_variables)]
            let folder = libc::AT_FDCWD;
            $(let folder = $at;)?
            // SAFETY: it is what the caller wants.
            unsafe { opened(folder, name, flags, mode) }
        })+
    };
}
opening! {
    open();
    open64();
    openat(at);
    openat64(at);
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn creat(name: *const c_char, mode: mode_t) -> c_int {
    let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
    // SAFETY: it is what the caller wants.
    unsafe { opened(libc::AT_FDCWD, name, flags, mode) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn creat64(name: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { creat(name, mode) }
}
