//! What the sandbox sees, what it answers, and what it leaves alone.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used)]

// All that a test needs of it.
use perennial_sandbox as _;

mod calls;

use perennial::testing::{Touched, World, sandbox};

/// What `code` asks for in `world`, on a thread of its own: nothing there was asked before.
fn watched_in<T: Send>(world: World, code: impl FnOnce() -> T + Send) -> (T, Vec<Touched>) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let (mut code, mut result) = (Some(code), None);
            let touched = sandbox().unwrap().watch(world, &mut || {
                result = code.take().map(|code| code());
            });
            (result.unwrap(), touched)
        });
        thread.join().unwrap()
    })
}

/// The rules and calls that `code` touches.
fn touched<T: Send>(code: impl FnOnce() -> T + Send) -> Vec<(&'static str, &'static str)> {
    let (_, touched) = watched_in(World::Real, code);
    touched
        .iter()
        .map(|touched| {
            assert!(touched.place.contains("tests/sandbox/"), "{touched:?}");
            (touched.rule, touched.call)
        })
        .collect()
}
