//! Stores: where runs are kept.
//!
//! The engine knows a store through [`Store`] alone. Two come with it:
//!
//! | store | keeps runs | for |
//! |---|---|---|
//! | [`MemoryStore`] | as long as it is not dropped | tests, programs whose runs end with them |
//!
//! a store of another make runs the same ones.

mod acks;
mod contract;
mod error;
mod memory;
mod rules;

pub use contract::{
    Ack, AttemptOutcome, AttemptRecord, BlockedChange, BlockedRecord, Changes, Commit, Create, Created, Deliver,
    DueTimer, Fence, Head, ListQuery, Loaded, Owner, Page, Queued, Status, Store, Task, TaskChange, TimerChange,
};
pub use error::{Refusal, StoreError};
pub use memory::MemoryStore;
pub use rules::{MAX_NAME_BYTES, MAX_TEXT_BYTES, MAX_UNIT_BYTES};
