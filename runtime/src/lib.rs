//! Runs Perennial workflows inside your own process.
//!
//! [`Runtime::builder`] takes a folder (for the embedded store) or a [store](store::Store), the workflows
//! and activities of your program, and the state that your activities need. [`Client`] starts runs and asks
//! about them.
//!
//! References such as (S6) or (O13) in these pages number the rules of the project's design.

#![warn(missing_docs)]

mod activity;
mod artifact;
mod builder;
#[cfg(feature = "cli")]
pub mod cli;
mod client;
mod clock;
pub mod control;
mod engine;
mod error;
mod fork;
mod manifest;
mod migrate;
pub mod profile;
mod registry;
mod runtime;
pub mod store;
mod words;

pub use builder::{Builder, IntoStore, StartupError, StoreSource};
pub use client::{
    Answered, Awaits, BlockedCount, Client, Ended, Forked, Fulfil, FulfilError, Item, Items, List,
    ListMessages, ListOffers, ListWaiting, MessageInfo, MessagePage, MessageState, OfferInfo,
    OfferPage, OfferStatus, PauseError, Paused, Receipt, Reply, Request, RequestError, Resumed,
    RunHandle, RunHistory, RunInfo, RunPage, RunState, SendError, SendMessage, Start, StreamError,
    Unblocked, UndecodableView, UpdateError, UpdateRun, ViewError, Viewed, Watch, generate_run_id,
};
pub use clock::{Clock, SystemClock};
pub use engine::Reuse;
pub use error::{Drained, PurgeError, ReadError, RunError, StartError, Unavailable, UnblockError};
pub use fork::ForkError;
pub use manifest::{
    ActivityManifest, Manifest, PassedMarker, PublishManifest, ReceiveManifest, SupportedMarker,
    TypeManifest, TypeManifests, UpdateManifest, WorkflowManifest,
};
pub use migrate::MigrateError;
pub use profile::Profile;
pub use registry::Incomplete;
pub use runtime::Runtime;
pub use store::Status;
