//! When something is seen.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::{Instant, SystemTime};
use std::{fs, thread};

use perennial::__private::Allowed;
use perennial::testing::{World, sandbox};

use crate::{cold_in, watched_in};

#[test]
fn nothing_outside_of_a_watch() {
    let _ = Instant::now();
    let (_, touched) = watched_in(World::Real, || 1 + 1);
    let _ = fs::metadata("/");
    assert_eq!(touched, []);
    assert_eq!(watched_in(World::Real, || ()).1, []);
}

#[test]
fn nothing_on_other_threads() {
    thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel::<()>();
        let (answer, answered) = std::sync::mpsc::channel();
        scope.spawn(move || {
            receive.recv().unwrap();
            answer.send(SystemTime::now()).unwrap();
        });
        let (time, touched) = watched_in(World::Changed(1), || {
            send.send(()).unwrap();
            answered.recv().unwrap()
        });
        assert_eq!(touched, []);
        assert!(time <= SystemTime::now());
    });
}

#[test]
fn nothing_inside_of_an_opt_out_which_is_in_the_changed_world_all_the_same() {
    let ((), touched) = watched_in(World::Real, || {
        let allowed = Allowed::enter();
        let _ = Instant::now();
        drop(allowed);
    });
    assert_eq!(touched, []);
    let (changed, touched) = watched_in(World::Changed(1), || {
        let _allowed = Allowed::enter();
        SystemTime::now()
    });
    assert_eq!(touched, []);
    assert!(changed > SystemTime::now());
}

#[test]
fn a_watch_inside_of_another_is_its_own() {
    let ((inner, between), outer) = watched_in(World::Changed(1), || {
        let _ = fs::metadata("/");
        let (_, inner) = watched_in(World::Real, SystemTime::now);
        (inner, SystemTime::now())
    });
    let rules = |touched: Vec<perennial::testing::Touched>| -> Vec<_> {
        touched.into_iter().map(|touched| touched.rule).collect()
    };
    assert_eq!(rules(inner), ["D101"]);
    assert_eq!(rules(outer), ["D106", "D101"]);
    assert!(between > SystemTime::now());
}

#[test]
fn a_panic_goes_on_after_the_world_is_as_it_was() {
    thread::spawn(|| {
        let watch = || {
            sandbox().unwrap().watch(World::Changed(1), &mut || {
                assert!(SystemTime::now() < SystemTime::UNIX_EPOCH, "it goes on");
            })
        };
        let before = SystemTime::now();
        let panic = catch_unwind(AssertUnwindSafe(watch)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"it goes on"));
        let after = SystemTime::now();
        assert!(after.duration_since(before).unwrap().as_secs() < 86_400);
        let (_, touched) = watched_in(World::Real, || ());
        assert_eq!(touched, []);
    })
    .join()
    .unwrap();
}

#[test]
fn a_caught_panic_is_no_violation() {
    let panics = || catch_unwind(|| panic!("this is what it is about")).is_err();
    let (panicked, touched) = cold_in(World::Real, panics);
    assert!(panicked);
    assert_eq!(touched, []);
}

#[test]
fn a_hundred_calls_are_told_and_that_there_were_more() {
    // A look from each depth is a call of its own.
    fn look(depth: u32) {
        if depth > 0 {
            let _ = std::hint::black_box(Instant::now());
            look(depth - 1);
        }
    }
    // The same call from the same stack is one.
    let (_, touched) = cold_in(World::Real, || {
        for _ in 0..1_000 {
            look(1);
        }
        let _ = fs::metadata("/");
    });
    assert_eq!(touched.len(), 2, "{touched:?}");
    let (_, touched) = cold_in(World::Real, || look(102));
    assert_eq!(touched.len(), 101);
    let last = touched.last().unwrap();
    assert_eq!((last.rule, last.call), ("D101", "more calls than are told"));
}

#[test]
#[allow(unsafe_code)]
fn error_numbers_stay() {
    let (_, touched) = watched_in(World::Real, || {
        // SAFETY: the address of this thread's error number is always valid.
        unsafe { *libc::__errno_location() = libc::EXDEV };
        let _ = Instant::now();
        assert_eq!(
            std::io::Error::last_os_error().raw_os_error(),
            Some(libc::EXDEV)
        );
    });
    assert_eq!(touched.len(), 1);
}

#[test]
fn a_child_process_is_not_watched() {
    use std::os::unix::process::CommandExt as _;
    // With `exec` it is this process itself, so a process of its own does it.
    #[allow(unsafe_code)]
    // SAFETY: only async-signal-safe functions are called in the child.
    let run = || unsafe {
        Command::new("true")
            .pre_exec(|| {
                Instant::now()
                    .elapsed()
                    .as_secs()
                    .checked_add(1)
                    .map_or(Ok(()), |_| Ok(()))
            })
            .status()
            .unwrap()
    };
    let (status, touched) = cold_in(World::Real, run);
    assert!(status.success());
    let calls: Vec<_> = touched
        .iter()
        .map(|touched| (touched.rule, touched.call))
        .collect();
    assert_eq!(calls, [("D109", "fork()")]);
}
