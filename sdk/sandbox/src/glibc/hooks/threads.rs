//! Threads, and the processors that they run on.

use std::ffi::{c_int, c_long, c_void};

use libc::{cpu_set_t, pid_t, pthread_attr_t, pthread_t, size_t};

use super::next;
use crate::glibc::watch::{changed, touch};

type Start = extern "C" fn(*mut c_void) -> *mut c_void;

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    touch("D103", "pthread_create()");
    next!(pthread_create(thread: *mut pthread_t, attributes: *const pthread_attr_t, start: Start, argument: *mut c_void) -> c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int {
    touch("D103", "pthread_join()");
    next!(pthread_join(thread: pthread_t, value: *mut *mut c_void) -> c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sched_yield() -> c_int {
    touch("D103", "sched_yield()");
    next!(sched_yield() -> c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getcpu() -> c_int {
    touch("D103", "sched_getcpu()");
    let answer = next!(sched_getcpu() -> c_int);
    answer + c_int::from(changed().is_some())
}

/// Another world has another number of processors: one, or two where we have one.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getaffinity(thread: pid_t, size: size_t, set: *mut cpu_set_t) -> c_int {
    touch("D103", "sched_getaffinity()");
    let answer =
        next!(sched_getaffinity(thread: pid_t, size: size_t, set: *mut cpu_set_t) -> c_int);
    if answer == 0 && size == size_of::<cpu_set_t>() && !set.is_null() && changed().is_some() {
        // SAFETY: the call has filled it, and it has this size.
        unsafe {
            let several = libc::CPU_COUNT(&*set) > 1;
            libc::CPU_ZERO(&mut *set);
            libc::CPU_SET(0, &mut *set);
            if !several {
                libc::CPU_SET(1, &mut *set);
            }
        }
    }
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sysconf(name: c_int) -> c_long {
    let processors = matches!(
        name,
        libc::_SC_NPROCESSORS_ONLN | libc::_SC_NPROCESSORS_CONF
    );
    if processors {
        touch("D103", "sysconf(_SC_NPROCESSORS_ONLN)");
    }
    let answer = next!(sysconf(name: c_int) -> c_long);
    if processors && answer > 0 && changed().is_some() {
        return if answer > 1 { 1 } else { 2 };
    }
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettid() -> pid_t {
    touch("D112", "gettid()");
    i32::try_from(super::syscall::real(libc::SYS_gettid, [0; 6])).unwrap_or(-1)
}
