//! The code of the book, a module a chapter. The book includes it piece by piece; `tests/book` runs it.
//!
//! *First workflow* is a crate of its own and lives in `first-workflow/`.

pub mod activities;
pub mod between_runs;
pub mod blocked;
pub mod changing;
pub mod determinism;
pub mod errors;
pub mod lock;
pub mod mailbox;
pub mod messages;
pub mod migration;
pub mod outbox;
pub mod pausing;
pub mod planning;
pub mod running;
pub mod shell;
pub mod stores;
pub mod testing;
pub mod updates;
pub mod upkeep;
pub mod views;
pub mod waiting;
pub mod writing_a_store;
