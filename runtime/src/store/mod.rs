//! Stores: where runs are kept.
//!
//! The engine knows a store through [`Store`] alone. Two come with it:
//!
//! | store | keeps runs | for |
//! |---|---|---|
//! | [`MemoryStore`] | as long as it is not dropped | tests, programs whose runs end with them |
//! | [`SledStore`] | in a folder, over restarts and power cuts | everything else that runs in one process |
//!
//! Both are shown to behave alike by the functions in [`conformance`], each of which shows one property;
//! a store of another make runs the same ones. Any store can be [exported](export), while it is in use too.

mod acks;
mod blocked;
mod census;
pub mod conformance;
mod contract;
mod error;
pub mod export;
mod fork;
mod inbox;
mod list;
mod memory;
mod migrate;
mod offers;
mod program;
mod purge;
mod restore;
mod rules;
pub(crate) mod runs;
pub mod sled;
mod slots;
mod stream;
mod tasks;
mod update_keys;
mod view;

pub use blocked::{BlockedChange, BlockedRecord};
pub use census::{Census, Standing};
pub use contract::{
    Ack, Changes, Commit, Create, Created, Deliver, Fence, Head, Loaded, Owner, PauseChange,
    Queued, Status, Store,
};
pub use error::{KeyConflict, OfferClosed, OfferTaken, OtherOffer, Refusal, StoreError};
pub use inbox::{
    Awaited, Delivered, Inbox, KEY_WINDOW, KeyKind, KeyRecord, MAX_AWAITED, MAX_AWAITED_BYTES,
    MAX_INBOX, MAX_KEY_BYTES, MAX_KEYS, SendKey,
};
pub(crate) use inbox::{judge_key, send_digest, told};
pub use list::{ListQuery, Page};
pub use memory::MemoryStore;
pub use migrate::Migrate;
pub use offers::{Offer, OfferChange, OfferState, Waiting};
pub use program::{MAX_PROGRAMS, ProgramRecord};
pub use purge::{FinishedRun, Keep, Progress, Purge, Purged, Remains};
pub use restore::Restore;
pub(crate) use rules::is_listed;
pub use rules::{MAX_NAME_BYTES, MAX_TEXT_BYTES, MAX_UNIT_BYTES};
pub use sled::{Durability, OpenError, SledStore};
pub use slots::{Arrival, Committed, Slot, SlotEffect, slot_key};
pub(crate) use slots::{is_filled, is_told};
pub use stream::{StreamItem, StreamRange};
pub use tasks::{AttemptOutcome, AttemptRecord, DueTimer, Task, TaskChange, TimerChange};
pub use update_keys::UpdateKey;
pub(crate) use update_keys::update_digest;
pub use view::{ViewChange, ViewRecord};
