//! The machine, told as stories: a file for each subject, a test for each thing it must do. One program, so
//! that it links once.

#![allow(clippy::unwrap_used)]

#[path = "../story/mod.rs"]
mod story;

mod activities;
mod blocked;
mod compared;
mod differences;
mod draws;
mod drops;
mod emit;
mod ends;
mod foreign;
mod fork;
mod fulfil;
mod imposed;
mod join;
mod join_set;
mod limits;
mod logs;
mod mailbox;
mod markers;
mod memory;
mod payloads;
mod random_worlds;
mod receive;
mod replay;
mod retired;
mod scopes;
mod select;
mod send;
mod spawn;
mod stubs;
mod timers;
mod until;
mod updates;
mod versions;
mod views;
