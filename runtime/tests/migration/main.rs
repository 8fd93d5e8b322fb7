//! Moving runs to new ones (S38): of programs that changed, through the whole runtime.
#![allow(clippy::unwrap_used)]

mod moved;
mod refused;
mod shop;
#[path = "../support/mod.rs"]
mod support;
mod unread;
mod unsure;
