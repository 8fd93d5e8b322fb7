//! Why a run ends early. What is wrong with one file of the source is no problem in this sense: that file is
//! skipped, with its [`Reason`](super::Reason).

use std::fmt;
use std::io;
use std::path::Path;

use indicatif::{DecimalBytes, HumanCount};
use serde::{Deserialize, Serialize};

use super::StoredPath;

/// Why a run ends early: the final "no" of an activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Problem {
    /// The source itself cannot be read.
    Source {
        /// The source.
        source: StoredPath,
        /// What the system said.
        error: String,
    },
    /// There is no room for a file. Not taken for a failure that passes: who has to make room should hear of
    /// it now, and not after a night of attempts.
    Full {
        /// What there was no room for.
        path: StoredPath,
        /// How many bytes it needs, where that is known.
        needed: Option<u64>,
        /// How many bytes are free, where the system says so.
        free: Option<u64>,
        /// What the system said.
        error: String,
    },
    /// The target has something that is not replaced where an entry must go.
    InTheWay {
        /// Where.
        path: StoredPath,
        /// What is there.
        found: String,
        /// What must go there.
        wanted: String,
    },
    /// The target cannot be written.
    Target {
        /// What was tried.
        doing: String,
        /// Where.
        path: StoredPath,
        /// What the system said.
        error: String,
    },
    /// What was written is not what was read back.
    NotAsWritten {
        /// Where.
        path: StoredPath,
    },
    /// What is in the target is not what this run has put there.
    Altered {
        /// What is wrong.
        what: String,
    },
}

/// Said by all problems that a second run solves once their cause is gone.
const THEN: &str = "then run the same command with `--again`; what is in place is not copied again";

impl Problem {
    /// What a failure to write `path` is.
    #[must_use]
    pub fn writing(doing: &str, path: &Path, needed: Option<u64>, error: &io::Error) -> Self {
        let stored = StoredPath::of(path);
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full {
                path: stored,
                needed,
                free: free_bytes(path),
                error: error.to_string(),
            },
            _ => Self::Target {
                doing: doing.to_owned(),
                path: stored,
                error: error.to_string(),
            },
        }
    }
}

/// The free bytes of the file system that `path` is, or would be, on.
fn free_bytes(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|path| path.exists())?;
    let system = rustix::fs::statvfs(there).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} bytes"),
        _ => format!("{} bytes ({})", HumanCount(count), DecimalBytes(count)),
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source { source, error } => write!(
                f,
                "the source {source} cannot be read: {error}\n\nhelp: make it readable, {THEN}"
            ),
            Self::Full {
                path,
                needed,
                free,
                error,
            } => {
                write!(f, "there is no room in the target for {path}: {error}")?;
                if let Some(needed) = needed {
                    write!(f, "\n  needed  {}", bytes(*needed))?;
                }
                if let Some(free) = free {
                    write!(f, "\n  free    {}", bytes(*free))?;
                }
                write!(f, "\n\nhelp: make room, {THEN}")
            }
            Self::InTheWay {
                path,
                found,
                wanted,
            } => write!(
                f,
                "the target has a {found} where a {wanted} must go: {path}\n\n\
                 help: a mirror deletes nothing: move it away, {THEN}"
            ),
            Self::Target { doing, path, error } => {
                write!(
                    f,
                    "the target cannot be written: {doing} {path}: {error}\n\nhelp: remove the cause, {THEN}"
                )
            }
            Self::NotAsWritten { path } => write!(
                f,
                "{path} was written, but reads back as something else; it was not put in place\n\n\
                 help: check the disk that the target is on, {THEN}"
            ),
            Self::Altered { what } => write!(
                f,
                "the target was altered while the run was under way: {what}\n\n\
                 help: leave the target's folder `.mirror` alone, {THEN}"
            ),
        }
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_says_what_is_needed_and_what_there_is() {
        let error = io::Error::from(io::ErrorKind::StorageFull);
        let problem = Problem::writing("writing", Path::new("/"), Some(5_000_000), &error);
        assert!(matches!(
            problem,
            Problem::Full {
                needed: Some(5_000_000),
                free: Some(_),
                ..
            }
        ));
        let problem = Problem::Full {
            path: StoredPath::of("/backup/video.mp4"),
            needed: Some(5_000_000),
            free: Some(812),
            error: "no storage space".into(),
        };
        assert_eq!(
            problem.to_string(),
            "there is no room in the target for /backup/video.mp4: no storage space\n  \
               needed  5,000,000 bytes (5.00 MB)\n  \
               free    812 bytes\n\n\
             help: make room, then run the same command with `--again`; what is in place is not copied again"
        );
    }
}
