//! Why a store cannot be opened.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use perennial::wire::RecordError;

use crate::store::StoreError;

/// Why a store cannot be opened: what happened, where, and what can be done.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum OpenError {
    /// A living process has it open.
    Held {
        /// The store's folder.
        folder: PathBuf,
        /// The number of the process, where it can be read.
        process: Option<u32>,
    },
    /// There is no store, and none was to be made.
    NoStore {
        /// The folder.
        folder: PathBuf,
    },
    /// It was written by newer software.
    Newer {
        /// The store's folder.
        folder: PathBuf,
        /// The layout of the store.
        format: u64,
        /// The highest layout that is understood here.
        understood: u64,
    },
    /// It was written by earlier software, in a layout that is not read any more.
    Older {
        /// The store's folder.
        folder: PathBuf,
        /// The layout of the store.
        format: u64,
        /// The layout that is understood here.
        understood: u64,
    },
    /// [`Durability::Sync`](super::Durability::Sync) was asked for, and the file system cannot promise it.
    NoSync {
        /// The store's folder.
        folder: PathBuf,
        /// The file or folder that cannot have the synchronous attribute.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Something that was written is not there any more, or is not what was written. Nothing was changed
    /// after this was seen.
    Damaged {
        /// The store's folder.
        folder: PathBuf,
        /// What is wrong.
        damage: Damage,
        /// A copy of sled's file from before it was opened, where one was made.
        copy: Option<PathBuf>,
    },
    /// The system said no.
    Io {
        /// The store's folder.
        folder: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: String,
    },
}

