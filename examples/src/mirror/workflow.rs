//! The workflow.

use std::fmt;

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    Copied, File, Folder, Hashes, Link, Manifest, Plan, Problem, Reason, Report, Skipped, Tally,
    copy_files, hash_files, list_page, make_folders, make_links, note_skipped, prepare,
    settle_folders, tidy, write_manifest,
};

/// How many batches are under way at once.
const WIDTH: usize = 8;
/// The least that a batch may have before it is full: so many files, or so many bytes.
const BATCH: Tally = Tally {
    files: 32,
    bytes: 8 << 20,
};
/// A tree that needs more batches gets larger ones, so that the history stays within its bounds: a batch
/// takes four events or more, and a history 100,000.
const BATCHES: u64 = 8_000;
/// The most files of a batch: their names must fit into one value.
const MOST_FILES: u64 = 500;
/// How many folders, links and the like are handed to an activity at once.
const ENTRIES: usize = 500;
/// About the most bytes that their names may have.
const NAMES: usize = 400 << 10;
/// How often a file is hashed that is never what it was.
const ROUNDS: u32 = 3;

/// How a run fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MirrorError {
    /// An activity said no, finally.
    Problem(Problem),
    /// An activity came to no end.
    Activity(String),
}

impl fmt::Display for MirrorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(problem) => problem.fmt(f),
            Self::Activity(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for MirrorError {}

impl From<ActivityError<Problem>> for MirrorError {
    fn from(error: ActivityError<Problem>) -> Self {
        match error {
            ActivityError::Rejected(problem) => Self::Problem(problem),
            other => Self::Activity(other.to_string()),
        }
    }
}

impl From<ActivityError> for MirrorError {
    fn from(error: ActivityError) -> Self {
        Self::Activity(error.to_string())
    }
}

/// Mirrors a tree: lists it, makes the folders, copies the files side by side, writes the manifest.
#[workflow]
pub async fn mirror(cx: &Cx, plan: Plan) -> Result<Report, MirrorError> {
    let began = cx.now();
    prepare(cx, plan.clone()).await?;
    let Tree {
        folders,
        files,
        links,
        mut skipped,
    } = list(cx, &plan).await?;
    for some in by_names(&folders, |folder| folder.path.as_str().len()) {
        make_folders(cx, plan.clone(), some.to_vec()).await?;
    }
    let copied = copy(cx, &plan, files, &mut skipped).await?;
    for some in by_names(&links, |link| {
        link.path.as_str().len() + link.to.as_str().len()
    }) {
        make_links(cx, plan.clone(), some.to_vec()).await?;
    }
    // From the end: a folder's mode may close the way to what is in it.
    for some in by_names(&folders, |folder| folder.path.as_str().len())
        .into_iter()
        .rev()
    {
        settle_folders(cx, plan.clone(), some.to_vec()).await?;
    }
    skipped.sort_unstable();
    for some in by_names(&skipped, |skipped| skipped.path.as_str().len()) {
        note_skipped(cx, plan.clone(), some.to_vec()).await?;
    }
    let count = Manifest {
        files: copied.copied + copied.in_place,
        links: links.len() as u64,
        skipped: skipped.len() as u64,
    };
    let manifest = write_manifest(cx, plan.clone(), count.clone()).await?;
    tidy(cx, plan).await?;
    Ok(Report::new(
        (began, cx.now()),
        &copied,
        folders.len() as u64,
        &count,
        skipped,
        manifest,
    ))
}

/// All entries of the source.
#[derive(Default)]
struct Tree {
    folders: Vec<Folder>,
    files: Vec<File>,
    links: Vec<Link>,
    skipped: Vec<Skipped>,
}

#[durable]
async fn list(cx: &Cx, plan: &Plan) -> Result<Tree, MirrorError> {
    let mut tree = Tree::default();
    let mut after = None;
    loop {
        let page = list_page(cx, plan.source.clone(), after).await?;
        tree.folders.extend(page.folders);
        tree.files.extend(page.files);
        tree.links.extend(page.links);
        tree.skipped.extend(page.skipped);
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(tree),
        }
    }
}

/// Copies all files, [`WIDTH`] batches at a time. After a failure no other batch is begun, and those that are
/// under way are waited for: when the run has ended nothing writes to the target any more.
#[durable]
async fn copy(
    cx: &Cx,
    plan: &Plan,
    files: Vec<File>,
    skipped: &mut Vec<Skipped>,
) -> Result<Copied, MirrorError> {
    let mut all = Copied::default();
    let mut failed = None;
    let mut waiting = batches(files).into_iter();
    let mut set = JoinSet::new(cx);
    loop {
        while failed.is_none() && set.len() < WIDTH {
            let Some(batch) = waiting.next() else { break };
            let (own, plan) = (cx.clone(), plan.clone());
            set.submit(async move { copy_batch(&own, plan, batch).await });
        }
        match set.next().await {
            Some(Ok(done)) => {
                all.copied += done.copied;
                all.in_place += done.in_place;
                skipped.extend(done.skipped);
            }
            Some(Err(error)) => failed = failed.or(Some(error)),
            None => return failed.map_or(Ok(all), Err),
        }
    }
}

