//! `perennial store export`.

use std::path::Path;

use perennial_runtime::store::{Store as _, export};

use super::text::size;
use super::verify::counts;
use super::{AnyError, now, open};

pub(super) fn run(folder: &Path, to: &Path) -> Result<String, AnyError> {
    let store = open(folder)?;
    let exported = export::export_to(&store, to, now())?;
    store.close()?;
    Ok(format!(
        "exported {} to {}: {}, {}\n",
        folder.display(),
        to.display(),
        counts(&exported.counts),
        size(exported.bytes)
    ))
}
