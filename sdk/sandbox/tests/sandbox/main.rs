//! What the sandbox sees, what it answers, and what it leaves alone.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used)]

// All that a test needs of it.
use perennial_sandbox as _;

mod calls;
mod changed;
mod linked;
mod places;
mod quiet;
mod watching;

use perennial::testing::{Touched, World, sandbox};

/// What `code` gives, and what it asks for.
fn watched_in<T>(world: World, code: impl FnOnce() -> T) -> (T, Vec<Touched>) {
    let (mut code, mut result) = (Some(code), None);
    let touched = sandbox().unwrap().watch(world, &mut || {
        result = code.take().map(|code| code());
    });
    (result.unwrap(), touched)
}

/// The same on a thread of its own, where nothing was asked before.
fn cold_in<T: Send>(world: World, code: impl FnOnce() -> T + Send) -> (T, Vec<Touched>) {
    std::thread::scope(|scope| scope.spawn(|| watched_in(world, code)).join().unwrap())
}

/// The rules and calls that `code` touches.
fn touched<T: Send>(code: impl FnOnce() -> T + Send) -> Vec<(&'static str, &'static str)> {
    let (_, touched) = cold_in(World::Real, code);
    touched
        .iter()
        .map(|touched| {
            assert!(touched.place.contains("tests/sandbox/"), "{touched:?}");
            (touched.rule, touched.call)
        })
        .collect()
}
