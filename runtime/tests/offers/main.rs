//! Stubs through the whole runtime: the cases of acceptance/mailbox.md by their numbers, and those of case RW-47, over
//! each store. What the machine alone shows is shown with it.
#![allow(clippy::unwrap_used)]

mod ends;
mod fulfil;
mod mailbox;
mod refused;
mod replies;
mod request;
mod runs;
#[path = "../support/mod.rs"]
mod support;
mod waiting;
mod world;
