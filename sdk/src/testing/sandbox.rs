//! The place where `perennial-sandbox` plugs in.
//!
//! A sandbox sees what a workflow's code asks of the operating system while it is polled, and can answer
//! for it. This crate has none itself: that takes code below Rust. A test that links one gets it by itself.

use std::fmt;
use std::sync::OnceLock;

/// The world in which a workflow's code is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// As it is.
    Real,
    /// Another one, the same for the same number: other times, other random bytes, other hash keys.
    Changed(u64),
}

/// Sees what code asks of the operating system.
pub trait Sandbox: Sync {
    /// Runs `code` on this thread, in `world`, and tells what it asked for, in order. What was asked for
    /// under [`#[allow_nondeterminism]`](macro@crate::workflow) is not told ([`is_allowed`]).
    ///
    /// A panic of `code` goes on after the world is as it was.
    ///
    /// [`is_allowed`]: crate::__private::is_allowed
    fn watch(&self, world: World, code: &mut dyn FnMut()) -> Vec<Touched>;
}

impl fmt::Debug for dyn Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sandbox")
    }
}

/// Something that code asked of the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Touched {
    /// The code of the rule that speaks of it: `D101` for a clock.
    pub rule: &'static str,
    /// The call, such as `clock_gettime(CLOCK_REALTIME)`.
    pub call: &'static str,
    /// Where, from the innermost frame that is neither the sandbox nor the standard library: `function` and
    /// `file:line:column`, a line each. Empty where it is not known.
    pub place: String,
}

impl Touched {
    /// All of its fields, in their order.
    #[must_use]
    pub fn new(rule: &'static str, call: &'static str, place: String) -> Self {
        Self { rule, call, place }
    }
}

static SANDBOX: OnceLock<&'static dyn Sandbox> = OnceLock::new();

/// Puts a sandbox in for the whole program; the first one stays. `perennial-sandbox` calls it before `main`.
pub fn set_sandbox(sandbox: &'static dyn Sandbox) {
    let _ = SANDBOX.set(sandbox);
}

/// The sandbox that this program was linked with.
#[must_use]
pub fn sandbox() -> Option<&'static dyn Sandbox> {
    SANDBOX.get().copied()
}
