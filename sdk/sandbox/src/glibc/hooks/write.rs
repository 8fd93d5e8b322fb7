//! Standard output, and what comes in.

use std::ffi::{c_int, c_void};

use libc::{iovec, size_t, ssize_t};

use super::next;
use crate::glibc::watch::touch;

fn noted(fd: c_int, stdout: &'static str, stderr: &'static str) {
    match fd {
        libc::STDOUT_FILENO => touch("D110", stdout),
        libc::STDERR_FILENO => touch("D110", stderr),
        _ => {}
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, data: *const c_void, count: size_t) -> ssize_t {
    noted(fd, "write(stdout)", "write(stderr)");
    next!(write(fd: c_int, data: *const c_void, count: size_t) -> ssize_t)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    noted(fd, "writev(stdout)", "writev(stderr)");
    next!(writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, room: size_t) -> ssize_t {
    if fd == libc::STDIN_FILENO {
        touch("D106", "read(stdin)");
    }
    next!(read(fd: c_int, buffer: *mut c_void, room: size_t) -> ssize_t)
}
