//! Shows in tests what a power cut would leave behind.
//!
//! ```text
//! record                     cut         choice                      image
//! write ─ write ─ sync ─ write ─┼─ ..   what is not on the device:   files to open, and to look
//!                               │       nothing, all, a part of it   whether all that was
//!                               └ marks that were set before         promised is there
//! ```
//!
//! [`Recorder`] records the writes, syncs and changes of names that this process does below a folder. From
//! its [`Trace`] come images: the folder as it may be after a power cut at some place of the record. Whatever
//! was not on the device there may be in an image, or missing, or there in part ([`Choice`]). Who opens an
//! image may be told that the system was started anew ([`pretend_restart`]). [`Faults`] makes syncs and writes
//! fail.
//!
//! What counts as on the device:
//!
//! | | from when on |
//! |---|---|
//! | what was in the folder at the start | always |
//! | content and size of a file | the end of a `fsync` or `fdatasync` of the file that began after the write had ended |
//! | a write to a file with the synchronous attribute (`chattr +S`), or open with `O_SYNC` or `O_DSYNC` | its end; also changes of the file's size before it |
//! | making a file with the attribute shorter | its end |
//! | the name of a new, renamed or removed file | the end of a `fsync` of its folder; at once, if the folder has the attribute |
//!
//! Nothing else does: not `sync_file_range`, not `sync`, not the end of the process, and not the `fsync` of a
//! file for its own name. What was waiting for a sync that failed never counts, since the system does not
//! try again.
//!
//! Calls are seen by standing in the place of the C library's functions (`write`, `fsync` and so on), for the
//! whole program and also while nothing is recorded: therefore this is a crate for tests. System calls that
//! do not go through the C library are not seen. A size that one of them changed is noticed at the next call
//! that is seen; of everything else the recorder says in the end that it has missed it, but for syncs: data
//! that such a call made durable counts as not durable.
//!
//! It works on Linux with glibc on 64 bits. Elsewhere this crate is empty.

#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

mod choice;
mod error;
mod faults;
mod file;
mod hooks;
mod image;
mod names;
mod raw;
mod record;
mod recorder;
mod replay;
mod restart;
mod tape;
mod trace;
mod tree;

pub use choice::Choice;
pub use error::RecordError;
pub use faults::Faults;
pub use image::Image;
pub use recorder::Recorder;
pub use replay::Replay;
pub use restart::pretend_restart;
pub use trace::Trace;
