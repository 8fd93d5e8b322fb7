//! What the test kit makes of a sandbox. This one has a clock and keys of its own, which it changes.

#![allow(clippy::unwrap_used)]

use std::cell::{Cell, RefCell};
use std::sync::Once;

use perennial::prelude::*;
use perennial::testing::{
    Changed, Diverged, Sandbox, TestFailure, TestRun, Touched, World, failure_of, set_sandbox,
};

thread_local! {
    static WORLD: Cell<Option<World>> = const { Cell::new(None) };
    static TOUCHED: RefCell<Vec<Touched>> = const { RefCell::new(Vec::new()) };
    static CACHED: Cell<Option<u64>> = const { Cell::new(None) };
}

struct Fake;

impl Sandbox for Fake {
    fn watch(&self, world: World, code: &mut dyn FnMut()) -> Vec<Touched> {
        WORLD.set(Some(world));
        code();
        WORLD.set(None);
        TOUCHED.take()
    }
}

fn with_a_sandbox() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_sandbox(&Fake));
}

/// A day that is another one in a changed world.
fn day() -> u64 {
    let place = "changed_world::day\nsdk/tests/testing/changed_world.rs:1:1".to_owned();
    TOUCHED.with_borrow_mut(|all| {
        all.push(Touched::new("D101", "clock_gettime(CLOCK_REALTIME)", place))
    });
    match WORLD.get() {
        Some(World::Real) => 0,
        Some(World::Changed(n)) => 400 + n,
        None => panic!("the workflow is polled where nobody watches"),
    }
}

/// Asked for once a thread.
fn cached_day() -> u64 {
    let cached = CACHED.get().unwrap_or_else(day);
    CACHED.set(Some(cached));
    cached
}

#[workflow]
async fn by_the_day(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
    if day() == 0 {
        cx.sleep(seconds(5)).await?;
    }
    Ok(())
}

#[workflow]
async fn for_days(cx: &Cx) -> Result<(), Error> {
    cx.sleep(days(1 + day())).await?;
    Ok(())
}

#[workflow]
async fn only_logged(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
    cx.log(day());
    Ok(())
}

#[workflow]
async fn logged_from_a_cache(cx: &Cx) -> Result<(), Error> {
    cx.log(cached_day());
    Ok(())
}

#[workflow]
async fn decided_later(cx: &Cx) -> Result<(), Error> {
    let day = day();
    cx.sleep(seconds(1)).await?;
    if day == 0 {
        cx.sleep(seconds(5)).await?;
    }
    Ok(())
}

fn diverged(body: impl FnOnce(&mut TestRun)) -> Diverged {
    with_a_sandbox();
    match failure_of(body) {
        Some(TestFailure::Diverged(diverged)) => *diverged,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_clock_that_decides_is_found_and_named_as_the_cause() {
    let found = diverged(|t| {
        let _ = t.start(by_the_day, ()).result();
    });
    assert_eq!(found.changed, Changed::All);
    assert_eq!(found.touched.len(), 1);
    let text = found.to_string();
    let (before, after) = text.split_once("changed_world.rs:").unwrap();
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    insta::assert_snapshot!(format!("{before}changed_world.rs:..{after}"));
}

#[test]
fn a_length_that_comes_from_a_clock_is_found() {
    let found = diverged(|t| {
        t.start(for_days, ());
    });
    assert_eq!(
        found.first.unwrap().what,
        "sleep until 2000-01-02T00:00:00.000Z"
    );
}

#[test]
fn a_clock_that_was_read_earlier_is_named_too() {
    let found = diverged(|t| {
        let _ = t.start(decided_later, ()).result();
    });
    assert_eq!((found.event, found.touched_after), (4, 1));
    assert_eq!(found.touched.len(), 1);
}

#[test]
fn a_clock_that_decides_nothing_passes() {
    with_a_sandbox();
    perennial::testing::test(|t| {
        let run = t.start(only_logged, ());
        run.result().unwrap();
        assert_eq!(run.logs(), ["0"]);
        insta::assert_snapshot!(t.report());
    });
}

#[test]
fn in_strict_mode_it_fails() {
    with_a_sandbox();
    let failure = failure_of(|t| {
        t.strict();
        let run = t.start(only_logged, ());
        assert!(!run.is_finished());
        let _ = run.result();
    });
    insta::assert_snapshot!(failure.unwrap());
}

#[test]
fn in_strict_mode_what_a_warm_thread_has_cached_is_found_on_a_fresh_one() {
    with_a_sandbox();
    CACHED.set(Some(0));
    let failure = failure_of(|t| {
        t.strict();
        t.start(logged_from_a_cache, ());
    });
    assert!(matches!(failure, Some(TestFailure::Touched(touched)) if touched.event == 1));
}

mod strict {
    use super::{TestRun, with_a_sandbox};
    use perennial::prelude::*;

    #[workflow]
    async fn pure(cx: &Cx) -> Result<(), Error> {
        cx.sleep(seconds(1)).await?;
        Ok(())
    }

    #[perennial::test]
    fn a_strict_test_passes_where_nothing_is_asked_for(t: &mut TestRun) {
        with_a_sandbox();
        t.strict();
        t.start(pure, ()).result().unwrap();
        assert!(t.report().strict);
    }
}
