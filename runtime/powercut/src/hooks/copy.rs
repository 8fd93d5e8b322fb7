//! Copying from file to file inside the system.

use std::ffi::{c_int, c_uint};
use std::os::fd::RawFd;

use libc::{off64_t, size_t, ssize_t};

use super::{bytes, call};
use crate::raw;
use crate::record::Data;
use crate::tape::{self, watched};

/// `from` and `to` are what the caller gave as places; null means the cursor.
///
/// # Safety
///
/// `from` and `to` are null or valid.
unsafe fn copied(
    input: RawFd,
    from: *const off64_t,
    output: RawFd,
    to: *const off64_t,
    real: impl FnOnce() -> isize,
) -> isize {
    let Some(file) = Some(output).filter(|_| watched()).and_then(tape::file) else {
        return real();
    };
    let place = |fd, given: *const off64_t| {
        if given.is_null() {
            raw::cursor(fd)
        } else {
            // SAFETY: asked of the caller.
            u64::try_from(unsafe { *given }).unwrap_or_default()
        }
    };
    let (from, to) = (place(input, from), place(output, to));
    let result = real();
    if let Ok(copied @ 1..) = usize::try_from(result) {
        let errno = raw::errno();
        // The output may not be open for reading.
        file.written(to, Data::Bytes(raw::read(input, from, copied).into()));
        raw::set_errno(errno);
    }
    result
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn copy_file_range(
    input: c_int,
    from: *mut off64_t,
    output: c_int,
    to: *mut off64_t,
    count: size_t,
    flags: c_uint,
) -> ssize_t {
    let real = || {
        bytes(call!(
            SYS_copy_file_range,
            input,
            from,
            output,
            to,
            count,
            flags
        ))
    };
    // SAFETY: the caller says that they are valid.
    unsafe { copied(input, from, output, to, real) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn sendfile64(
    output: c_int,
    input: c_int,
    from: *mut off64_t,
    count: size_t,
) -> ssize_t {
    let real = || bytes(call!(SYS_sendfile, output, input, from, count));
    // SAFETY: the caller says that it is valid.
    unsafe { copied(input, from, output, std::ptr::null(), real) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn sendfile(
    output: c_int,
    input: c_int,
    from: *mut off64_t,
    count: size_t,
) -> ssize_t {
    // SAFETY: it is what the caller wants.
    unsafe { sendfile64(output, input, from, count) }
}
