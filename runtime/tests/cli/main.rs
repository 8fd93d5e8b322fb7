//! The commands that a program has, as they are called from a shell.
#![allow(clippy::unwrap_used)]

mod arguments;
mod blocked;
mod check;
mod migrate;
mod plan;
mod shop;
mod unblock;
mod world;