/// Hashes and copies the files of a batch. A file that changes meanwhile is hashed again, but not for ever.
#[durable]
async fn copy_batch(cx: &Cx, plan: Plan, files: Vec<File>) -> Result<Copied, MirrorError> {
    let mut all = Copied::default();
    let mut open = files;
    for _ in 0..ROUNDS {
        if open.is_empty() {
            break;
        }
        let Hashes {
            files,
            changed,
            skipped,
        } = hash_files(cx, plan.source.clone(), open).await?;
        all.skipped.extend(skipped);
        open = changed;
        if !files.is_empty() {
            let done = copy_files(cx, plan.clone(), files).await?;
            all.copied += done.copied;
            all.in_place += done.in_place;
            all.skipped.extend(done.skipped);
            open.extend(done.changed);
        }
    }
    let changed = open.into_iter().map(|file| Skipped {
        path: file.path,
        reason: Reason::Changed,
    });
    all.skipped.extend(changed);
    Ok(all)
}

/// Divides files into batches: of many small files, or of few large ones.
fn batches(files: Vec<File>) -> Vec<Vec<File>> {
    let mut total = Tally::default();
    files.iter().for_each(|file| total.add(file.size));
    let most_files = (total.files / BATCHES).clamp(BATCH.files, MOST_FILES);
    let most_bytes = (total.bytes / BATCHES).max(BATCH.bytes);
    let mut batches: Vec<Vec<File>> = Vec::new();
    let mut room = Tally::default();
    let mut names = 0;
    for file in files {
        let fits =
            room.files > 0 && room.bytes >= file.size && names + file.path.as_str().len() <= NAMES;
        match batches.last_mut() {
            Some(batch) if fits => {
                room = room
                    - Tally {
                        files: 1,
                        bytes: file.size,
                    };
                names += file.path.as_str().len();
                batch.push(file);
            }
            _ => {
                room = Tally {
                    files: most_files - 1,
                    bytes: most_bytes.saturating_sub(file.size),
                };
                names = file.path.as_str().len();
                batches.push(vec![file]);
            }
        }
    }
    batches
}

/// Divides entries so that each part fits into one value.
fn by_names<T>(entries: &[T], length: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let mut parts = Vec::new();
    let mut rest = entries;
    while !rest.is_empty() {
        let mut names = 0;
        let fits = |entry: &&T| {
            names += length(entry);
            names <= NAMES
        };
        let count = rest.iter().take(ENTRIES).take_while(fits).count().max(1);
        let (part, after) = rest.split_at(count);
        parts.push(part);
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn files(sizes: impl IntoIterator<Item = u64>) -> Vec<File> {
        let file = |(at, size): (usize, u64)| {
            serde_json::from_value(serde_json::json!({
                "path": format!("f{at}"), "size": size, "mode": 0o644, "modified": [0, 0]
            }))
            .unwrap()
        };
        sizes.into_iter().enumerate().map(file).collect()
    }

    #[test]
    fn batches_are_of_many_small_files_or_few_large_ones() {
        let lengths = |sizes: Vec<u64>| {
            batches(files(sizes))
                .iter()
                .map(Vec::len)
                .collect::<Vec<_>>()
        };
        assert_eq!(lengths(vec![]), [0_usize; 0]);
        assert_eq!(lengths(vec![1; 70]), [32, 32, 6]);
        assert_eq!(
            lengths(vec![5 << 20, 5 << 20, 1, 100 << 20, 1]),
            [1, 2, 1, 1]
        );
    }

    #[test]
    fn a_large_tree_gets_larger_batches() {
        assert!(batches(files(std::iter::repeat_n(1, 1_000_000))).len() <= 8_001);
        assert!(batches(files(std::iter::repeat_n(9 << 20, 100_000))).len() <= 20_000);
    }

    #[test]
    fn long_names_are_divided() {
        let names = vec!["x".repeat(150 << 10); 5];
        let parts: Vec<usize> = by_names(&names, String::len)
            .iter()
            .map(|part| part.len())
            .collect();
        assert_eq!(parts, [2, 2, 1]);
        assert_eq!(by_names(&["y".repeat(NAMES + 1)], String::len).len(), 1);
    }
}
