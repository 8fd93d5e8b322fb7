//! Calls that are noted, and answered as ever.
//!
//! A mode is the last of variable arguments, which are passed like others on the architectures that Linux runs
//! on. Where it was not given it is not looked at either.

use std::ffi::{c_char, c_int, c_long, c_uint, c_void};

use libc::{
    DIR, FILE, addrinfo, fd_set, mode_t, msghdr, nfds_t, pid_t, pollfd, sigaction as Action,
    size_t, sockaddr, socklen_t, ssize_t, time_t, timespec, timeval, tm, utsname,
};

use super::next;
use crate::glibc::watch::touch;

macro_rules! noted {
    ($($rule:literal { $($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)+ })+) => {
        $($(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $answer {
            touch($rule, concat!(stringify!($name), "()"));
            next!($name($($argument: $type),*) -> $answer)
        })+)+
    };
}

noted! {
    "D102" {
        rand() -> c_int;
        random() -> c_long;
    }
    "D104" {
        epoll_create1(flags: c_int) -> c_int;
        epoll_wait(epoll: c_int, events: *mut libc::epoll_event, room: c_int, wait: c_int) -> c_int;
    }
    "D105" {
        nanosleep(time: *const timespec, rest: *mut timespec) -> c_int;
        usleep(time: c_uint) -> c_int;
        poll(of: *mut pollfd, count: nfds_t, wait: c_int) -> c_int;
        ppoll(of: *mut pollfd, count: nfds_t, wait: *const timespec, mask: *const libc::sigset_t) -> c_int;
        select(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, wait: *mut timeval) -> c_int;
        timerfd_create(clock: c_int, flags: c_int) -> c_int;
    }
    "D106" {
        open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
        open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
        openat(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
        openat64(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
        creat(path: *const c_char, mode: mode_t) -> c_int;
        creat64(path: *const c_char, mode: mode_t) -> c_int;
        fopen(path: *const c_char, mode: *const c_char) -> *mut FILE;
        fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE;
        opendir(path: *const c_char) -> *mut DIR;
        access(path: *const c_char, mode: c_int) -> c_int;
        faccessat(at: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int;
        mkdir(path: *const c_char, mode: mode_t) -> c_int;
        mkdirat(at: c_int, path: *const c_char, mode: mode_t) -> c_int;
        rmdir(path: *const c_char) -> c_int;
        unlink(path: *const c_char) -> c_int;
        unlinkat(at: c_int, path: *const c_char, flags: c_int) -> c_int;
        rename(from: *const c_char, to: *const c_char) -> c_int;
        renameat(from_at: c_int, from: *const c_char, to_at: c_int, to: *const c_char) -> c_int;
        renameat2(from_at: c_int, from: *const c_char, to_at: c_int, to: *const c_char, flags: c_uint) -> c_int;
        link(from: *const c_char, to: *const c_char) -> c_int;
        linkat(from_at: c_int, from: *const c_char, to_at: c_int, to: *const c_char, flags: c_int) -> c_int;
        symlink(to: *const c_char, path: *const c_char) -> c_int;
        symlinkat(to: *const c_char, at: c_int, path: *const c_char) -> c_int;
        readlink(path: *const c_char, buffer: *mut c_char, room: size_t) -> ssize_t;
        readlinkat(at: c_int, path: *const c_char, buffer: *mut c_char, room: size_t) -> ssize_t;
        realpath(path: *const c_char, buffer: *mut c_char) -> *mut c_char;
        truncate(path: *const c_char, size: libc::off_t) -> c_int;
        truncate64(path: *const c_char, size: libc::off64_t) -> c_int;
        chmod(path: *const c_char, mode: mode_t) -> c_int;
        fchmodat(at: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int;
    }
    "D107" {
        getenv(name: *const c_char) -> *mut c_char;
        secure_getenv(name: *const c_char) -> *mut c_char;
        setenv(name: *const c_char, value: *const c_char, replace: c_int) -> c_int;
        unsetenv(name: *const c_char) -> c_int;
        putenv(pair: *mut c_char) -> c_int;
        getcwd(buffer: *mut c_char, room: size_t) -> *mut c_char;
        chdir(path: *const c_char) -> c_int;
        fchdir(folder: c_int) -> c_int;
        uname(names: *mut utsname) -> c_int;
        isatty(fd: c_int) -> c_int;
        getpwuid_r(user: libc::uid_t, entry: *mut libc::passwd, buffer: *mut c_char, room: size_t, found: *mut *mut libc::passwd) -> c_int;
        localtime_r(time: *const time_t, parts: *mut tm) -> *mut tm;
        localtime(time: *const time_t) -> *mut tm;
        tzset() -> ();
    }
    "D108" {
        socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
        socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int;
        connect(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
        bind(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
        listen(socket: c_int, queue: c_int) -> c_int;
        accept(socket: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int;
        accept4(socket: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int;
        send(socket: c_int, data: *const c_void, length: size_t, flags: c_int) -> ssize_t;
        sendto(socket: c_int, data: *const c_void, length: size_t, flags: c_int, to: *const sockaddr, to_length: socklen_t) -> ssize_t;
        sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
        recv(socket: c_int, buffer: *mut c_void, room: size_t, flags: c_int) -> ssize_t;
        recvfrom(socket: c_int, buffer: *mut c_void, room: size_t, flags: c_int, from: *mut sockaddr, from_room: *mut socklen_t) -> ssize_t;
        recvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
        getaddrinfo(node: *const c_char, service: *const c_char, hints: *const addrinfo, found: *mut *mut addrinfo) -> c_int;
    }
    "D109" {
        execve(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char) -> c_int;
        execvp(path: *const c_char, arguments: *const *const c_char) -> c_int;
        waitpid(process: pid_t, status: *mut c_int, options: c_int) -> pid_t;
        waitid(kind: libc::idtype_t, id: libc::id_t, info: *mut libc::siginfo_t, options: c_int) -> c_int;
        kill(process: pid_t, signal: c_int) -> c_int;
        raise(signal: c_int) -> c_int;
        signal(signal: c_int, handler: libc::sighandler_t) -> isize;
        sigaction(signal: c_int, action: *const Action, old: *mut Action) -> c_int;
        getppid() -> pid_t;
    }
}
