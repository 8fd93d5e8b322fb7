//! A copy of a store's folder, to be looked at: opening a store writes, and what is only looked at must stay as
//! it is.

use std::fs;
use std::io;
use std::path::Path;

use super::OpenError;
use super::lock::{self, NotLocked};
use super::{folder, journal, state};

/// Copies what the store in `folder` needs to be opened into the folder `to`, which is there and empty. Nothing in
/// `folder` is changed, and nobody can open it meanwhile. The copy takes as much space as the store.
///
/// # Errors
///
/// [`OpenError`]: there is no store, it is in use, or it cannot be copied.
pub fn copy(folder: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), OpenError> {
    let (from, to) = (folder.as_ref(), to.as_ref());
    if !folder::is_store(from) {
        return Err(OpenError::NoStore {
            folder: from.into(),
        });
    }
    let failed = |error: io::Error| OpenError::Io {
        folder: from.into(),
        what: "copying it",
        error: error.to_string(),
    };
    let _held = lock::hold(from).map_err(|error| match error {
        NotLocked::Held(process) => OpenError::Held {
            folder: from.into(),
            process,
        },
        NotLocked::Io(error) => failed(error),
    })?;
    let parts = [
        state::path(from),
        journal::folder(from),
        folder::sled(from),
        folder::under_recovery(from),
    ];
    for part in parts.iter().filter(|part| part.exists()) {
        let name = part.file_name().unwrap_or_default();
        copy_all(part, &to.join(name)).map_err(failed)?;
    }
    Ok(())
}

/// Copies a file, or a folder with all that is in it.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
