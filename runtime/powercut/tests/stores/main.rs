//! Stores after power cuts: sled as it is, sled with the synchronous attribute, and our store.
//!
//! Each image is opened by another process, since opening one may panic, or never come to an end.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#![allow(clippy::unwrap_used)]

mod child;
mod cuts;
mod embedded;
mod mounted;
mod script;
mod sled;
mod writing;
