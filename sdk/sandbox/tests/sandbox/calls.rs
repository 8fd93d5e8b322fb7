//! Which call of which library lands where.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs, thread};

use crate::touched;

#[test]
fn clocks() {
    let realtime = [("D101", "clock_gettime(CLOCK_REALTIME)")];
    let monotonic = [("D101", "clock_gettime(CLOCK_MONOTONIC)")];
    assert_eq!(touched(SystemTime::now), realtime);
    assert_eq!(touched(|| SystemTime::UNIX_EPOCH.elapsed()), realtime);
    assert_eq!(touched(chrono::Utc::now), realtime);
    assert_eq!(touched(Instant::now), monotonic);
    assert_eq!(touched(tokio::time::Instant::now), monotonic);
    let start = Instant::now();
    assert_eq!(touched(move || start.elapsed()), monotonic);
}

#[test]
fn random_numbers() {
    let drawn = [("D102", "getrandom()")];
    assert_eq!(touched(rand::random::<u64>), drawn);
    assert_eq!(touched(uuid::Uuid::new_v4), drawn);
    assert_eq!(touched(|| getrandom::fill(&mut [0; 8])), drawn);
    assert_eq!(
        touched(|| fastrand::u64(..)),
        [("D102", "clock_gettime(CLOCK_MONOTONIC)")]
    );
    let rules = touched(uuid::Uuid::now_v7);
    assert!(rules.iter().all(|(rule, _)| *rule == "D102"), "{rules:?}");
}

#[test]
fn threads_and_channels_that_block() {
    assert_eq!(
        touched(|| drop(thread::spawn(|| {}))),
        [("D103", "pthread_create()")]
    );
    assert_eq!(
        touched(thread::available_parallelism),
        [("D103", "sched_getaffinity()")]
    );
    let (_sender, receiver) = mpsc::channel::<()>();
    let wait = move || receiver.recv_timeout(Duration::from_millis(1));
    assert!(touched(wait).contains(&("D103", "syscall(SYS_futex)")));
}

/// What runtimes wait in.
#[test]
#[allow(unsafe_code)]
fn runtimes() {
    let wait = || {
        // SAFETY: takes no pointer; the descriptor is nobody else's.
        unsafe { libc::close(libc::epoll_create1(0)) }
    };
    assert_eq!(touched(wait), [("D104", "epoll_create1()")]);
}

#[test]
fn sleeping() {
    let sleep = || thread::sleep(Duration::from_nanos(1));
    assert_eq!(touched(sleep), [("D105", "clock_nanosleep()")]);
}

#[test]
fn files_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    assert_eq!(
        touched(|| fs::write(path("a"), "a").unwrap()),
        [("D106", "open64()")]
    );
    assert_eq!(
        touched(|| fs::read(path("a")).unwrap())[0],
        ("D106", "open64()")
    );
    assert_eq!(touched(|| path("a").exists()), [("D106", "statx()")]);
    assert_eq!(
        touched(|| path("a").symlink_metadata()),
        [("D106", "statx()")]
    );
    assert_eq!(
        touched(|| fs::read_dir(folder.path()).unwrap()),
        [("D106", "opendir()")]
    );
    assert_eq!(
        touched(|| fs::create_dir(path("b")).unwrap()),
        [("D106", "mkdir()")]
    );
    assert_eq!(
        touched(|| fs::rename(path("a"), path("c")).unwrap()),
        [("D106", "rename()")]
    );
    assert_eq!(
        touched(|| fs::remove_file(path("c")).unwrap()),
        [("D106", "unlink()")]
    );
    assert_eq!(
        touched(|| fs::remove_dir(path("b")).unwrap()),
        [("D106", "rmdir()")]
    );
    assert_eq!(
        touched(|| fs::canonicalize(folder.path()).unwrap()),
        [("D106", "realpath()")]
    );
    assert_eq!(
        touched(|| fs::read_link("/proc/self/exe").unwrap()),
        [("D106", "readlink()")]
    );
}

#[test]
fn the_environment() {
    assert_eq!(touched(|| env::var("HOME")), [("D107", "getenv()")]);
    assert_eq!(touched(env::temp_dir), [("D107", "getenv()")]);
    assert_eq!(
        touched(|| env::current_dir().unwrap()),
        [("D107", "getcwd()")]
    );
    assert_eq!(
        touched(|| env::current_exe().unwrap()),
        [("D107", "readlink()")]
    );
}

#[test]
fn sockets() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    assert_eq!(
        touched(|| TcpStream::connect(address).unwrap()),
        [("D108", "socket()")]
    );
    assert_eq!(
        touched(|| TcpListener::bind("127.0.0.1:0").unwrap()),
        [("D108", "socket()")]
    );
    assert_eq!(
        touched(|| UdpSocket::bind("127.0.0.1:0").unwrap()),
        [("D108", "socket()")]
    );
    assert_eq!(
        touched(|| listener.accept().unwrap()),
        [("D108", "accept4()")]
    );
    use std::net::ToSocketAddrs as _;
    let look_up = || ("localhost", 80).to_socket_addrs().unwrap().count();
    assert_eq!(touched(look_up), [("D108", "getaddrinfo()")]);
}

#[test]
fn processes() {
    let run = || Command::new("true").status().unwrap();
    assert_eq!(touched(run), [("D109", "posix_spawnp()")]);
    assert_eq!(touched(std::process::id), [("D109", "getpid()")]);
}

#[test]
fn output() {
    let print = |text: &'static [u8]| {
        move || {
            let mut stdout = std::io::stdout();
            stdout.write_all(text).unwrap();
            stdout.flush().unwrap();
        }
    };
    assert_eq!(touched(print(b"seen\n")), [("D110", "write(stdout)")]);
    let report = || std::io::stderr().write_all(b"seen\n").unwrap();
    assert_eq!(touched(report), [("D110", "write(stderr)")]);
}
