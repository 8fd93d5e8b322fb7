//! Messages and signals through the whole runtime: the cases of acceptance/messages.md by their numbers, over each
//! store. What the machine alone shows is shown with it (sdk/tests/machine/receive.rs).
#![allow(clippy::unwrap_used)]

mod early;
mod keys;
mod limits;
mod listed;
mod order;
mod races;
mod send;
mod senders;
mod signals;
mod slot_races;
mod slots;
#[path = "../support/mod.rs"]
mod support;
mod unread;
mod world;
