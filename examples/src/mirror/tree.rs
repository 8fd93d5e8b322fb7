//! What is listed, and what becomes of it. All of it is stored in histories.

use std::fmt;
use std::fs::{FileTimes, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::StoredPath;

/// The bits of a mode that are kept. Setuid and setgid are not: the copy belongs to another owner.
const MODE: u32 = 0o777;

/// When something was changed: seconds since 1970, and nanoseconds after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modified(i64, u32);

impl Modified {
    /// As the file system tells it.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self(
            metadata.mtime(),
            u32::try_from(metadata.mtime_nsec()).unwrap_or(0),
        )
    }

    /// To be set on a copy.
    pub fn times(self) -> FileTimes {
        let Self(seconds, nanos) = self;
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let base = if seconds < 0 {
            UNIX_EPOCH.checked_sub(whole)
        } else {
            UNIX_EPOCH.checked_add(whole)
        };
        let time: Option<SystemTime> =
            base.and_then(|base| base.checked_add(Duration::from_nanos(nanos.into())));
        time.map_or_else(FileTimes::new, |time| FileTimes::new().set_modified(time))
    }
}

/// The permission bits that are kept.
#[must_use]
pub(super) fn mode_of(metadata: &Metadata) -> u32 {
    metadata.mode() & MODE
}

/// A folder of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Below the source.
    pub path: StoredPath,
    /// Its permission bits.
    pub mode: u32,
    /// When it was changed.
    pub modified: Modified,
}

/// A regular file of the source, as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Below the source.
    pub path: StoredPath,
    /// In bytes.
    pub size: u64,
    /// Its permission bits.
    pub mode: u32,
    /// When it was changed.
    pub modified: Modified,
}

impl File {
    /// The file at `path` with this metadata.
    #[must_use]
    pub fn new(path: StoredPath, metadata: &Metadata) -> Self {
        Self {
            path,
            size: metadata.len(),
            mode: mode_of(metadata),
            modified: Modified::of(metadata),
        }
    }
}

/// A file and what was in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashedFile {
    /// The file.
    #[serde(flatten)]
    pub file: File,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// A symbolic link of the source. It is mirrored as it is, wherever it points to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Link {
    /// Below the source.
    pub path: StoredPath,
    /// What it says.
    pub to: StoredPath,
}

/// Something that is not in the mirror, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// Below the source.
    pub path: StoredPath,
    /// Why.
    pub reason: Reason,
}

/// Why something is not in the mirror.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// Whenever it was read it was another.
    Changed,
    /// It was listed, and then it was gone.
    Vanished,
    /// It was listed as a file, and then it was something else.
    Replaced,
    /// It could not be read.
    Unreadable {
        /// What the system said.
        error: String,
    },
    /// It is neither file, folder nor link.
    Special {
        /// What it is.
        kind: String,
    },
    /// Its name is one that a mirror uses for itself.
    Reserved,
}

impl Reason {
    /// Why what cannot be read cannot be read.
    #[must_use]
    pub fn of(error: &io::Error) -> Self {
        // What `O_NOFOLLOW` says of a link.
        if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            return Self::Replaced;
        }
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Vanished,
            _ => Self::Unreadable {
                error: error.to_string(),
            },
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("changed meanwhile, each time that it was read"),
            Self::Vanished => f.write_str("vanished after it was listed"),
            Self::Replaced => f.write_str("was listed as a file, and is something else now"),
            Self::Unreadable { error } => write!(f, "cannot be read: {error}"),
            Self::Special { kind } => write!(f, "is a {kind}, which has no content to mirror"),
            Self::Reserved => f.write_str("has a name that mirrors use for themselves"),
        }
    }
}

/// Files, and the bytes in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many files.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl Tally {
    /// Counts a file.
    pub fn add(&mut self, size: u64) {
        self.files += 1;
        self.bytes += size;
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
    }
}

impl std::ops::Sub for Tally {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            files: self.files.saturating_sub(other.files),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

impl std::ops::Add for Tally {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}
