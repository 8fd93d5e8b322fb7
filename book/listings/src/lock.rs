//! *The lock*: a workflow as it is released first, and with a change that runs in flight can follow.

pub mod guarded;
pub mod released;
