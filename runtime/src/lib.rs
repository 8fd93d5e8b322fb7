//! Runs Perennial workflows inside your own process.

pub mod store;
