//! `perennial store`, as it is called from a shell.
#![allow(clippy::unwrap_used)]

mod compact;
mod export;
mod look;
mod salvage;
mod world;
