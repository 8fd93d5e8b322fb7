//! Why a store was not salvaged.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::store::StoreError;
use crate::store::export::ExportError;

/// Why a store was not salvaged. Nothing was changed, and nothing was written.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum SalvageError {
    /// There is no store in the folder, and nothing that is left of one.
    NoStore {
        /// The folder.
        folder: PathBuf,
    },
    /// A living process has the store open.
    Held {
        /// The store's folder.
        folder: PathBuf,
        /// The number of the process, where it can be read.
        process: Option<u32>,
    },
    /// The store has another layout than this software reads.
    Layout {
        /// The store's folder.
        folder: PathBuf,
        /// The layout of the store.
        format: u64,
        /// The layout that is understood here.
        understood: u64,
    },
    /// There is no such copy of sled's file.
    NoFile {
        /// The store's folder.
        folder: PathBuf,
        /// Which.
        file: String,
    },
    /// The export or the scratch folder would be in the store's folder, where nothing may change.
    Inside {
        /// The store's folder.
        folder: PathBuf,
        /// The place that is in it.
        place: PathBuf,
    },
    /// There is too little space for what is read.
    NoRoom {
        /// Where.
        folder: PathBuf,
        /// How much is needed, in bytes.
        needed: u64,
        /// How much is free, in bytes.
        free: u64,
    },
    /// The export could not be written.
    Export(ExportError),
    /// The system said no.
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        error: String,
    },
}

impl SalvageError {
    pub(super) fn io(what: impl Into<String>) -> impl Fn(&dyn fmt::Display) -> Self {
        let what = what.into();
        move |error| Self::Io {
            what: what.clone(),
            error: error.to_string(),
        }
    }
}

impl fmt::Display for SalvageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStore { folder } => write!(
                f,
                "there is no store in {}, nor anything that is left of one",
                folder.display()
            ),
            Self::Held { folder, process } => {
                write!(f, "the store {} is in use by ", folder.display())?;
                match process {
                    Some(process) => write!(f, "process {process}")?,
                    None => f.write_str("another process")?,
                }
                f.write_str("\n\nhelp: stop it first, or salvage a copy of the folder")
            }
            Self::Layout {
                folder,
                format,
                understood,
            } => write!(
                f,
                "the store {} has layout {format}, and this software reads layout {understood}\n\n\
                 help: salvage it with the version that wrote it",
                folder.display()
            ),
            Self::NoFile { folder, file } => write!(
                f,
                "there is no {file} in {}\n\n\
                 help: it is one of `sled/db`, `db.under-recovery` and `db.before-recovery`",
                folder.display()
            ),
            Self::Inside { folder, place } => write!(
                f,
                "{} is in the store's folder {}, in which a salvage changes nothing\n\n\
                 help: choose another place",
                place.display(),
                folder.display()
            ),
            Self::NoRoom {
                folder,
                needed,
                free,
            } => write!(
                f,
                "there is too little space in {}: what is read may take {} MiB, and {} MiB are free\n\n\
                 help: `--scratch` names another folder for it",
                folder.display(),
                needed.div_ceil(1 << 20),
                free >> 20
            ),
            Self::Export(error) => error.fmt(f),
            Self::Io { what, error } => write!(f, "the store was not salvaged: {what}: {error}"),
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for SalvageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SalvageError {}

impl From<ExportError> for SalvageError {
    fn from(error: ExportError) -> Self {
        Self::Export(error)
    }
}

/// Of the export.
impl From<io::Error> for SalvageError {
    fn from(error: io::Error) -> Self {
        Self::Export(error.into())
    }
}

/// Of the scratch folder: what is in it is whole.
impl From<StoreError> for SalvageError {
    fn from(error: StoreError) -> Self {
        Self::io("reading back what was read")(&error)
    }
}
