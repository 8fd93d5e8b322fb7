//! What is different in another world, and what is not.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, process, thread};

use chrono::{DateTime, Datelike, Timelike as _, Utc};
use perennial::testing::World;

use crate::{cold_in, touched, watched_in};

/// What `code` gives in a world, on a new thread.
fn given<T: Send>(world: World, code: impl FnOnce() -> T + Send) -> T {
    cold_in(world, code).0
}

/// Which dates the worlds show together is tested where they are chosen.
#[test]
fn it_is_another_year_and_another_hour_or_minute() {
    for number in [1, 2, 3, 4, 5, 28, 1_000, u64::MAX] {
        let real = Utc::now();
        let changed = given(World::Changed(number), Utc::now);
        assert!(changed.year() > real.year() + 1, "in world {number}");
        let time = |time: DateTime<Utc>| (time.hour(), time.minute());
        assert_ne!(time(real), time(changed), "in world {number}");
    }
}

#[test]
fn worlds_that_follow_one_another_show_all_weekdays_and_months() {
    let all = |first: u64| {
        let worlds = first..first + 16;
        let times = worlds.map(|number| given(World::Changed(number), Utc::now));
        times.collect::<Vec<_>>()
    };
    for first in [0, 2, 107] {
        let weekdays: BTreeSet<_> = all(first)
            .iter()
            .map(|time| time.weekday().num_days_from_monday())
            .collect();
        let months: BTreeSet<_> = all(first).iter().map(Datelike::month).collect();
        assert_eq!((weekdays.len(), months.len()), (7, 12));
    }
}

#[test]
fn a_watch_in_a_watch_is_in_its_own_world() {
    let (years, _) = cold_in(World::Changed(1), || {
        let outer = Utc::now().year();
        let (inner, _) = watched_in(World::Changed(2), || Utc::now().year());
        [outer, inner, Utc::now().year()]
    });
    let alone = |number| given(World::Changed(number), || Utc::now().year());
    assert_eq!(years, [alone(1), alone(2), alone(1)]);
}

#[test]
fn clocks_advance_at_each_look_also_from_one_watch_to_the_next() {
    thread::spawn(|| {
        let world = World::Changed(7);
        let (first, _) = watched_in(world, Instant::now);
        let ((second, elapsed), _) = watched_in(world, || {
            let second = Instant::now();
            (second, second.elapsed())
        });
        assert!(second - first > Duration::from_secs(60));
        assert!(elapsed > Duration::from_secs(60));
        assert!(second > Instant::now(), "the real clock is what it was");
    })
    .join()
    .unwrap();
}

#[test]
fn from_one_look_to_the_next_it_is_a_minute_in_some_worlds_and_a_year_in_others() {
    let between_looks = |number| {
        given(World::Changed(number), || {
            let first = Instant::now();
            first.elapsed()
        })
    };
    // As many worlds as a run has at its end.
    let all: Vec<_> = (1..=16).map(between_looks).collect();
    assert!(all.iter().all(|between| *between > Duration::from_secs(60)));
    assert!(
        all.iter()
            .any(|between| *between < Duration::from_secs(120))
    );
    assert!(
        all.iter()
            .any(|between| *between > Duration::from_secs(3_600))
    );
    assert!(
        all.iter()
            .any(|between| *between > Duration::from_secs(86_400))
    );
    assert!(
        all.iter()
            .any(|between| *between > Duration::from_secs(364 * 86_400))
    );
}

#[test]
#[allow(unsafe_code)]
fn all_clocks_are_changed() {
    let seconds = |clock| {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: there is room for the answer.
        assert_eq!(unsafe { libc::clock_gettime(clock, &raw mut time) }, 0);
        time.tv_sec
    };
    let by_number = || {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let clock = libc::CLOCK_REALTIME;
        // SAFETY: there is room for the answer.
        unsafe { libc::syscall(libc::SYS_clock_gettime, clock, &raw mut time) };
        time.tv_sec
    };
    let of_day = || {
        let mut time = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        // SAFETY: there is room for the answer, and none is asked about the zone.
        unsafe { libc::gettimeofday(&raw mut time, std::ptr::null_mut()) };
        time.tv_sec
    };
    // SAFETY: it may be told that there is no room.
    let time = || unsafe { libc::time(std::ptr::null_mut()) };
    let looks: [&(dyn Fn() -> i64 + Sync); 6] = [
        &|| seconds(libc::CLOCK_REALTIME_COARSE),
        &|| seconds(libc::CLOCK_MONOTONIC_COARSE),
        &|| seconds(libc::CLOCK_BOOTTIME),
        &by_number,
        &of_day,
        &time,
    ];
    let ahead_there = (given(World::Changed(1), Utc::now) - Utc::now()).num_seconds();
    for look in looks {
        let ahead = given(World::Changed(1), look) - look();
        assert!((ahead - ahead_there).abs() < 600, "{ahead}");
        assert_eq!(touched(look)[0].0, "D101");
    }
}

