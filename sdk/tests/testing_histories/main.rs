//! Histories as snapshots, as files, and a folder of them against code that has changed.

#![allow(clippy::unwrap_used)]

#[path = "../story/mod.rs"]
mod story;

mod files;
mod folder;
mod redactions;
mod snapshots;
mod workflows;

use std::fs;
use std::path::PathBuf;

use perennial::history::{History, Observation};
use perennial::{Namespace, RunId, RunKey};
use story::Story;

/// What the units of a story are to a test: the history of a run.
fn history(id: &str, story: &Story) -> History {
    let id = RunId::new(id).unwrap();
    let mut units = story.units.clone();
    if let Observation::Started(started) = &mut units[0].observation {
        started.run = id.clone();
    }
    History {
        run: RunKey::new(Namespace::default(), id),
        generation: 1,
        units,
    }
}

/// An empty folder for a test.
fn empty_folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A text without the place of the folder on this machine.
fn portable(text: impl ToString) -> String {
    let folder = env!("CARGO_TARGET_TMPDIR").replace('\\', "/");
    text.to_string()
        .replace('\\', "/")
        .replace(&folder, "tests")
}
