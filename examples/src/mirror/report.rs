//! What a person sees at the end.

use std::fmt;

use indicatif::{DecimalBytes, HumanCount};
use perennial::Timestamp;
use serde::{Deserialize, Serialize};

use super::manifest::manifest_path;
use super::{Copied, Counts, Manifest, Plan, Skipped, StoredPath, Tally};

/// How many skipped entries a report names, and how many bytes their names may have. The manifest has them
/// all.
const SHOWN: (usize, usize) = (50, 64 << 10);

/// What a run has done: the workflow's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// Folders that are in the mirror.
    pub folders: u64,
    /// Symbolic links that are in the mirror.
    pub links: u64,
    /// Files that were copied.
    pub copied: Tally,
    /// Files that were in the target already, with the same content.
    pub in_place: Tally,
    /// How many entries were skipped.
    pub skipped: u64,
    /// Some of them.
    pub some_skipped: Vec<Skipped>,
    /// The SHA-256 of the manifest.
    pub manifest: String,
}

impl Report {
    pub(super) fn new(
        (began, ended): (Timestamp, Timestamp),
        copied: &Copied,
        folders: u64,
        count: &Manifest,
        mut skipped: Vec<Skipped>,
        manifest: String,
    ) -> Self {
        let mut bytes = 0;
        let fits = |skipped: &&Skipped| {
            bytes += skipped.path.as_str().len();
            bytes <= SHOWN.1
        };
        let shown = skipped.iter().take(SHOWN.0).take_while(fits).count();
        skipped.truncate(shown);
        Self {
            began,
            ended,
            folders,
            links: count.links,
            copied: copied.copied,
            in_place: copied.in_place,
            skipped: count.skipped,
            some_skipped: skipped,
            manifest,
        }
    }

    /// The files that are in the mirror.
    #[must_use]
    pub fn files(&self) -> Tally {
        self.copied + self.in_place
    }
}

/// A finished run in the words of the process that has finished it.
#[must_use]
pub fn this_process(plan: &Plan, report: &Report, counts: &Counts) -> String {
    let before = report.files() - counts.copied - counts.in_place;
    let mut text = format!("mirrored {} to {}\n", plan.source, plan.target);
    text += &row("of the source", &content(report));
    text += &row("copied by this process", &tally(counts.copied));
    if counts.in_place.files > 0 {
        text += &row("found there, complete", &tally(counts.in_place));
    }
    if before.files > 0 {
        text += &row(
            "recorded before it began",
            &format!("{}, not done again", tally(before)),
        );
    }
    text + &ending(plan, report)
}

/// A run that had finished before this process began.
#[must_use]
pub fn finished_before(plan: &Plan, report: &Report, finished: Timestamp) -> String {
    let mut text = format!(
        "{} was mirrored to {} already; nothing is left to do\n",
        plan.source, plan.target
    );
    text += &row("finished", &format!("{finished}, after {}", took(report)));
    text += &row("of the source", &content(report));
    text += &row("copied", &tally(report.copied));
    if report.in_place.files > 0 {
        text += &row("found there, complete", &tally(report.in_place));
    }
    text += &ending(plan, report);
    text + "\n\nhelp: run the same command with `--again` to mirror what has changed since"
}

fn row(name: &str, value: &dyn fmt::Display) -> String {
    format!("  {name:<26}{value}\n")
}

fn ending(plan: &Plan, report: &Report) -> String {
    let mut text = row("manifest", &StoredPath::of(manifest_path(plan)));
    text += &row("its sha-256", &report.manifest);
    if report.skipped > 0 {
        text += &row("skipped", &plural(report.skipped, "entry", "entries"));
        for skipped in &report.some_skipped {
            text += &format!("    {}: {}\n", skipped.path, skipped.reason);
        }
        let more = report.skipped - report.some_skipped.len() as u64;
        if more > 0 {
            text += &format!(
                "    and {} more, which the manifest names\n",
                HumanCount(more)
            );
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn content(report: &Report) -> String {
    let mut text = tally(report.files());
    text += &format!(" in {}", plural(report.folders + 1, "folder", "folders"));
    if report.links > 0 {
        text += &format!(
            ", {}",
            plural(report.links, "symbolic link", "symbolic links")
        );
    }
    text
}

fn tally(tally: Tally) -> String {
    format!(
        "{}, {}",
        plural(tally.files, "file", "files"),
        DecimalBytes(tally.bytes)
    )
}

fn plural(count: u64, one: &str, more: &str) -> String {
    format!(
        "{} {}",
        HumanCount(count),
        if count == 1 { one } else { more }
    )
}

/// How long it took, from the first start to the end, pauses included.
fn took(report: &Report) -> String {
    let took = report.ended.since(report.began);
    if took.as_secs() < 60 {
        return format!("{:.1} s", took.as_secs_f64());
    }
    indicatif::HumanDuration(took).to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::mirror::Reason;

    fn report(skipped: usize) -> Report {
        let skip = |n| Skipped {
            path: StoredPath::of(format!("log/{n}")),
            reason: Reason::Changed,
        };
        let copied = Copied {
            copied: Tally {
                files: 1_200,
                bytes: 3_500_000,
            },
            in_place: Tally {
                files: 7,
                bytes: 70,
            },
            ..Copied::default()
        };
        let count = Manifest {
            files: Tally::default(),
            links: 1,
            skipped: skipped as u64,
        };
        let at = |seconds: u64| Timestamp::from_millis(1_764_000_000_000 + seconds * 1_000);
        Report::new(
            (at(0), at(130)),
            &copied,
            88,
            &count,
            (0..skipped).map(skip).collect(),
            "ab".repeat(32),
        )
    }

    fn plan() -> Plan {
        Plan {
            source: StoredPath::of("/home/ada/book"),
            target: StoredPath::of("/backup/book"),
        }
    }

    #[test]
    fn what_was_done_here_and_what_before() {
        let counts = Counts {
            copied: Tally {
                files: 200,
                bytes: 500_000,
            },
            in_place: Tally {
                files: 7,
                bytes: 70,
            },
            ..Counts::default()
        };
        insta::assert_snapshot!(this_process(&plan(), &report(52), &counts));
    }

    #[test]
    fn what_was_done_long_ago() {
        insta::assert_snapshot!(finished_before(
            &plan(),
            &report(1),
            Timestamp::from_millis(1_764_000_130_007)
        ));
    }
}
