//! The binary `mirror`, as its user meets it.
#![allow(clippy::unwrap_used)]

mod commands;
mod content;
mod kills;
mod messages;
mod world;
