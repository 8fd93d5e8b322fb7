//! Programs that are at work, each in a process of its own.

use perennial_runtime::store::Durability;
use perennial_runtime::{Builder, Clock, Runtime};

use crate::process::{Process, Role, variable};
use crate::world::World;

const FOLDER: &str = "PERENNIAL_TEST_RUNS_FOLDER";

/// A clock that stands still, so that nothing takes any time.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> perennial::Timestamp {
        perennial::Timestamp::from_millis(1_764_000_000_000)
    }
}

/// The runtime of such a program, over the store of its world.
pub(crate) fn runtime() -> Builder {
    Runtime::builder(variable(FOLDER))
        .durability(Durability::Os)
        .clock(Still)
}

/// What a program is told to be.
pub(crate) fn role(name: &str, world: &World) -> Role {
    Role::new(name).with(FOLDER, world.path("store"))
}

/// Starts it, and waits until it says that it is ready.
pub(crate) fn started(role: Role) -> Process {
    let process = role.start();
    assert_eq!(process.line().as_deref(), Some("ready"));
    process
}