#[test]
fn random_bytes_are_others_and_the_same_for_the_same_world() {
    let draw = || (rand::random::<u64>(), uuid::Uuid::new_v4());
    let one = given(World::Changed(1), draw);
    assert_eq!(given(World::Changed(1), draw), one);
    assert_ne!(given(World::Changed(2), draw), one);
    assert_ne!(given(World::Real, draw), one);
}

#[test]
fn hash_keys_are_others_and_making_a_map_is_not_told() {
    let hash = || RandomState::new().hash_one("order");
    let (one, touched) = cold_in(World::Changed(1), hash);
    assert_eq!(touched, []);
    assert_eq!(cold_in(World::Changed(1), hash), (one, vec![]));
    assert_ne!(given(World::Changed(2), hash), one);
    assert_ne!(given(World::Real, hash), one);
}

/// What was seen is looked up on the same thread, which must not draw the keys in the workflow's place.
#[test]
fn watching_draws_no_hash_keys() {
    let hash = || RandomState::new().hash_one("order");
    let one = given(World::Changed(1), hash);
    let after = thread::spawn(move || {
        let (_, touched) = watched_in(World::Real, || (Instant::now(), env::var("HOME")));
        assert_eq!(touched.len(), 2);
        watched_in(World::Changed(1), hash).0
    });
    assert_eq!(after.join().unwrap(), one);
}

/// Generators and keys that a thread holds already are asked of nobody: replays begin on new threads.
#[test]
fn what_a_thread_has_drawn_before_is_not_seen() {
    thread::spawn(|| {
        let draw = || (rand::random::<u64>(), fastrand::u64(..), RandomState::new());
        draw();
        let (_, touched) = watched_in(World::Changed(1), draw);
        assert_eq!(touched, []);
    })
    .join()
    .unwrap();
}

#[test]
fn processors_process_and_host_are_others() {
    let processors = || thread::available_parallelism().unwrap();
    assert_ne!(given(World::Changed(1), processors), processors());
    assert_ne!(given(World::Changed(1), process::id), process::id());
    assert_ne!(
        given(World::Changed(1), process::id),
        given(World::Changed(2), process::id)
    );
}

/// What crates ask for past the standard library.
#[test]
#[allow(unsafe_code)]
fn what_c_is_asked_for_is_another_too() {
    type Bytes = [u8; 16];
    let entropy = || {
        let mut bytes = Bytes::default();
        // SAFETY: there is as much room as is said.
        unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), bytes.len()) };
        bytes
    };
    let by_number = || {
        let mut bytes = Bytes::default();
        let (buffer, room) = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: there is as much room as is said.
        let filled = unsafe { libc::syscall(libc::SYS_getrandom, buffer, room, 0) };
        assert_eq!(filled, 16);
        bytes
    };
    let host = || {
        let mut bytes = Bytes::default();
        // SAFETY: there is as much room as is said.
        unsafe { libc::gethostname(bytes.as_mut_ptr().cast(), bytes.len()) };
        bytes
    };
    let processors = || {
        let mut bytes = Bytes::default();
        // SAFETY: takes no pointer.
        let answer = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
        bytes[..8].copy_from_slice(&answer.to_le_bytes());
        bytes
    };
    let questions: [(&(dyn Fn() -> Bytes + Sync), &str); 4] = [
        (&entropy, "D102"),
        (&by_number, "D102"),
        (&host, "D107"),
        (&processors, "D103"),
    ];
    for (question, rule) in questions {
        let (answer, touched) = cold_in(World::Changed(1), question);
        assert_eq!(touched[0].rule, rule);
        assert_eq!(given(World::Changed(1), question), answer);
        assert_ne!(given(World::Real, question), answer);
    }
    assert!(given(World::Changed(7), host).starts_with(b"changed-7\0"));
}

#[test]
fn the_environment_is_as_it_is() {
    let look = || (env::var_os("PATH"), env::current_dir().unwrap());
    assert_eq!(given(World::Changed(1), look), look());
}

/// The end of a wait is a moment of the changed clock, which the system does not know.
#[test]
fn waits_end() {
    let (_sender, receiver) = mpsc::channel::<()>();
    let wait = move || {
        let brief = Duration::from_millis(1);
        thread::park_timeout(brief);
        thread::sleep(brief);
        receiver.recv_timeout(brief).unwrap_err();
    };
    let (_, touched) = cold_in(World::Changed(3), wait);
    let rules: Vec<_> = touched.iter().map(|touched| touched.rule).collect();
    assert!(
        rules.contains(&"D103") && rules.contains(&"D105"),
        "{touched:?}"
    );
}
