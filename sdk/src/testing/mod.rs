//! What tests of workflows need.

mod sandbox;

pub use sandbox::{Sandbox, Touched, World, sandbox, set_sandbox};
