//! What the recorder sees, and what becomes of it in images.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#![allow(clippy::unwrap_used)]

mod attribute;
mod calls;
mod errors;
mod faults;
mod names;
mod place;
mod traces;
mod writes;
