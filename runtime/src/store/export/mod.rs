//! Exports: all that a store keeps, as text.
//!
//! An export is what a backup is made of, what a store is moved or [compacted](crate::store::sled::compact)
//! through, and what can be looked at without the program whose runs it holds. It can be taken of a store
//! that is in use. **It holds all inputs, results and errors in clear**; the file is readable by its owner
//! alone.
//!
//! # The format
//!
//! A line is one JSON object. The first line says that this is an export, and of which format; the last one
//! says what there is, and has the SHA-256 of all lines before it, so that an export that was cut short or
//! changed is an error. Between them stand the programs in the order of their artifacts, and then the runs in
//! the order of their namespaces and ids, each as it was at one moment:
//!
//! | line | what it holds |
//! |---|---|
//! | `{"export":{"format":1,..}}` | the number of the format, who wrote it and when |
//! | `{"program":{..}}` | what a program could run that had the store open; all of them, before the runs |
//! | `{"run":..,"head":{..},"sum":".."}` | begins a run; `sum` is the beginning of the SHA-256 of all lines before |
//! | `{"run":..,"key":{..}}` | a send that it knows by its idempotency key |
//! | `{"run":..,"offer":{..}}` | an operation that somebody outside completes, and what has become of it |
//! | `{"run":..,"task":{..}}` | an open task |
//! | `{"run":..,"timer":{..}}` | a timer |
//! | `{"run":..,"row":{..}}` | a row of its queue |
//! | `{"run":..,"blocked":{..}}` | why a program could not go on with it |
//! | `{"run":..,"generation":1,"unit":{..}}` | an event that the world caused, and the decisions that followed |
//! | `{"run":..,"generation":1,"attempt":{..}}` | an attempt that brought no result |
//! | `{"run":..,"withdrawn":".."}` | the run was purged or changed meanwhile: what was said of it does not count |
//! | `{"run":..,"partial":{..},"sum":".."}` | in place of a head, where a salvage could not read all of a run: what is missing |
//! | `{"end":{..},"sha256":".."}` | how many there are of each kind, and the checksum |
//!
//! Points in time are milliseconds since 1970. A reader passes over fields that it does not know, and refuses
//! lines that it does not know; a format that an older reader could misunderstand has a higher number, and is
//! refused by it as [`Unreadable::Newer`].

mod contents;
mod error;
mod file;
mod format;
mod import;
mod inbox;
mod offers;
mod reader;
mod run;
mod writer;

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

use perennial::Timestamp;

pub use contents::{Contents, PartialRun};
pub use error::{ExportError, ImportError, Unreadable};
pub(in crate::store) use file::NewFile;
pub use format::{Begin, Counts};
pub(crate) use format::{Content, hex};
pub use import::{Imported, PartialRuns, import};
pub(crate) use import::{OneRun, import_run};
pub use reader::Reader;
pub(crate) use reader::Step;
pub use writer::Exported;
pub(in crate::store) use writer::Writer;

use super::contract::Store;
use super::runs;

/// Writes all runs of all namespaces to `out`. Others may write to the store meanwhile: each run is as it was
/// at one moment. Runs that begin meanwhile may be in it or not.
///
/// # Errors
///
/// [`ExportError`]. A run that cannot be read is an error too; nothing is passed over.
pub fn export(store: &dyn Store, out: impl Write, at: Timestamp) -> Result<Exported, ExportError> {
    let (_, exported) = write(store, out, at)?;
    Ok(exported)
}

/// Writes an [`export`] to a new file, which only its owner can read. It has its name when it is complete, and
/// is on the device then.
///
/// # Errors
///
/// [`ExportError`]; there is no such file then.
pub fn export_to(
    store: &dyn Store,
    path: impl AsRef<Path>,
    at: Timestamp,
) -> Result<Exported, ExportError> {
    let (file, exported) = write(store, NewFile::create(path.as_ref())?, at)?;
    file.finish()?;
    Ok(exported)
}

fn write<W: Write>(store: &dyn Store, out: W, at: Timestamp) -> Result<(W, Exported), ExportError> {
    let mut writer = Writer::begin(out, at)?;
    writer.programs(store.programs()?)?;
    runs::each(store, |run, head| {
        run::write(store, &run, head.generation, &mut writer)
    })?;
    Ok(writer.end()?)
}

/// Begins to read the export in a file.
///
/// # Errors
///
/// [`Unreadable`].
pub fn open(path: impl AsRef<Path>) -> Result<Reader<BufReader<File>>, Unreadable> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error: io::Error| Unreadable::Io {
        name: name.clone(),
        error: error.to_string(),
    })?;
    Reader::new(BufReader::with_capacity(1 << 16, file), name)
}
