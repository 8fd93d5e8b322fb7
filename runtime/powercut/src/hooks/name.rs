//! Names of files and folders.

use std::ffi::{c_char, c_int, c_uint};
use std::os::fd::RawFd;

use libc::mode_t;

use super::{call, path, small};
use crate::names;
use crate::tape::watched;

/// # Safety
///
/// That of `renameat2`.
unsafe fn renamed(
    from_at: RawFd,
    from: *const c_char,
    to_at: RawFd,
    to: *const c_char,
    flags: c_uint,
) -> c_int {
    let real = || small(call!(SYS_renameat2, from_at, from, to_at, to, flags));
    if from.is_null() || to.is_null() || !watched() {
        return real();
    }
    let exchange = flags & libc::RENAME_EXCHANGE != 0;
    // SAFETY: they are not null, so they are paths.
    unsafe { names::rename(path(from_at, from), path(to_at, to), exchange, real) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { renamed(libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn renameat(
    from_at: c_int,
    from: *const c_char,
    to_at: c_int,
    to: *const c_char,
) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { renamed(from_at, from, to_at, to, 0) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn renameat2(
    from_at: c_int,
    from: *const c_char,
    to_at: c_int,
    to: *const c_char,
    flags: c_uint,
) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { renamed(from_at, from, to_at, to, flags) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn unlinkat(at: c_int, name: *const c_char, flags: c_int) -> c_int {
    let real = || small(call!(SYS_unlinkat, at, name, flags));
    if name.is_null() || !watched() {
        return real();
    }
    // SAFETY: it is not null, so it is a path.
    names::remove(unsafe { path(at, name) }, real)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn unlink(name: *const c_char) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { unlinkat(libc::AT_FDCWD, name, 0) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn rmdir(name: *const c_char) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { unlinkat(libc::AT_FDCWD, name, libc::AT_REMOVEDIR) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn mkdirat(at: c_int, name: *const c_char, mode: mode_t) -> c_int {
    let real = || small(call!(SYS_mkdirat, at, name, mode));
    if name.is_null() || !watched() {
        return real();
    }
    // SAFETY: it is not null, so it is a path.
    names::make_folder(unsafe { path(at, name) }, real)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn mkdir(name: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { mkdirat(libc::AT_FDCWD, name, mode) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn linkat(
    from_at: c_int,
    from: *const c_char,
    to_at: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    let real = || small(call!(SYS_linkat, from_at, from, to_at, to, flags));
    if to.is_null() || !watched() {
        return real();
    }
    // SAFETY: it is not null, so it is a path.
    names::link(unsafe { path(to_at, to) }, real)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn link(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { linkat(libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0) }
}
