//! Clocks, and waits until a moment of one.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::time::Duration;

use libc::{clockid_t, time_t, timespec, timeval};

use super::next;
use crate::glibc::watch::{changed, touch};

fn later(time: &mut timespec, by: Duration) {
    let seconds = time_t::try_from(by.as_secs()).unwrap_or_default();
    time.tv_sec = time.tv_sec.saturating_add(seconds);
    time.tv_nsec += libc::c_long::from(by.subsec_nanos().cast_signed());
    if time.tv_nsec >= 1_000_000_000 {
        time.tv_nsec -= 1_000_000_000;
        time.tv_sec = time.tv_sec.saturating_add(1);
    }
}

/// A moment of this thread's world, as the system has it.
pub(super) fn real(time: timespec) -> timespec {
    let Some(world) = changed() else {
        return time;
    };
    let ahead = world.was_ahead();
    let seconds = time_t::try_from(ahead.as_secs()).unwrap_or_default();
    let tv_sec = time.tv_sec.saturating_sub(seconds).max(0);
    timespec { tv_sec, ..time }
}

/// # Safety
///
/// That of `clock_gettime`.
pub(super) unsafe fn told(clock: clockid_t, answer: c_int, time: *mut timespec) {
    if answer != 0 || time.is_null() {
        return;
    }
    // The time that a thread or process has used is another one at each look anyway.
    if clock == libc::CLOCK_PROCESS_CPUTIME_ID || clock == libc::CLOCK_THREAD_CPUTIME_ID {
        return;
    }
    if let Some(world) = changed() {
        // SAFETY: it is not null, so the call has filled it.
        later(unsafe { &mut *time }, world.ahead());
    }
}

pub(super) fn name(clock: clockid_t) -> &'static str {
    match clock {
        libc::CLOCK_REALTIME => "clock_gettime(CLOCK_REALTIME)",
        libc::CLOCK_MONOTONIC => "clock_gettime(CLOCK_MONOTONIC)",
        libc::CLOCK_REALTIME_COARSE => "clock_gettime(CLOCK_REALTIME_COARSE)",
        libc::CLOCK_MONOTONIC_COARSE => "clock_gettime(CLOCK_MONOTONIC_COARSE)",
        libc::CLOCK_MONOTONIC_RAW => "clock_gettime(CLOCK_MONOTONIC_RAW)",
        libc::CLOCK_BOOTTIME => "clock_gettime(CLOCK_BOOTTIME)",
        libc::CLOCK_TAI => "clock_gettime(CLOCK_TAI)",
        libc::CLOCK_PROCESS_CPUTIME_ID => "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)",
        libc::CLOCK_THREAD_CPUTIME_ID => "clock_gettime(CLOCK_THREAD_CPUTIME_ID)",
        _ => "clock_gettime()",
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    touch("D101", name(clock));
    let answer = next!(clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int);
    // SAFETY: it is what the caller wants.
    unsafe { told(clock, answer, time) };
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    touch("D101", "gettimeofday()");
    let answer = next!(gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int);
    if let Some(world) = changed().filter(|_| answer == 0 && !time.is_null()) {
        let seconds = time_t::try_from(world.ahead().as_secs()).unwrap_or_default();
        // SAFETY: it is not null, so the call has filled it.
        unsafe { (*time).tv_sec = (*time).tv_sec.saturating_add(seconds) };
    }
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn time(place: *mut time_t) -> time_t {
    touch("D101", "time()");
    let nowhere: *mut time_t = ptr::null_mut();
    let mut answer = next!(time(nowhere: *mut time_t) -> time_t);
    if let Some(world) = changed() {
        let seconds = time_t::try_from(world.ahead().as_secs()).unwrap_or_default();
        answer = answer.saturating_add(seconds);
    }
    if !place.is_null() {
        // SAFETY: it is not null, so the caller wants it there.
        unsafe { *place = answer };
    }
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    rest: *mut timespec,
) -> c_int {
    touch("D105", "clock_nanosleep()");
    let moment;
    let time = if flags & libc::TIMER_ABSTIME != 0 && !time.is_null() {
        // SAFETY: it is not null, so the caller says until when.
        moment = real(unsafe { *time });
        &raw const moment
    } else {
        time
    };
    next!(clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, rest: *mut timespec) -> c_int)
}
