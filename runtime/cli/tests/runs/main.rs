//! The commands that talk to runs, as they are called from a shell.
#![allow(clippy::unwrap_used)]

mod arguments;
#[cfg(unix)]
mod at_work;
mod export;
mod fork;
#[cfg(unix)]
mod names;
mod pause;
#[cfg(unix)]
#[path = "../../../tests/support/process.rs"]
mod process;
#[cfg(unix)]
mod program;
mod publications;
#[cfg(unix)]
mod pushed;
mod references;
mod scene;
mod stopped;
mod stubs;
mod times;
#[cfg(unix)]
mod update;
mod world;
