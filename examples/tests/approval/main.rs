//! The binary `approval`, as its user meets it.
#![allow(clippy::unwrap_used)]

mod answers;
mod commands;
mod kills;
mod world;
