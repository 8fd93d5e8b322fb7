//! Sees in tests what a workflow asks of the operating system, and answers for it.
//!
//! A workflow may only depend on its history. What the attributes and clippy cannot see, since it happens in
//! a function far away, this crate sees where it comes out: at the C library. To use it, add it to the
//! dev-dependencies of a crate that tests with [`perennial::testing`],
//!
//! ```toml
//! [target.'cfg(all(target_os = "linux", target_env = "gnu"))'.dev-dependencies]
//! perennial-sandbox = "0.1"
//! ```
//!
//! and name it in the test. Nothing else is needed: linked, it puts itself in before `main`.
//!
//! ```
//! use perennial::prelude::*;
//! use perennial::testing::TestRun;
//! use perennial_sandbox as _;
//!
//! /// No attribute looks in here.
//! fn weekday() -> u64 {
//!     let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
//!     since.as_secs() / 86_400 % 7
//! }
//!
//! #[activity(pure)]
//! async fn ship(acx: &ActivityCx, lane: u64) -> Result<u64, Failure> {
//!     Ok(lane)
//! }
//!
//! #[workflow]
//! async fn order(cx: &Cx) -> Result<u64, Error> {
//!     Ok(ship(cx, weekday()).await?)
//! }
//!
//! #[perennial::test]
//! #[should_panic = "does not decide the same when it is replayed"]
//! fn it_ships(t: &mut TestRun) {
//!     t.mock(ship, Ok);
//!     t.start(order, ());
//! }
//! # fn main() {
//! #     let failure = perennial::testing::failure_of(|t| {
//! #         t.mock(ship, Ok);
//! #         t.start(order, ());
//! #     });
//! #     assert!(failure.unwrap().to_string().contains("[D101] clock_gettime(CLOCK_REALTIME)"));
//! # }
//! ```
//!
//! * Each test then replays its runs in a changed world. What reaches a command fails the test, with the places
//!   where the workflow's code asked. A clock that only a log line shows passes.
//! * Under `#[perennial::test(strict)]` whatever is asked fails the test, whether it matters or not, unless it is
//!   inside of an `#[allow_nondeterminism(..)]`.
//!
//! # What is seen
//!
//! Calls of functions of the C library on the thread that is watched, whoever makes them: the standard library,
//! other crates, C libraries. The rule is that of the function that the user's code calls where that says more:
//! who starts a thread is not told that the standard library looked at the environment for it.
//!
//! | rule | asked through | by |
//! |---|---|---|
//! | D101 clock | `clock_gettime` (each clock), `gettimeofday`, `time` | `SystemTime::now`, `Instant::now`, `elapsed`, those of chrono and tokio |
//! | D102 random | `getrandom`, `getentropy`, `rand`, `random` | rand, uuid, getrandom, fastrand (its seed is the clock) |
//! | D103 threads | `pthread_create`, `pthread_join`, `sched_*`, waits for a lock or channel with a time-out | `thread::spawn`, `available_parallelism`, `recv_timeout` |
//! | D104 tasks | `epoll_create1`, `epoll_wait` | tokio's runtime with I/O |
//! | D105 timers | `nanosleep`, `clock_nanosleep`, `usleep`, `poll`, `select`, `timerfd_create` | `thread::sleep` |
//! | D106 files | `open`, `stat`, `mkdir`, `rename` and the like by path; reading standard input | `std::fs`, `Path::exists` |
//! | D107 env | `getenv`, `setenv`, `getcwd`, `chdir`, `gethostname`, `uname`, `isatty`, `localtime` | `env::var`, `current_dir`, `temp_dir`, `current_exe` |
//! | D108 network | `socket`, `connect`, `bind`, `accept`, `send`, `recv`, `getaddrinfo` | `std::net` |
//! | D109 processes | `fork`, `execve`, `posix_spawn`, `waitpid`, `kill`, `signal`, `getpid` | `Command`, `process::id` |
//! | D110 output | `write` to standard output and error | `stdout().write_all`, `println!` where the test harness does not catch it (`--nocapture`) |
//! | D112 addresses | `gettid` | |
//!
//! The same calls are seen when they are made with `libc::syscall`, the main ones of each rule.
//!
//! # What another world answers
//!
//! The kit's replays take place in [`World::Changed`](perennial::testing::World). There
//!
//! * it is more than a year later. The 16 worlds at the end of a test show every weekday and month, the first and
//!   the last day of a month, morning and evening, years soon and far, whatever the real date is. At each look
//!   more than a minute has passed, in some worlds an hour, days, a year. Waits until a moment last as long as
//!   they would otherwise;
//! * random bytes and the keys of hash maps are others, the same for the number of the world;
//! * the number of processors, the process id and the name of the machine are others.
//!
//! The environment, files and the network are as they are: they are told, not changed.
//!
//! # What is not told
//!
//! * That a `HashMap` was made: standard library, ahash, foldhash. Its keys differ, so that it shows whether its
//!   order matters.
//! * What an allocator, a subscriber of tracing or a logger of log asks, what a panic reads and writes, and who
//!   prints a backtrace. But `info!(now = ?Instant::now())` asks itself.
//! * The same rule at the same place a second time in one poll; more than 100 calls from different stacks.
//!
//! # What is not seen
//!
//! * What a thread has drawn before: `rand::rng`, fastrand's generator and the keys of hash maps ask once per
//!   thread. Hence the kit replays on fresh threads; the first execution may have been warm.
//! * Addresses, `thread::current().id()`, and `static`s: nobody is asked for them. `env::args` and `env::vars`
//!   read what was there before `main`.
//! * Reading and writing files that are open already; a lock or channel that waits without an end.
//! * System calls that are made without the C library, as rustix does (and with it tempfile).
//! * `vfork`, which nothing can stand in front of. `exit` ends the test before it is told.
//! * Other threads that the workflow starts: that it starts one is told.
//!
//! # Where it works
//!
//! On Linux with glibc, linked dynamically; elsewhere it does not compile and says so. It was tried on x86-64;
//! on aarch64 the conventions it relies on are the same, and nobody has tried. Debug information makes the places
//! complete: `debug = "line-tables-only"` gives files and lines, without names of `async` functions; `debug =
//! true`, cargo's default for tests, gives both.
//!
//! A thread that is not watched pays a look at a thread-local for each of these calls. A watched one pays some
//! ten microseconds for a call that is told and half a millisecond for its place; for the first place of a
//! program the debug information is read, which takes some tenths of a second.

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
)))]
compile_error!(
    "`perennial-sandbox` works on Linux with glibc, linked dynamically, and nowhere else\n\n\
     help: depend on it where it works. In Cargo.toml:\n\n    \
     [target.'cfg(all(target_os = \"linux\", target_env = \"gnu\"))'.dev-dependencies]\n    \
     perennial-sandbox = \"0.1\"\n\n\
     and in the test:\n\n    \
     #[cfg(all(target_os = \"linux\", target_env = \"gnu\"))]\n    \
     use perennial_sandbox as _;\n\n\
     (with `-C target-feature=+crt-static`: add `not(target_feature = \"crt-static\")` to both)"
);

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    not(target_feature = "crt-static")
))]
mod glibc;
