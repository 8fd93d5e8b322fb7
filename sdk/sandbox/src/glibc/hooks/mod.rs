//! Functions in the place of those of the C library. The linker takes them for every call in the program, also
//! those of the standard library and of other shared libraries.
//!
//! Each notes its call and passes it on to the function that would have been called without us. While the
//! thread is not watched that is a look at a thread-local, no allocation, no lock: it does not matter how
//! early in the life of a process or a thread they are called. They do not panic; if one did, the process
//! would end there.
#![allow(unsafe_code)]

mod clock;
mod plain;
mod process;
mod random;
mod stat;
mod syscall;
mod threads;
mod write;

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::stack;

/// The function that our own of the same name hides. The C library is asked for it once.
struct Next {
    found: AtomicPtr<c_void>,
}

impl Next {
    const fn new() -> Self {
        Self {
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Null where the C library does not have it.
    #[inline]
    fn find(&self, name: &CStr) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            self.ask(name)
        } else {
            found
        }
    }

    #[cold]
    fn ask(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the name ends in a zero byte.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// What a function answers that the C library does not have.
trait Missing {
    fn missing() -> Self;
}

impl Missing for c_int {
    fn missing() -> Self {
        stack::set_errno(libc::ENOSYS);
        -1
    }
}

impl Missing for isize {
    fn missing() -> Self {
        stack::set_errno(libc::ENOSYS);
        -1
    }
}

impl Missing for i64 {
    fn missing() -> Self {
        stack::set_errno(libc::ENOSYS);
        -1
    }
}

impl<T> Missing for *mut T {
    fn missing() -> Self {
        stack::set_errno(libc::ENOSYS);
        ptr::null_mut()
    }
}

impl Missing for () {
    fn missing() -> Self {}
}

/// Calls the function that our own hides, with the arguments of the caller, who answers for them.
macro_rules! next {
    ($name:ident($($argument:ident: $type:ty),*) -> $answer:ty) => {{
        static NEXT: $crate::glibc::hooks::Next = $crate::glibc::hooks::Next::new();
        const NAME: &std::ffi::CStr = {
            let name = concat!(stringify!($name), "\0").as_bytes();
            match std::ffi::CStr::from_bytes_with_nul(name) {
                Ok(name) => name,
                Err(_) => panic!("the name of a function has no zero byte"),
            }
        };
        let next = NEXT.find(NAME);
        if next.is_null() {
            <$answer as $crate::glibc::hooks::Missing>::missing()
        } else {
            // SAFETY: the function of this name takes and gives what ours does. The caller makes this very
            // call; its pointers are passed on as they came.
            unsafe {
                let next: unsafe extern "C" fn($($type),*) -> $answer = std::mem::transmute(next);
                next($($argument),*)
            }
        }
    }};
}
use next;
