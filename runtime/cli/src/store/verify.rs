//! `perennial store verify`.

use std::fmt::Write as _;
use std::path::Path;

use perennial_runtime::store::export::{self, Contents, Counts};
use perennial_runtime::store::{Store as _, StoreError};

use super::text::count;
use super::{AnyError, Outcome, open};

pub(super) fn run(path: &Path) -> Result<(String, Outcome), AnyError> {
    if path.is_file() {
        return of_export(path);
    }
    let store = open(path)?;
    let report = store.verify()?;
    store.close()?;
    let counts = [
        count(report.runs, "run", "runs"),
        count(report.generations, "generation", "generations"),
        count(report.units, "unit", "units"),
        count(report.events, "event", "events"),
        count(report.records, "record", "records"),
    ]
    .join(", ");
    let shown = path.display();
    if report.is_whole() {
        return Ok((format!("{shown} is whole: {counts}\n"), Outcome::Done));
    }
    let problems = report.problems.len() as u64;
    let mut text = format!(
        "{shown} is damaged: {}{}\n",
        count(problems, "problem", "problems"),
        if report.more_problems {
            " and more"
        } else {
            ""
        }
    );
    for problem in &report.problems {
        let _ = match problem {
            // What there is to do about it stands below.
            StoreError::Damaged { place, problem } => writeln!(text, "  {place}: {problem}"),
            other => writeln!(text, "  {other}"),
        };
    }
    let _ = write!(
        text,
        "read: {counts}\n\n\
         help: runs that are not named are whole, and go on; restore a backup if there is one; otherwise \
         `perennial store salvage {shown} --to <export>` reads what can be read\n"
    );
    Ok((text, Outcome::Wrong))
}

fn of_export(path: &Path) -> Result<(String, Outcome), AnyError> {
    let contents = Contents::read(export::open(path)?)?;
    let (shown, counts) = (path.display(), counts(&contents.counts));
    if contents.partial.is_empty() {
        return Ok((format!("{shown} is whole: {counts}\n"), Outcome::Done));
    }
    let partial = contents.partial.len() as u64;
    let mut text = format!(
        "{shown} is as it was written: {counts}; and {}:\n",
        count(partial, "run that is not whole", "runs that are not whole")
    );
    for run in &contents.partial {
        super::salvage::tell(&mut text, run);
    }
    Ok((text, Outcome::Wrong))
}

/// What is in an export.
pub(super) fn counts(counts: &Counts) -> String {
    [
        count(counts.runs, "run", "runs"),
        count(counts.generations, "generation", "generations"),
        count(counts.units, "unit", "units"),
        count(counts.events, "event", "events"),
    ]
    .join(", ")
}
