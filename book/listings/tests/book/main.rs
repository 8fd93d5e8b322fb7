//! The book's code runs, and the book shows what it says.
//!
//! `UPDATE_BOOK=1 cargo test -p perennial-book` writes the texts that the book shows anew.
#![allow(clippy::unwrap_used)]

mod between_runs;
mod blocked;
mod cargo;
mod chapters;
mod clippy;
mod compile_errors;
mod errors;
mod first_workflow;
mod lock;
mod messages;
mod migration;
mod pages;
mod pausing;
mod planning;
mod readme;
mod rules;
mod shell;
mod snapshots;
mod testing;
mod texts;
mod upkeep;
mod writing_a_store;
