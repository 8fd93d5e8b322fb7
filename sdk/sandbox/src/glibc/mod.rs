//! The sandbox where it works.

mod calendar;
mod frames;
mod hooks;
mod place;
mod stack;
mod watch;
mod world;

use perennial::testing::{Sandbox, Touched, World, set_sandbox};

/// The one that this program is linked with.
struct Glibc;

impl Sandbox for Glibc {
    // Where a place ends: it has to be on the stack under its own name.
    #[inline(never)]
    fn watch(&self, world: World, code: &mut dyn FnMut()) -> Vec<Touched> {
        let watch = watch::Watch::enter(world);
        code();
        let seen = watch.leave();
        // Looking up names reads files and the environment: not what an outer watch is for.
        let _pause = watch::Pause::new();
        place::told(seen)
    }
}

extern "C" fn register() {
    set_sandbox(&Glibc);
}

/// What the C library calls before `main`. It is all that a program needs of this crate, so the linker must
/// not take it for unused.
#[allow(unsafe_code)]
#[used]
// SAFETY: the section holds functions that take what `main` takes, or less of it.
#[unsafe(link_section = ".init_array")]
static REGISTER: extern "C" fn() = register;
