//! Writing.

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;

use libc::{iovec, off64_t, size_t, ssize_t};

use super::{bytes, call, fails};
use crate::faults::{self, Verdict};
use crate::tape::{self, Place, watched};

/// # Safety
///
/// Each piece is as long as it says.
unsafe fn gathered(pieces: &[iovec]) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(pieces.iter().map(|piece| piece.iov_len).sum());
    for piece in pieces.iter().filter(|piece| piece.iov_len > 0) {
        // SAFETY: asked of the caller.
        bytes.extend_from_slice(unsafe {
            std::slice::from_raw_parts(piece.iov_base.cast::<u8>(), piece.iov_len)
        });
    }
    bytes.into()
}

fn first(pieces: &[iovec], mut bytes: usize) -> Vec<iovec> {
    let mut taken = Vec::new();
    for piece in pieces {
        let iov_len = piece.iov_len.min(bytes);
        taken.push(iovec { iov_len, ..*piece });
        bytes -= iov_len;
    }
    taken
}

/// # Safety
///
/// Each piece is as long as it says. `real` writes them to `place`.
unsafe fn written(
    fd: RawFd,
    pieces: &[iovec],
    place: Place,
    real: impl FnOnce() -> isize,
) -> isize {
    let wanted = pieces.iter().map(|piece| piece.iov_len).sum();
    let part = match faults::write(fd, wanted) {
        Verdict::Passes => None,
        Verdict::Part(bytes) => Some(first(pieces, bytes)),
        Verdict::Fails(error) => {
            fails(error);
            return -1;
        }
    };
    let real = || match &part {
        None => real(),
        Some(part) => match place {
            Place::Cursor => bytes(call!(SYS_writev, fd, part.as_ptr(), part.len())),
            Place::At(offset) => {
                bytes(call!(SYS_pwritev, fd, part.as_ptr(), part.len(), offset, 0))
            }
        },
    };
    match tape::file(fd) {
        None => real(),
        Some(file) => {
            // SAFETY: asked of the caller; the parts are no longer.
            let data = unsafe { gathered(part.as_deref().unwrap_or(pieces)) };
            file.write(fd, place, data, real)
        }
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn write(fd: c_int, data: *const c_void, count: size_t) -> ssize_t {
    let real = || bytes(call!(SYS_write, fd, data, count));
    if !watched() {
        return real();
    }
    let piece = iovec {
        iov_base: data.cast_mut(),
        iov_len: count,
    };
    // SAFETY: the caller says how long it is.
    unsafe { written(fd, &[piece], Place::Cursor, real) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pwrite64(
    fd: c_int,
    data: *const c_void,
    count: size_t,
    offset: off64_t,
) -> ssize_t {
    let real = || bytes(call!(SYS_pwrite64, fd, data, count, offset));
    let Some(place) = u64::try_from(offset).ok().filter(|_| watched()) else {
        return real();
    };
    let piece = iovec {
        iov_base: data.cast_mut(),
        iov_len: count,
    };
    // SAFETY: the caller says how long it is.
    unsafe { written(fd, &[piece], Place::At(place), real) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn pwrite(
    fd: c_int,
    data: *const c_void,
    count: size_t,
    offset: off64_t,
) -> ssize_t {
    // SAFETY: it is what the caller wants.
    unsafe { pwrite64(fd, data, count, offset) }
}

/// # Safety
///
/// That of `writev`. `real` is the call.
unsafe fn vectored(
    fd: RawFd,
    pieces: *const iovec,
    count: c_int,
    place: Option<Place>,
    real: impl FnOnce() -> isize,
) -> isize {
    match (usize::try_from(count), place) {
        (Ok(count @ 1..=1024), Some(place)) if !pieces.is_null() && watched() => {
            // SAFETY: the caller says how many there are, and how long each is.
            unsafe { written(fd, std::slice::from_raw_parts(pieces, count), place, real) }
        }
        _ => real(),
    }
}

fn at(offset: off64_t) -> Option<Place> {
    u64::try_from(offset).ok().map(Place::At)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn writev(fd: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    let real = || bytes(call!(SYS_writev, fd, pieces, count));
    // SAFETY: it is what the caller wants.
    unsafe { vectored(fd, pieces, count, Some(Place::Cursor), real) }
}

macro_rules! writing_at {
    ($($name:ident;)+) => {
        $(#[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $name(
            fd: c_int,
            pieces: *const iovec,
            count: c_int,
            offset: off64_t,
        ) -> ssize_t {
            let real = || bytes(call!(SYS_pwritev, fd, pieces, count, offset, 0));
            // SAFETY: it is what the caller wants.
            unsafe { vectored(fd, pieces, count, at(offset), real) }
        })+
    };
}
writing_at! {
    pwritev;
    pwritev64;
}

macro_rules! writing_with_flags {
    ($($name:ident;)+) => {
        $(#[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $name(
            fd: c_int,
            pieces: *const iovec,
            count: c_int,
            offset: off64_t,
            flags: c_int,
        ) -> ssize_t {
            let real = || bytes(call!(SYS_pwritev2, fd, pieces, count, offset, 0, flags));
            // A sync that the flags ask for is not counted, and where they append is not known.
            let place = match offset {
                _ if flags & libc::RWF_APPEND != 0 => None,
                -1 => Some(Place::Cursor),
                offset => at(offset),
            };
            // SAFETY: it is what the caller wants.
            unsafe { vectored(fd, pieces, count, place, real) }
        })+
    };
}
writing_with_flags! {
    pwritev2;
    pwritev64v2;
}
