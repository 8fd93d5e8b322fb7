//! System calls by number.
//!
//! `syscall` takes variable arguments in C. They are passed like others where Linux runs, and it always passes
//! six on, whatever they are; so do we. (Tried on x86-64.)

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::ptr;

use libc::{clockid_t, timespec};

use super::{clock, next, random};
use crate::glibc::watch::touch;

/// Makes a system call, unseen.
pub(super) fn real(number: c_long, arguments: [usize; 6]) -> c_long {
    let [a, b, c, d, e, f] = arguments;
    next!(syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long)
}

/// The half of a register in which an `int` is.
#[allow(clippy::cast_possible_truncation)]
fn int(argument: usize) -> c_int {
    argument as c_int
}

/// Calls that are only noted.
fn name(number: c_long) -> Option<(&'static str, &'static str)> {
    let named = match number {
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => ("D106", "syscall(SYS_open)"),
        libc::SYS_openat => ("D106", "syscall(SYS_openat)"),
        libc::SYS_openat2 => ("D106", "syscall(SYS_openat2)"),
        libc::SYS_statx => ("D106", "syscall(SYS_statx)"),
        libc::SYS_socket => ("D108", "syscall(SYS_socket)"),
        libc::SYS_connect => ("D108", "syscall(SYS_connect)"),
        libc::SYS_getpid => ("D109", "syscall(SYS_getpid)"),
        libc::SYS_kill => ("D109", "syscall(SYS_kill)"),
        libc::SYS_gettid => ("D112", "syscall(SYS_gettid)"),
        _ => return None,
    };
    Some(named)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    let arguments = [a, b, c, d, e, f];
    match number {
        libc::SYS_getrandom => {
            let buffer: *mut c_void = ptr::with_exposed_provenance_mut(a);
            let flags = c_uint::try_from(c).unwrap_or_default();
            // SAFETY: the caller says how much room there is.
            if unsafe { random::filled("syscall(SYS_getrandom)", buffer, b, flags) } {
                return c_long::try_from(b).unwrap_or(c_long::MAX);
            }
            real(number, arguments)
        }
        libc::SYS_clock_gettime => {
            touch("D101", "syscall(SYS_clock_gettime)");
            let answer = real(number, arguments);
            let clock: clockid_t = int(a);
            let time: *mut timespec = ptr::with_exposed_provenance_mut(b);
            // SAFETY: it is what the caller wants.
            unsafe { clock::told(clock, c_int::try_from(answer).unwrap_or(-1), time) };
            answer
        }
        libc::SYS_futex => wait(arguments),
        number => {
            if let Some((rule, call)) = name(number) {
                touch(rule, call);
            }
            real(number, arguments)
        }
    }
}

/// Locks and channels wait in it. A wait that has an end is nobody's but the workflow's; one without may be that
/// of a lock that is taken for a moment.
fn wait(mut arguments: [usize; 6]) -> c_long {
    let [_, operation, _, until, ..] = arguments;
    let moment;
    let operation = int(operation) & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    let waits = matches!(operation, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET);
    if waits && until != 0 {
        touch("D103", "syscall(SYS_futex)");
        if operation == libc::FUTEX_WAIT_BITSET {
            let until: *const timespec = ptr::with_exposed_provenance(until);
            // SAFETY: it is not null, so the caller says until when.
            moment = clock::real(unsafe { *until });
            arguments[3] = (&raw const moment).expose_provenance();
        }
    }
    real(libc::SYS_futex, arguments)
}
