//! Functions in the place of those of the C library. The linker takes them for every call in the program, also
//! those of the standard library.
//!
//! Each makes its system call and nothing else while nobody watches: a look at an atomic or two, no allocation,
//! no lock. So it does not matter how early in the life of the process they are called. They do not panic; if one
//! did, the process would end there.
#![allow(unsafe_code)]

mod copy;
mod name;
mod open;
mod size;
mod sync;
mod write;

use std::ffi::{CStr, c_char, c_int, c_long};
use std::os::fd::RawFd;

use crate::names::Path;
use crate::raw;

/// A system call with the arguments of its caller, who answers for them.
macro_rules! call {
    ($number:ident $(, $argument:expr)*) => {
        // SAFETY: the caller makes this very call; its pointers are passed on as they came.
        unsafe { libc::syscall(libc::$number $(, $argument as std::ffi::c_long)*) }
    };
}
use call;

/// The functions whose place is taken, and whether the linker has taken ours.
pub(crate) fn replaced() -> impl Iterator<Item = (&'static str, bool)> {
    macro_rules! pairs {
        ($($module:ident: $($name:ident),+;)+) => {
            [$($((
                stringify!($name),
                $module::$name as *const (),
                libc::$name as *const (),
            )),+),+]
        };
    }
    let pairs = pairs![
        open: open, open64, openat, openat64, creat, creat64;
        write: write, writev, pwrite, pwrite64, pwritev, pwritev64, pwritev2, pwritev64v2;
        copy: copy_file_range, sendfile, sendfile64;
        size: ftruncate, ftruncate64, truncate, truncate64, fallocate, fallocate64, posix_fallocate,
            posix_fallocate64, mmap, mmap64;
        name: rename, renameat, renameat2, unlink, unlinkat, rmdir, mkdir, mkdirat, link, linkat;
        sync: fsync, fdatasync, sync_file_range;
    ];
    pairs
        .into_iter()
        .map(|(name, ours, taken)| (name, std::ptr::eq(ours, taken)))
}

/// The answer of a system call that gives a small number.
fn small(answer: c_long) -> c_int {
    c_int::try_from(answer).unwrap_or(-1)
}

/// The answer of a system call that gives a number of bytes.
fn bytes(answer: c_long) -> isize {
    isize::try_from(answer).unwrap_or(-1)
}

fn fails(error: c_int) -> c_int {
    raw::set_errno(error);
    -1
}

/// # Safety
///
/// `path` ends in a zero byte.
unsafe fn path<'a>(at: RawFd, path: *const c_char) -> Path<'a> {
    Path {
        at,
        // SAFETY: asked of the caller.
        path: unsafe { CStr::from_ptr(path) },
    }
}
