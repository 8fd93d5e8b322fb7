//! Runs that are forked, through the whole runtime and over each store: a new run goes on from where another one was,
//! with an empty inbox (M43), and what was open is open anew.
#![allow(clippy::unwrap_used)]

mod again;
mod history;
mod kept;
mod known;
mod opened;
mod refused;
mod sources;
mod stored;
#[path = "../support/mod.rs"]
mod support;
mod world;
