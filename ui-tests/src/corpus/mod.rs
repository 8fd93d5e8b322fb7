//! The corpus: workflows that are not deterministic, each of which one of four must find, and workflows that
//! look it and are harmless, of which none may be found.
//!
//! | who | how |
//! |---|---|
//! | macro | `cargo check`: the attributes, and the type of what is awaited |
//! | clippy | `cargo clippy` with the fragment of `clippy.toml` that is shipped |
//! | perturbed run | the test kit replays the run on another thread |
//! | sandbox | the same, where the sandbox is linked: in a changed world, then strictly |
//!
//! Each gets what those before it have not found; the harmless ones go through all. A file of
//! `corpus/nondeterministic/` says in its second line who finds it, and that has to be so.

mod case;
mod compiler;
mod package;
mod report;
mod runs;

use crate::AnyError;
use crate::workspace::Workspace;

pub use self::case::{Case, Kind};
pub use self::report::{Finder, Report, Verdict};

/// Sends all of the corpus through all four.
///
/// # Errors
///
/// When the corpus cannot be read, or cargo cannot be run.
pub fn judge() -> Result<Report, AnyError> {
    let cases = case::all()?;
    let workspace = Workspace::locate("corpus", "line-tables-only")?;
    let mut report = Report::new(cases);
    // rustc looks at types only where the attributes have nothing to say.
    while report.note(&mut |open| compiler::check(&workspace, open))? {}
    report.note(&mut |open| compiler::clippy(&workspace, open))?;
    let programs = runs::Programs::build(&workspace, &report.open())?;
    report.note(&mut |open| programs.perturbed(open))?;
    report.note(&mut |open| programs.in_a_changed_world(open))?;
    report.note(&mut |open| programs.strictly(open))?;
    Ok(report)
}
