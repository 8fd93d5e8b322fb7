//! Sizes, and mappings.

use std::ffi::{c_char, c_int, c_void};

use libc::{off64_t, size_t};

use super::{call, fails, path, small};
use crate::faults;
use crate::names::Path;
use crate::raw::{self, Stat};
use crate::record::{Data, Resize};
use crate::tape::{self, watched};

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn ftruncate64(fd: c_int, length: off64_t) -> c_int {
    let real = || small(call!(SYS_ftruncate, fd, length));
    let Some(size) = u64::try_from(length).ok().filter(|_| watched()) else {
        return real();
    };
    if let Some(error) = faults::grow(fd, size) {
        return fails(error);
    }
    match tape::file(fd) {
        None => real(),
        Some(file) => file.resize(Some(fd), Resize::To(size), real),
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn ftruncate(fd: c_int, length: off64_t) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { ftruncate64(fd, length) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn truncate64(name: *const c_char, length: off64_t) -> c_int {
    let real = || small(call!(SYS_truncate, name, length));
    let Some(size) = u64::try_from(length).ok() else {
        return real();
    };
    if name.is_null() || !watched() {
        return real();
    }
    // SAFETY: it is not null, so it is a path.
    let Path { at, path } = unsafe { path(libc::AT_FDCWD, name) };
    match Stat::at(at, path, true).and_then(|stat| tape::find(stat.key)) {
        None => real(),
        Some(file) => file.resize(None, Resize::To(size), real),
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn truncate(name: *const c_char, length: off64_t) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { truncate64(name, length) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn fallocate64(
    fd: c_int,
    mode: c_int,
    offset: off64_t,
    length: off64_t,
) -> c_int {
    let real = || small(call!(SYS_fallocate, fd, mode, offset, length));
    let (Ok(start), Ok(bytes)) = (u64::try_from(offset), u64::try_from(length)) else {
        return real();
    };
    if !watched() {
        return real();
    }
    let keeps_size = mode & libc::FALLOC_FL_KEEP_SIZE != 0;
    let end = start.saturating_add(bytes);
    if !keeps_size && let Some(error) = faults::grow(fd, end) {
        return fails(error);
    }
    let Some(file) = tape::file(fd) else {
        return real();
    };
    let clears = mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) != 0;
    let result = if keeps_size {
        real()
    } else {
        file.resize(Some(fd), Resize::AtLeast(end), real)
    };
    if result == 0 && clears {
        let size = Stat::of(fd).map_or(0, |stat| stat.size);
        file.written(start, Data::Zeros(end.min(size).saturating_sub(start)));
    }
    result
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn fallocate(
    fd: c_int,
    mode: c_int,
    offset: off64_t,
    length: off64_t,
) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { fallocate64(fd, mode, offset, length) }
}

/// Where the file system has no `fallocate`, that is the answer: the C library would write zeros.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn posix_fallocate64(
    fd: c_int,
    offset: off64_t,
    length: off64_t,
) -> c_int {
    let before = raw::errno();
    // SAFETY: it is what the caller wants.
    let done = unsafe { fallocate64(fd, 0, offset, length) };
    let error = if done == 0 { 0 } else { raw::errno() };
    raw::set_errno(before);
    error
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn posix_fallocate(
    fd: c_int,
    offset: off64_t,
    length: off64_t,
) -> c_int {
    // SAFETY: it is what the caller wants.
    unsafe { posix_fallocate64(fd, offset, length) }
}

/// Writing through a mapping is not seen, so that there is one is noted.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn mmap64(
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off64_t,
) -> *mut c_void {
    let mapped = call!(SYS_mmap, address, length, protection, flags, fd, offset);
    let writes = protection & libc::PROT_WRITE != 0 && flags & libc::MAP_SHARED != 0;
    if writes && flags & libc::MAP_ANONYMOUS == 0 && mapped != -1 && watched() {
        let errno = raw::errno();
        if let Some(file) = tape::file(fd) {
            file.map();
        }
        raw::set_errno(errno);
    }
    mapped as *mut c_void
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn mmap(
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off64_t,
) -> *mut c_void {
    // SAFETY: it is what the caller wants.
    unsafe { mmap64(address, length, protection, flags, fd, offset) }
}
