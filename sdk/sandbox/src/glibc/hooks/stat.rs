//! What the system says of a file. Not each version of the C library has a function of the name `stat`, so
//! these make their system call.

use std::ffi::{c_char, c_int, c_uint};

use libc::statx as Statx;

use super::syscall;
use crate::glibc::watch::touch;

fn small(answer: std::ffi::c_long) -> c_int {
    c_int::try_from(answer).unwrap_or(-1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn statx(
    at: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    stat: *mut Statx,
) -> c_int {
    touch("D106", "statx()");
    let arguments = [
        at as usize,
        path.addr(),
        flags as usize,
        mask as usize,
        stat.addr(),
        0,
    ];
    small(syscall::real(libc::SYS_statx, arguments))
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod by_path {
    use libc::{stat as Stat, stat64 as Stat64};

    use super::{c_char, c_int, small, syscall, touch};

    /// Where the kernel's form is that of the C library.
    fn real(at: c_int, path: *const c_char, stat: usize, flags: c_int) -> c_int {
        let arguments = [at as usize, path.addr(), stat, flags as usize, 0, 0];
        small(syscall::real(libc::SYS_newfstatat, arguments))
    }

    macro_rules! of_path {
        ($($name:ident, $stat:ty, $flags:expr;)+) => {
            $(#[unsafe(no_mangle)]
            unsafe extern "C" fn $name(path: *const c_char, stat: *mut $stat) -> c_int {
                touch("D106", concat!(stringify!($name), "()"));
                real(libc::AT_FDCWD, path, stat.addr(), $flags)
            })+
        };
    }
    of_path! {
        stat, Stat, 0;
        stat64, Stat64, 0;
        lstat, Stat, libc::AT_SYMLINK_NOFOLLOW;
        lstat64, Stat64, libc::AT_SYMLINK_NOFOLLOW;
    }

    macro_rules! seen_from {
        ($($name:ident, $stat:ty;)+) => {
            $(#[unsafe(no_mangle)]
            unsafe extern "C" fn $name(at: c_int, path: *const c_char, stat: *mut $stat, flags: c_int) -> c_int {
                touch("D106", concat!(stringify!($name), "()"));
                real(at, path, stat.addr(), flags)
            })+
        };
    }
    seen_from! {
        fstatat, Stat;
        fstatat64, Stat64;
    }
}
