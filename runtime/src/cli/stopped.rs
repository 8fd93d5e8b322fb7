//! Writing to a store that no program has open.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;

use crate::builder::{Builder, StoreSource};
use crate::store::{Ack, OpenError, SledStore, Store, StoreError};

/// Works on the store in `folder`, or on that of the builder. One in a folder is opened, never made, and closed.
pub(super) fn with<T, E: From<OpenError> + From<StoreError>>(
    builder: &Builder,
    folder: Option<PathBuf>,
    work: impl FnOnce(&dyn Store) -> Result<T, E>,
) -> Result<T, E> {
    let folder = match (&builder.store, folder) {
        (_, Some(folder)) => folder,
        (StoreSource::Folder(folder), None) => folder.clone(),
        // It belongs to whoever opened it.
        (StoreSource::Store(store), None) => return work(&**store),
    };
    let options = SledStore::options()
        .durability(builder.durability)
        .existing();
    let store = Arc::new(options.open(folder)?);
    let result = work(&*store);
    store.close()?;
    result
}

/// Waits for the fate of a write.
pub(super) fn wait<T: Send + 'static>(write: impl FnOnce(Ack<T>)) -> Result<T, StoreError> {
    let (answer, answered) = channel();
    write(Box::new(move |result| drop(answer.send(result))));
    answered.recv().unwrap_or_else(|_| {
        Err(StoreError::Unknown {
            reason: "it did not answer".into(),
        })
    })
}

/// Why it was not opened; where a program has it open, what that program can call.
pub(super) fn not_opened(f: &mut fmt::Formatter<'_>, error: &OpenError, call: &str) -> fmt::Result {
    let OpenError::Held { folder, process } = error else {
        return fmt::Display::fmt(error, f);
    };
    let process = process.map_or("another process".into(), |id| format!("process {id}"));
    let folder: &Path = folder;
    write!(
        f,
        "the store {} is in use by {process}\n\nhelp: call `{call}` in that program, or stop the program",
        folder.display()
    )
}
