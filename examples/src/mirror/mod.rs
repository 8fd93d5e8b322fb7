//! Mirrors a directory tree, durably.
//!
//! [`mirror`] is the workflow: it lists the source, makes the folders, hashes and copies the files in
//! batches side by side, and writes a manifest. All that touches a disk is an activity, and says what
//! happens when it runs twice:
//!
//! | activity | class | because |
//! |---|---|---|
//! | [`list_page`], [`hash_files`] | `pure` | they only read |
//! | [`prepare`], [`make_folders`], [`settle_folders`], [`tidy`] | `idempotent` | the second time finds it done |
//! | [`copy_files`], [`make_links`] | `idempotent` | each entry is made under a name of its own and renamed into place whole; the second time finds it there |
//! | [`note_skipped`], [`write_manifest`] | `idempotent` | they replace their file whole |
//!
//! What is kept: contents, names (also those that are not UTF-8), permission bits, times of change, symbolic
//! links as links, empty folders. What is not: owners, setuid and setgid (which mean nothing without the
//! owner), hard links (each name gets a copy of its own), extended attributes, holes. Nothing is ever
//! deleted from the target.
//!
//! ```text
//! arguments ─ place ─▶ workflow ─▶ listing, folders, hash, copy, links, manifest   (activities)
//!                 │                      │ tree: what is listed · path: how names are stored
//!                 └ refusal              └ problem: why a run ends early
//! pace: how fast · progress: what a person sees meanwhile · report: what a person sees at the end
//! ```

mod copy;
mod disk;
mod folders;
mod hash;
mod links;
mod listing;
mod manifest;
mod pace;
mod path;
mod place;
mod problem;
mod progress;
mod report;
mod tree;
mod workflow;

pub use copy::{Copied, copy_files};
pub use folders::{make_folders, prepare, settle_folders};
pub use hash::{Hashes, hash_files};
pub use links::make_links;
pub use listing::{Page, list_page};
pub use manifest::{Manifest, note_skipped, tidy, write_manifest};
pub use pace::Pace;
pub use path::StoredPath;
pub use place::{Plan, Refusal, Taken, place};
pub use problem::Problem;
pub use progress::{Counts, Mode, Progress};
pub use report::{Report, finished_before, this_process};
pub use tree::{File, Folder, HashedFile, Link, Modified, Reason, Skipped, Tally};
pub use workflow::{MirrorError, mirror};
