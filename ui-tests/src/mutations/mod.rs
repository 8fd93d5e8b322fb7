//! Mutations of workflows that have runs in flight: each change that makes a workflow decide something else is
//! found by the lock when it is compiled, or in the replay of a recorded history, at the first event that differs;
//! and no change is found that decides the same.
//!
//! The originals in `mutations/originals/` record runs that take different ways. Each mutant is given each
//! prefix of each of these histories, and what the replay says is compared with the truth: where the mutant itself,
//! without any replay, first decides something else in the same world. Then the lock is asked: the original is
//! released, the mutant is what is compiled now.
//!
//! Beside the mutants that are written by hand, with what is expected of each, are those that a machine makes.

mod edit;
mod expected;
mod judged;
mod lock;
mod made;
mod mutant;
mod original;
mod package;
mod places;
mod protocol;
mod report;
mod twins;

use std::collections::BTreeMap;

use crate::AnyError;
use crate::workspace::Workspace;

pub use self::expected::Expected;
pub use self::report::Report;

/// Judges all mutants.
///
/// # Errors
///
/// When the originals cannot be read, do not compile or do not record their runs, or cargo cannot be run.
pub fn judge() -> Result<Report, AnyError> {
    let workspace = Workspace::locate("mutations")?;
    let mut originals = Vec::new();
    let mut made = BTreeMap::<String, usize>::new();
    for original in original::all()? {
        let mutants = mutant::all(&original)?;
        for mutant in mutants.iter().filter(|mutant| mutant.expected.is_none()) {
            *made.entry(mutant.kind.clone()).or_default() += 1;
        }
        originals.push((original, mutants));
    }
    let lines = package::run(&workspace, &mut originals)?;
    Report::of(originals, &lines, &lock::Locks, made)
}
