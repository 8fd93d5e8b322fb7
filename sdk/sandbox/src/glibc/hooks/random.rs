//! Random bytes.

use std::ffi::{c_int, c_uint, c_void};

use libc::{size_t, ssize_t};

use super::{next, syscall};
use crate::glibc::stack;
use crate::glibc::watch::{changed, touch};

/// Notes that random bytes are asked for; fills them in where another world has them.
///
/// With `GRND_INSECURE` the standard library asks for the keys of its maps. To make a map is no violation:
/// whether its order matters shows when it has other keys.
///
/// # Safety
///
/// There is as much room as is said.
pub(super) unsafe fn filled(
    call: &'static str,
    buffer: *mut c_void,
    room: size_t,
    flags: c_uint,
) -> bool {
    // Who asks for no bytes looks whether the call is there.
    if room == 0 || buffer.is_null() {
        return false;
    }
    if flags & libc::GRND_INSECURE == 0 {
        touch("D102", call);
    }
    let Some(world) = changed() else {
        return false;
    };
    // SAFETY: asked of the caller.
    let bytes = unsafe {
        buffer.cast::<u8>().write_bytes(0, room);
        std::slice::from_raw_parts_mut(buffer.cast::<u8>(), room)
    };
    world.fill(bytes);
    true
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut c_void, room: size_t, flags: c_uint) -> ssize_t {
    // SAFETY: the caller says how much room there is.
    if unsafe { filled("getrandom()", buffer, room, flags) } {
        return ssize_t::try_from(room).unwrap_or(ssize_t::MAX);
    }
    // Past the C library, which has not always had it.
    let answer = syscall::real(
        libc::SYS_getrandom,
        [buffer.addr(), room, flags as usize, 0, 0, 0],
    );
    ssize_t::try_from(answer).unwrap_or(-1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(buffer: *mut c_void, room: size_t) -> c_int {
    // It gives no more at once.
    if room > 256 {
        stack::set_errno(libc::EIO);
        return -1;
    }
    // SAFETY: the caller says how much room there is.
    if unsafe { filled("getentropy()", buffer, room, 0) } {
        return 0;
    }
    next!(getentropy(buffer: *mut c_void, room: size_t) -> c_int)
}
