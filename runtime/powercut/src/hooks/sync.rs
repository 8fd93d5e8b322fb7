//! Syncs.

use std::ffi::{c_int, c_uint};
use std::os::fd::RawFd;

use libc::off64_t;

use super::{call, fails, small};
use crate::faults;
use crate::tape::{self, watched};

fn synced(fd: RawFd, real: impl FnOnce() -> c_int) -> c_int {
    if !watched() {
        return real();
    }
    let error = faults::sync(fd);
    let real = || match error {
        None => real(),
        Some(error) => fails(error),
    };
    match tape::file_or_folder(fd) {
        None => real(),
        Some(file) => file.sync(fd, real),
    }
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn fsync(fd: c_int) -> c_int {
    synced(fd, || small(call!(SYS_fsync, fd)))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn fdatasync(fd: c_int) -> c_int {
    synced(fd, || small(call!(SYS_fdatasync, fd)))
}

#[unsafe(no_mangle)]
pub(super) extern "C" fn sync_file_range(
    fd: c_int,
    offset: off64_t,
    length: off64_t,
    flags: c_uint,
) -> c_int {
    let done = small(call!(SYS_sync_file_range, fd, offset, length, flags));
    if done == 0
        && watched()
        && let Some(file) = tape::file(fd)
    {
        file.range_sync();
    }
    done
}
