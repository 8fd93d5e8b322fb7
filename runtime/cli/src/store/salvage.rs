//! `perennial store salvage`.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::path::Path;

use perennial_runtime::store::export::PartialRun;
use perennial_runtime::store::sled::{Candidate, Differs, Salvage, Salvaged};

use super::text::{count, size};
use super::verify::counts;
use super::{AnyError, Outcome, now};

/// So much of a kind is told.
const MOST: usize = 50;

pub(super) fn run(
    folder: &Path,
    to: &Path,
    scratch: Option<&Path>,
    from: Option<&str>,
) -> Result<(String, Outcome), AnyError> {
    let mut salvage = Salvage::default();
    if let Some(scratch) = scratch {
        salvage = salvage.scratch(scratch);
    }
    if let Some(from) = from {
        salvage = salvage.file(from);
    }
    let salvaged = salvage.run(folder, to, now())?;
    let mut text = format!(
        "salvaged {} to {}: {}\n",
        folder.display(),
        to.display(),
        counts(&salvaged.exported.counts)
    );
    if salvaged.is_whole() {
        text.push_str("nothing that was acknowledged is known to be missing\n");
    }
    tell_source(&mut text, &salvaged);
    tell_losses(&mut text, &salvaged);
    let outcome = if salvaged.is_whole() {
        Outcome::Done
    } else {
        Outcome::Lossy
    };
    tell_help(&mut text, &salvaged, to);
    Ok((text, outcome))
}

fn tell_source(text: &mut String, salvaged: &Salvaged) {
    for problem in &salvaged.problems {
        let _ = writeln!(text, "found: {problem}");
    }
    for candidate in &salvaged.candidates {
        let Candidate {
            file,
            applied,
            whole,
            partial,
            unreadable,
            pages_lost,
            ..
        } = candidate;
        let name = file.unwrap_or("the journal alone");
        let used = if *file == salvaged.file {
            "read"
        } else {
            "not used"
        };
        let commit = match applied {
            0 => String::new(),
            commit => format!(", up to commit {commit}"),
        };
        let _ = write!(
            text,
            "{used}: {name}{commit}: {} whole, {partial} not",
            count(*whole, "run", "runs")
        );
        if *unreadable > 0 {
            let _ = write!(text, "; {} are not what was written", size(*unreadable));
        }
        if *pages_lost > 0 {
            let _ = write!(
                text,
                "; {}",
                count(*pages_lost, "page is incomplete", "pages are incomplete")
            );
        }
        text.push('\n');
    }
}

fn tell_losses(text: &mut String, salvaged: &Salvaged) {
    if !salvaged.lost_commits.is_empty() {
        let rows = salvaged.lost_commits.iter().map(|&(from, to)| match to {
            to if to == from => from.to_string(),
            to => format!("{from} to {to}"),
        });
        let rows: Vec<_> = rows.collect();
        let one = matches!(salvaged.lost_commits[..], [(from, to)] if from == to);
        let _ = writeln!(
            text,
            "lost: {} {}; a run that was changed by what is lost may stand where it stood before",
            if one { "commit" } else { "commits" },
            rows.join(", ")
        );
    }
    for differs in &salvaged.differs {
        let Differs {
            kind, had, found, ..
        } = differs;
        let _ = match found.cmp(had) {
            Ordering::Less => writeln!(text, "lost: {} of {had} {kind}", had - found),
            Ordering::Equal => writeln!(text, "changed: some of {had} {kind}"),
            Ordering::Greater => {
                writeln!(text, "there again: {} {kind} that were gone", found - had)
            }
        };
    }
    if salvaged.unchecked {
        text.push_str("not known: how many records of each kind there should be\n");
    }
    if salvaged.short_journal {
        text.push_str("not known: what was at the end of the journal\n");
    }
    if salvaged.expected_runs.is_none() {
        text.push_str("not known: how many runs there should be\n");
    }
    let missing = salvaged.missing_runs();
    if missing > 0 {
        let _ = writeln!(
            text,
            "lost: {} of which there is nothing left",
            count(missing, "run", "runs")
        );
    }
    if salvaged.restoring > 0 {
        let runs = count(salvaged.restoring, "run", "runs");
        let _ = writeln!(text, "left out: {runs} of an import that was not finished");
    }
    let partial = salvaged.partial.len() as u64;
    if partial > 0 {
        let _ = writeln!(text, "not whole: {}", count(partial, "run", "runs"));
        tell_all(text, &salvaged.partial);
    }
    let reduced = salvaged.reduced.len() as u64;
    if reduced > 0 {
        let _ = writeln!(
            text,
            "whole, but not all of it: {}",
            count(reduced, "run", "runs")
        );
        tell_all(text, &salvaged.reduced);
    }
    let damages = &salvaged.damages;
    if damages.total() > 0 {
        let kinds = damages.kinds.iter();
        let kinds: Vec<_> = kinds
            .map(|(kind, number)| format!("{number} {kind}"))
            .collect();
        let _ = writeln!(text, "damaged records: {}", kinds.join(", "));
        for told in damages.told.iter().take(MOST) {
            let _ = writeln!(text, "  {told}");
        }
        tell_rest(text, damages.total());
    }
}

fn tell_all(text: &mut String, runs: &[PartialRun]) {
    for run in runs.iter().take(MOST) {
        tell(text, run);
    }
    tell_rest(text, runs.len() as u64);
}

fn tell_rest(text: &mut String, all: u64) {
    let rest = all.saturating_sub(MOST as u64);
    if rest > 0 {
        let _ = writeln!(text, "  and {rest} more");
    }
}

/// Says what is wrong with a run.
pub(super) fn tell(text: &mut String, run: &PartialRun) {
    let first = run.problems.first().map_or("", String::as_str);
    let _ = write!(text, "  {}: {first}", run.run);
    if run.problems.len() > 1 {
        let _ = write!(text, ", and {} more", run.problems.len() - 1);
    }
    text.push('\n');
}

fn tell_help(text: &mut String, salvaged: &Salvaged, to: &Path) {
    let leave_out = if salvaged.partial.is_empty() {
        ""
    } else {
        " --leave-out-partial"
    };
    let _ = writeln!(
        text,
        "\nhelp: `perennial store import {} --to <folder>{leave_out}` makes a store of it; keep the damaged one until \
         then",
        to.display()
    );
}