/// What is wrong with a store.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Damage {
    /// There is sled's file, but not the file that says what must be in it.
    StateMissing,
    /// The file that says what must be in the store cannot be understood.
    StateUnreadable {
        /// Why.
        problem: RecordError,
    },
    /// The file that says what must be in the store is older than the rest of it.
    StateBehind {
        /// The last commit that, by this file, sled may have anything of.
        noted: u64,
        /// The last that it has.
        found: u64,
    },
    /// sled holds nothing.
    Empty {
        /// A commit that was acknowledged.
        acknowledged: u64,
    },
    /// sled holds less than it had taken over.
    Behind {
        /// A commit that it had.
        acknowledged: u64,
        /// The last that it has.
        found: u64,
    },
    /// There is no journal.
    JournalMissing {
        /// A commit that was acknowledged.
        acknowledged: u64,
    },
    /// The beginning of a segment of the journal cannot be understood.
    JournalHeader {
        /// The segment's number, which is the name of its file.
        segment: u64,
    },
    /// A segment of the journal is missing.
    JournalSegment {
        /// Its number.
        segment: u64,
    },
    /// A segment of the journal is shorter than it was made.
    JournalShort {
        /// Its number.
        segment: u64,
    },
    /// A commit in the journal was acknowledged and is not whole.
    JournalCommit {
        /// The number of the segment that it should be in.
        segment: u64,
        /// The commit.
        commit: u64,
    },
    /// The journal ends before a commit that was acknowledged.
    JournalBehind {
        /// The commit.
        acknowledged: u64,
        /// The last that is there.
        found: u64,
    },
    /// Records are damaged or missing.
    Record {
        /// Which, and how.
        error: StoreError,
    },
    /// sled refused to open its files.
    Refused {
        /// What it said.
        error: String,
    },
    /// sled panicked when it opened its files.
    Panicked {
        /// What it said.
        message: String,
    },
    /// sled did not come to an end opening its files.
    Silent {
        /// How long it had.
        waited: Duration,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StateMissing => f.write_str(
                "`sled/db` is there, but not `perennial.state`, which says what must be in it",
            ),
            Self::StateUnreadable { problem } => write!(f, "`perennial.state`: {problem}"),
            Self::StateBehind { noted, found } => write!(
                f,
                "`perennial.state` is older than the rest: it knows of commit {noted}, but sled has commit {found}"
            ),
            Self::Empty { acknowledged } => {
                write!(f, "it is empty, but commit {acknowledged} was acknowledged")
            }
            Self::Behind {
                acknowledged,
                found,
            } => {
                write!(
                    f,
                    "sled had taken over commit {acknowledged}, but the last one that it has is {found}"
                )
            }
            Self::JournalMissing { acknowledged } => write!(
                f,
                "it has no journal, but commit {acknowledged} was acknowledged"
            ),
            Self::JournalHeader { segment } => write!(
                f,
                "the beginning of segment {segment} of its journal is not what was written"
            ),
            Self::JournalSegment { segment } => {
                write!(f, "segment {segment} of its journal is missing")
            }
            Self::JournalShort { segment } => {
                write!(f, "segment {segment} of its journal has been cut short")
            }
            Self::JournalCommit { segment, commit } => write!(
                f,
                "commit {commit} was acknowledged, but is not whole in segment {segment} of its journal"
            ),
            Self::JournalBehind {
                acknowledged,
                found,
            } => write!(
                f,
                "commit {acknowledged} was acknowledged, but its journal ends with commit {found}"
            ),
            // Its help would repeat ours.
            Self::Record {
                error: StoreError::Damaged { place, problem },
            } => write!(f, "{place}: {problem}"),
            Self::Record { error } => write!(f, "{error}"),
            Self::Refused { error } => write!(f, "sled refuses to open it: {error}"),
            Self::Panicked { message } => write!(f, "sled panicked when it opened it: {message}"),
            Self::Silent { waited } => {
                write!(
                    f,
                    "sled did not finish opening it within {} seconds",
                    waited.as_secs()
                )
            }
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { folder, process } => {
                write!(f, "the store {} is held by ", folder.display())?;
                match process {
                    Some(process) => write!(f, "process {process}")?,
                    None => f.write_str("another process")?,
                }
                f.write_str("\n\nhelp: a store belongs to one process at a time; stop that one, or open another folder")
            }
            Self::NoStore { folder } => write!(
                f,
                "there is no store in {}\n\n\
                 help: a store's folder has the file `perennial.state` in it",
                folder.display()
            ),
            Self::Newer {
                folder,
                format,
                understood,
            } => write!(
                f,
                "the store {} was written by newer software (layout {format}; this one understands up to \
                 {understood})\n\nhelp: run that software, or a newer one; nothing was changed",
                folder.display()
            ),
            Self::Older {
                folder,
                format,
                understood,
            } => write!(
                f,
                "the store {} was written by an earlier version (layout {format}; this one understands \
                 {understood})\n\nhelp: finish its runs with the version that wrote it, or export them with it and \
                 import them here; nothing was changed",
                folder.display()
            ),
            Self::NoSync {
                folder,
                path,
                reason,
            } => write!(
                f,
                "the store {} cannot be made to survive a power cut: {} does not take the synchronous attribute \
                 ({reason})\n\n\
                 help: choose a folder on a file system that has it, such as ext4, or open the store with \
                 `Durability::Os`: it then survives the end of the process, but not that of the power",
                folder.display(),
                path.display()
            ),
            Self::Damaged {
                folder,
                damage,
                copy,
            } => {
                write!(f, "the store {} is damaged: {damage}", folder.display())?;
                write!(
                    f,
                    "\n\nhelp: restore a backup if there is one; otherwise \
                     `perennial store salvage {} --to <export>` reads what can be read, and changes nothing in it",
                    folder.display()
                )?;
                match copy {
                    Some(copy) => write!(
                        f,
                        "; {}, the data as it was before sled opened it, is read too",
                        copy.display()
                    ),
                    None => Ok(()),
                }
            }
            Self::Io {
                folder,
                what,
                error,
            } => {
                write!(
                    f,
                    "the store {} cannot be opened: {what}: {error}",
                    folder.display()
                )
            }
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for OpenError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_text() {
        let folder = || PathBuf::from("data");
        let problem = || RecordError::Damaged {
            problem: "the checksum does not fit",
        };
        let damages = [
            Damage::StateMissing,
            Damage::StateUnreadable { problem: problem() },
            Damage::StateBehind { noted: 3, found: 7 },
            Damage::Empty { acknowledged: 7 },
            Damage::Behind {
                acknowledged: 7,
                found: 3,
            },
            Damage::JournalMissing { acknowledged: 7 },
            Damage::JournalHeader { segment: 2 },
            Damage::JournalSegment { segment: 2 },
            Damage::JournalShort { segment: 2 },
            Damage::JournalCommit {
                segment: 2,
                commit: 7,
            },
            Damage::JournalBehind {
                acknowledged: 7,
                found: 3,
            },
            Damage::Record {
                error: StoreError::Damaged {
                    place: "the head of run order-42".into(),
                    problem: problem(),
                },
            },
            Damage::Refused {
                error: "corruption".into(),
            },
            Damage::Panicked {
                message: "index out of bounds".into(),
            },
            Damage::Silent {
                waited: Duration::from_secs(60),
            },
        ];
        let mut errors = vec![
            OpenError::Held {
                folder: folder(),
                process: Some(4_711),
            },
            OpenError::Held {
                folder: folder(),
                process: None,
            },
            OpenError::NoStore { folder: folder() },
            OpenError::Newer {
                folder: folder(),
                format: 9,
                understood: 1,
            },
            OpenError::Older {
                folder: folder(),
                format: 1,
                understood: 2,
            },
            OpenError::NoSync {
                folder: folder(),
                path: folder().join("sled"),
                reason: "Operation not supported (os error 95)".into(),
            },
            OpenError::Io {
                folder: folder(),
                what: "creating the folder",
                error: "Permission denied (os error 13)".into(),
            },
            OpenError::Damaged {
                folder: folder(),
                damage: Damage::Empty { acknowledged: 7 },
                copy: Some(folder().join("db.under-recovery")),
            },
        ];
        errors.extend(damages.map(|damage| OpenError::Damaged {
            folder: folder(),
            damage,
            copy: None,
        }));
        let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(texts.join("\n---\n"));
    }
}
