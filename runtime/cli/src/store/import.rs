//! `perennial store import`.

use std::fmt::Write as _;
use std::path::Path;

use perennial_runtime::store::export::PartialRuns;
use perennial_runtime::store::sled;

use super::AnyError;
use super::text::count;
use super::verify::counts;

pub(super) fn run(export: &Path, to: &Path, leave_out: bool) -> Result<String, AnyError> {
    let partial = if leave_out {
        PartialRuns::LeaveOut
    } else {
        PartialRuns::Refuse
    };
    let imported = sled::import(export, to, partial)?;
    let mut text = format!(
        "imported {} to {}: {}\n",
        export.display(),
        to.display(),
        counts(&imported.counts)
    );
    if !imported.left_out.is_empty() {
        let runs = count(imported.left_out.len() as u64, "run", "runs");
        let _ = writeln!(text, "left out, since they are not whole: {runs}");
        for run in &imported.left_out {
            super::salvage::tell(&mut text, run);
        }
    }
    Ok(text)
}
