//! Whether this thread is watched, in which world, and what was seen.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{mem, thread};

use perennial::__private::is_allowed;
use perennial::testing::World;

use super::stack::{Errno, Stack, is_a_handlers};
use super::world::Changed;

/// How many calls of one watch are told, each with its stack.
pub(super) const LIMIT: usize = 100;

thread_local! {
    // Nothing here needs to be dropped, so they can be asked at any time in the life of a thread.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static WORLD: Cell<Option<u64>> = const { Cell::new(None) };
    /// The changed world that this thread was in last.
    static LAST: Cell<Option<u64>> = const { Cell::new(None) };
    /// How much later it was there when this thread came to it.
    static LATER: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    /// How often that world's clocks were looked at on this thread.
    static LOOKS: Cell<u64> = const { Cell::new(0) };
    /// How often it gave random bytes.
    static DRAWS: Cell<u64> = const { Cell::new(0) };
    /// Used while inside only.
    static SEEN: RefCell<Seen> = const { RefCell::new(Seen::new()) };
}

/// A call that was seen. Which place that is takes long to find out, and waits until the watch has ended.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) rule: &'static str,
    pub(super) call: &'static str,
    pub(super) stack: Backtrace,
}

/// What was seen, in order; the same call from the same stack once.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) hits: Vec<Hit>,
    stacks: BTreeSet<(u64, &'static str)>,
    /// The rule of the first call that came after [`LIMIT`] others.
    pub(super) more: Option<&'static str>,
}

impl Seen {
    const fn new() -> Self {
        Self {
            hits: Vec::new(),
            stacks: BTreeSet::new(),
            more: None,
        }
    }

    fn add(&mut self, rule: &'static str, call: &'static str) {
        let stack = Stack::here();
        let digest = stack.digest();
        if self.stacks.contains(&(digest, call)) || stack.prints_a_backtrace() {
            return;
        }
        if self.hits.len() == LIMIT {
            self.more.get_or_insert(rule);
            return;
        }
        self.stacks.insert((digest, call));
        self.hits.push(Hit {
            rule,
            call,
            stack: Backtrace::force_capture(),
        });
    }
}

/// While it lives, this thread is watched. Afterwards it is as it was.
#[derive(Debug)]
pub(super) struct Watch {
    outer: Option<(bool, Option<u64>, Seen)>,
}

impl Watch {
    pub(super) fn enter(world: World) -> Self {
        let world = match world {
            World::Real => None,
            World::Changed(number) => Some(number),
        };
        if let Some(number) = world {
            come_to(number);
        }
        let outer = (INSIDE.get(), WORLD.get(), SEEN.replace(Seen::new()));
        WORLD.set(world);
        INSIDE.set(true);
        Self { outer: Some(outer) }
    }

    pub(super) fn leave(mut self) -> Seen {
        self.restore()
    }

    fn restore(&mut self) -> Seen {
        let Some((inside, world, seen)) = self.outer.take() else {
            return Seen::new();
        };
        INSIDE.set(false);
        let seen = SEEN.with_borrow_mut(|own| mem::replace(own, seen));
        if let Some(number) = world {
            come_to(number);
        }
        WORLD.set(world);
        INSIDE.set(inside);
        seen
    }
}

/// A world that this thread was not in last begins anew: its time, its looks, its bytes.
fn come_to(number: u64) {
    if LAST.replace(Some(number)) == Some(number) {
        return;
    }
    let _pause = Pause::new();
    let real = SystemTime::now().duration_since(UNIX_EPOCH);
    LATER.set(Changed::new(number).later(real.unwrap_or_default()));
    LOOKS.set(0);
    DRAWS.set(0);
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.restore();
    }
}

/// While it lives, what this thread does is not the workflow's.
#[derive(Debug)]
pub(super) struct Pause {
    inside: bool,
}

impl Pause {
    pub(super) fn new() -> Self {
        Self {
            inside: INSIDE.replace(false),
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        INSIDE.set(self.inside);
    }
}

/// Ends all watches of this thread: it is another process now.
pub(super) fn end() {
    INSIDE.set(false);
}

/// Notes a call, where the thread is watched and not inside of an opt-out.
#[inline]
pub(super) fn touch(rule: &'static str, call: &'static str) {
    if INSIDE.get() {
        note(rule, call);
    }
}

// Runs inside of C: it must not panic.
#[cold]
fn note(rule: &'static str, call: &'static str) {
    // What a panic reads and writes is not the workflow's. Meanwhile the standard library holds the lock that
    // a backtrace needs.
    if is_allowed() || thread::panicking() {
        return;
    }
    let _pause = Pause::new();
    let _errno = Errno::keep();
    if is_a_handlers() {
        return;
    }
    let _ = SEEN.try_with(|seen| {
        if let Ok(mut seen) = seen.try_borrow_mut() {
            seen.add(rule, call);
        }
    });
}

/// The world that answers on this thread, where it is not the real one.
#[inline]
pub(super) fn changed() -> Option<Changed> {
    if !INSIDE.get() {
        return None;
    }
    WORLD.get().map(Changed::new)
}

/// How much later it was in this thread's changed world when the thread came to it.
pub(super) fn later() -> Duration {
    LATER.get()
}

/// How often this thread looked at its changed world's clocks, before this look.
pub(super) fn look() -> u64 {
    let looks = LOOKS.get();
    LOOKS.set(looks.wrapping_add(1));
    looks
}

/// How often it looked so far.
pub(super) fn looks() -> u64 {
    LOOKS.get()
}

/// How often it drew random bytes, before this time.
pub(super) fn draw() -> u64 {
    let draws = DRAWS.get();
    DRAWS.set(draws.wrapping_add(1));
    draws
}
