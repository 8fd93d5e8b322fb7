//! `perennial send`, `signal`, `update`, `list`, `show`, `history` and `messages`, as they are called from a shell.
#![allow(clippy::unwrap_used)]

mod arguments;
mod export;
#[cfg(unix)]
#[path = "../../../tests/support/process.rs"]
mod process;
#[cfg(unix)]
mod program;
mod scene;
mod stopped;
#[cfg(unix)]
mod update;
mod world;
