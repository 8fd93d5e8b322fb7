//! What only the store in a folder has to show: its promises about files, processes and damage.

#![allow(clippy::unwrap_used)]

#[path = "sled_store/child.rs"]
mod child;
#[path = "sled_store/damage.rs"]
mod damage;
#[path = "sled_store/files.rs"]
mod files;
#[path = "sled_store/inbox.rs"]
mod inbox;
#[path = "sled_store/offers.rs"]
mod offers;
#[path = "sled_store/process.rs"]
mod process;
#[path = "sled_store/purge.rs"]
mod purge;
#[path = "sled_store/slots.rs"]
mod slots;
#[path = "sled_store/streams.rs"]
mod streams;
#[path = "sled_store/views.rs"]
mod views;
#[path = "sled_store/world.rs"]
mod world;
