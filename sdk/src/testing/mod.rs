//! What tests of workflows need.

mod recorded;
mod sandbox;

pub use recorded::Recorded;
pub use sandbox::{Sandbox, Touched, World, sandbox, set_sandbox};
