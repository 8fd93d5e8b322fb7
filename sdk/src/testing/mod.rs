//! What tests of workflows need.

mod export;
mod files;
mod histories;
mod misfit;
mod recorded;
mod redact;
mod sandbox;
mod snapshot;
mod suggest;

pub use files::{NotSaved, save_history};
pub use histories::{Checked, check_histories, replay_folder};
pub use misfit::{Misfit, Misfits, Unfit, Worlds};
pub use recorded::Recorded;
pub use redact::RedactionError;
pub use sandbox::{Sandbox, Touched, World, sandbox, set_sandbox};
pub use snapshot::Snapshot;
