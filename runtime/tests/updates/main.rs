//! Updates through the whole runtime, over each store (S27, O21). What the machine alone shows is shown with it
//! (sdk/tests/machine/updates.rs).
#![allow(clippy::unwrap_used)]

mod asked;
mod ends;
mod keys;
mod large;
mod order;
mod races;
mod refused;
#[path = "../support/mod.rs"]
mod support;
mod world;
