//! This process and others, and the machine's name.

use std::ffi::{c_char, c_int, c_void};

use libc::{pid_t, size_t};

use super::next;
use crate::glibc::watch::{self, changed, touch};

#[unsafe(no_mangle)]
unsafe extern "C" fn getpid() -> pid_t {
    touch("D109", "getpid()");
    match changed() {
        Some(world) => world.process(),
        None => next!(getpid() -> pid_t),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fork() -> pid_t {
    touch("D109", "fork()");
    let answer = next!(fork() -> pid_t);
    if answer == 0 {
        watch::end();
    }
    answer
}

macro_rules! spawning {
    ($($name:ident;)+) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            process: *mut pid_t,
            path: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: *const *mut c_char,
            environment: *const *mut c_char,
        ) -> c_int {
            touch("D109", concat!(stringify!($name), "()"));
            next!($name(
                process: *mut pid_t,
                path: *const c_char,
                actions: *const c_void,
                attributes: *const c_void,
                arguments: *const *mut c_char,
                environment: *const *mut c_char
            ) -> c_int)
        })+
    };
}
spawning! {
    posix_spawn;
    posix_spawnp;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gethostname(buffer: *mut c_char, room: size_t) -> c_int {
    touch("D107", "gethostname()");
    let Some(world) = changed().filter(|_| !buffer.is_null()) else {
        return next!(gethostname(buffer: *mut c_char, room: size_t) -> c_int);
    };
    let name = world.host();
    let name = name.bytes().chain([0]);
    for (index, byte) in name.take(room).enumerate() {
        // SAFETY: the caller says how much room there is.
        unsafe { *buffer.add(index) = byte.cast_signed() as c_char };
    }
    0
}
