//! Streams and views through the whole runtime: the cases of acceptance/mailbox.md about the outbox by their numbers,
//! over each store. What the machine alone shows is shown with it (sdk/tests/machine/emit.rs).
#![allow(clippy::unwrap_used)]

mod errors;
mod generations;
mod lost;
mod read;
#[path = "../support/mod.rs"]
mod support;
mod views;
mod world;
