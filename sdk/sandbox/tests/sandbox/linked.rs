//! Which functions the linker takes from the sandbox.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;

/// The name of the program or library that a function is in.
fn home(function: *const c_void) -> String {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: `info` is as large as the call expects, and is only read when the call has filled it.
    unsafe {
        assert_ne!(libc::dladdr(function, info.as_mut_ptr()), 0);
        let name = CStr::from_ptr(info.assume_init().dli_fname);
        name.to_string_lossy().into_owned()
    }
}

#[test]
fn each_stands_in_this_program() {
    macro_rules! functions {
        ($($name:ident),+ $(,)?) => {
            [$((stringify!($name), libc::$name as *const c_void)),+]
        };
    }
    #[rustfmt::skip]
    let functions = functions![
        clock_gettime, gettimeofday, time, clock_nanosleep, getrandom, getentropy, rand,
        syscall, pthread_create, pthread_join, sched_yield, sched_getcpu, sched_getaffinity,
        sysconf, gettid, epoll_create1, epoll_wait, nanosleep, usleep, poll, ppoll, select,
        timerfd_create, open, open64, openat, openat64, creat, creat64, fopen, fopen64, opendir,
        access, faccessat, mkdir, mkdirat, rmdir, unlink, unlinkat, rename, renameat, renameat2,
        link, linkat, symlink, symlinkat, readlink, readlinkat, realpath, truncate, truncate64,
        chmod, fchmodat, statx, stat, stat64, lstat, lstat64, fstatat, fstatat64, getenv,
        setenv, unsetenv, putenv, getcwd, chdir, fchdir, uname, isatty, getpwuid_r, localtime_r,
        localtime, gethostname, socket, socketpair, connect, bind, listen, accept, accept4,
        send, sendto, sendmsg, recv, recvfrom, recvmsg, getaddrinfo, fork, execve, execvp,
        posix_spawn, posix_spawnp, waitpid, waitid, kill, raise, signal, sigaction, getpid,
        getppid, write, writev, read,
    ];
    let own = home(each_stands_in_this_program as *const c_void);
    for (name, function) in functions {
        assert_eq!(home(function), own, "{name}");
    }
    assert_ne!(home(libc::strlen as *const c_void), own);
}
