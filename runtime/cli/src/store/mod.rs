//! `perennial store`: stores in folders, and exports of them.

mod compact;
mod export;
mod import;
mod salvage;
mod stat;
mod text;
mod verify;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Subcommand;
use perennial::Timestamp;
use perennial_runtime::store::{OpenError, SledStore};

use crate::{AnyError, Outcome};

/// What is done with a store.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reads everything and says what is wrong
    ///
    /// A store must not be in use. Reading it opens it, which does what a process that was killed has left
    /// undone. An export is checked to its last line. Exit code 1 when something is wrong.
    Verify {
        /// The folder of a store, or an export
        path: PathBuf,
    },
    /// Counts runs and records, and measures the files
    ///
    /// A store must not be in use. Reading it opens it, which does what a process that was killed has left
    /// undone.
    Stat {
        /// The folder of a store, or an export
        path: PathBuf,
    },
    /// Writes everything to a file of text lines, which can be imported
    ///
    /// The store must not be in use; a program exports its own with `runtime.export(..)` while it runs. The
    /// file holds all inputs and results in clear, and is readable by its owner alone.
    Export {
        /// The folder of the store
        folder: PathBuf,
        /// The export, a new file
        #[arg(long, value_name = "EXPORT")]
        to: PathBuf,
    },
    /// Makes a new store out of an export
    ///
    /// It is made in `<FOLDER>.importing` and has its name when it is complete.
    Import {
        /// The export
        export: PathBuf,
        /// The folder of the store, which must not be there or be empty
        #[arg(long, value_name = "FOLDER")]
        to: PathBuf,
        /// Leave out runs that are not whole, as a salvage may have found them
        #[arg(long)]
        leave_out_partial: bool,
    },
    /// Reads what can be read of a store that is damaged, into an export
    ///
    /// Nothing in the folder is changed. What is not whole is named. Exit code 3 when something was lost.
    Salvage {
        /// The folder of the store
        folder: PathBuf,
        /// The export, a new file
        #[arg(long, value_name = "EXPORT")]
        to: PathBuf,
        /// Where to put what is read meanwhile; it takes up to twice the size of `sled/db`
        /// [default: the folder of the export]
        #[arg(long, value_name = "FOLDER")]
        scratch: Option<PathBuf>,
        /// The copy of sled's file to read [default: the one that gives the most]
        #[arg(long, value_name = "FILE", value_parser = ["sled/db", "db.under-recovery", "db.before-recovery"])]
        from: Option<String>,
    },
    /// Makes a store anew, so that it takes no more space than it needs
    ///
    /// The store must not be in use. The new one is made in `<FOLDER>.compacting`, checked, and put in the
    /// place of the old one in one step. It takes at most as much space as the old one and 112 MiB more
    /// meanwhile.
    Compact {
        /// The folder of the store
        folder: PathBuf,
        /// Delete the old store in place of keeping it as `<FOLDER>.before-compact`
        #[arg(long)]
        discard_old: bool,
    },
}

impl Command {
    /// Does it, and gives what there is to say about it.
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        Ok(match self {
            Self::Verify { path } => verify::run(path)?,
            Self::Stat { path } => (stat::run(path)?, Outcome::Done),
            Self::Export { folder, to } => (export::run(folder, to)?, Outcome::Done),
            Self::Import {
                export,
                to,
                leave_out_partial,
            } => (import::run(export, to, *leave_out_partial)?, Outcome::Done),
            Self::Salvage {
                folder,
                to,
                scratch,
                from,
            } => salvage::run(folder, to, scratch.as_deref(), from.as_deref())?,
            Self::Compact {
                folder,
                discard_old,
            } => (compact::run(folder, *discard_old)?, Outcome::Done),
        })
    }
}

/// Opens the store in a folder, and never makes one.
fn open(folder: &Path) -> Result<SledStore, AnyError> {
    SledStore::open_existing(folder).map_err(not_opened)
}

/// Why a store cannot be opened, and what to do about it from here.
fn not_opened(error: OpenError) -> AnyError {
    match error {
        OpenError::Held { folder, process } => {
            let process = process.map_or("another process".into(), |id| format!("process {id}"));
            format!(
                "the store {} is in use by {process}\n\n\
                 help: call `runtime.export(..)` in that program and look at the export, or stop the program",
                folder.display()
            )
            .into()
        }
        error => error.into(),
    }
}

fn now() -> Timestamp {
    SystemTime::now().into()
}
