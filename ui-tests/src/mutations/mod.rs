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
mod oracle;
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

/// Which mutants are judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Of these workflows; of all where none is named.
    pub workflows: Vec<String>,
    /// Those alone that were written by hand.
    pub by_hand: bool,
}

/// Judges mutants.
///
/// # Errors
///
/// When the originals cannot be read, do not compile or do not record their runs, or cargo cannot be run.
pub fn judge(chosen: &Chosen) -> Result<Report, AnyError> {
    let workspace = Workspace::locate("mutations", "none")?;
    let mut originals = Vec::new();
    let mut made = BTreeMap::<String, usize>::new();
    for original in original::all()? {
        if !chosen.workflows.is_empty() && !chosen.workflows.contains(&original.name) {
            continue;
        }
        let mut mutants = mutant::all(&original)?;
        mutants.retain(|mutant| !chosen.by_hand || mutant.expected.is_some());
        for mutant in mutants.iter().filter(|mutant| mutant.expected.is_none()) {
            *made.entry(mutant.kind.clone()).or_default() += 1;
        }
        originals.push((original, mutants));
    }
    let locks = lock::Locks::ask(&originals)?;
    let lines = package::run(&workspace, &mut originals, &locks)?;
    Report::of(originals, &lines, &locks, made)
}
