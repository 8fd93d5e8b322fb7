//! What tests of workflows need.

mod recorded;
mod redact;
mod sandbox;
mod snapshot;
mod suggest;

pub use recorded::Recorded;
pub use redact::RedactionError;
pub use sandbox::{Sandbox, Touched, World, sandbox, set_sandbox};
pub use snapshot::Snapshot;
