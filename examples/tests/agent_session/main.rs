//! The binary `agent_session`, as its user meets it, with a stand-in for the model.
#![allow(clippy::unwrap_used)]

mod answers;
mod commands;
mod crowd;
mod kills;
mod secrets;
mod steering;
mod world;
