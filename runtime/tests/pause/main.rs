//! Runs that are paused, through the whole runtime and over each store: nothing is told to them, nothing of what
//! arrives is lost, and what they are told when they go on comes in its order (M45).
#![allow(clippy::unwrap_used)]

mod blocked;
mod moved;
mod refused;
mod stands;
#[path = "../support/mod.rs"]
mod support;
mod told;
mod world;
