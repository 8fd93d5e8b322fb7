//! Calls of the C library that the standard library does not make.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint};
use std::fs::File;
use std::os::fd::AsRawFd as _;

pub(crate) fn sync_file_range(file: &File, length: i64, flags: c_uint) {
    // SAFETY: takes no pointer.
    let done = unsafe { libc::sync_file_range(file.as_raw_fd(), 0, length, flags) };
    assert_eq!(done, 0);
}

/// Gives the error number, or 0.
pub(crate) fn fallocate(file: &File, mode: c_int, length: i64) -> c_int {
    // SAFETY: takes no pointer.
    let done = unsafe { libc::fallocate(file.as_raw_fd(), mode, 0, length) };
    if done == 0 {
        0
    } else {
        std::io::Error::last_os_error().raw_os_error().unwrap()
    }
}

/// Maps the file into memory for writing, and takes it out again.
pub(crate) fn map(file: &File, length: usize) {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: nobody reads or writes what is mapped, and it is taken out once.
    unsafe {
        let mapped = libc::mmap(
            std::ptr::null_mut(),
            length,
            protection,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        );
        assert_ne!(mapped, libc::MAP_FAILED);
        assert_eq!(libc::munmap(mapped, length), 0);
    }
}
