//! `perennial store compact`.

use std::fmt::Write as _;
use std::path::Path;

use perennial_runtime::store::sled::{self, CompactError};

use super::text::size;
use super::verify::counts;
use super::{AnyError, not_opened};

pub(super) fn run(folder: &Path, discard_old: bool) -> Result<String, AnyError> {
    let compacted = sled::compact(folder, discard_old).map_err(|error| match error {
        CompactError::Open(error) => not_opened(error),
        error => error.into(),
    })?;
    let mut text = format!(
        "compacted {}: {} before, {} now; {}\n",
        folder.display(),
        size(compacted.before),
        size(compacted.after),
        counts(&compacted.counts)
    );
    let _ = match &compacted.old {
        Some(old) => writeln!(
            text,
            "the old store is {}; delete it when the new one has been used",
            old.display()
        ),
        None => writeln!(text, "the old store was deleted"),
    };
    Ok(text)
}
