//! What the lock says of each mutant, when the original is what was released. Of a mutant that retires markers, after
//! it was accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use perennial_codegen::lock::{Level, Lock, Package, Retired, SourceError};

use super::original::folder;
use super::package::Mutated;
use crate::AnyError;

/// What the lock says, by workflow and module.
#[derive(Debug, Default)]
pub(super) struct Locks {
    codes: BTreeMap<(String, String), BTreeSet<String>>,
    retired: BTreeMap<(String, String), Vec<Retired>>,
}

impl Locks {
    /// Releases each original, and compares its mutants with that.
    pub(super) fn ask(originals: &[Mutated]) -> Result<Self, AnyError> {
        let shop = fs::read_to_string(folder().join("shop.rs"))?;
        let mut locks = Self::default();
        for (original, mutants) in originals {
            let package = |source: &str| package(&original.name, source, &shop);
            let released = package(&original.source)?.update(&Lock::default()).lock;
            for mutant in mutants {
                let key = (original.name.clone(), mutant.module.clone());
                let package = package(&mutant.source)?;
                let mut lock = released.clone();
                if mutant.retires() {
                    lock = package.accept(&lock, &original.name)?.lock;
                    let sections = lock.functions.values();
                    let retired = sections.flat_map(|section| section.retired.clone());
                    locks.retired.insert(key.clone(), retired.collect());
                }
                let findings = package.compare(&lock).into_iter();
                let codes = findings
                    .filter(|finding| finding.level != Level::Note)
                    .map(|finding| finding.code.unwrap_or("L3??").to_owned());
                locks.codes.insert(key, codes.collect());
            }
        }
        Ok(locks)
    }

    /// The codes for a mutant.
    pub(super) fn codes(&self, workflow: &str, module: &str) -> BTreeSet<String> {
        let key = (workflow.to_owned(), module.to_owned());
        self.codes.get(&key).cloned().unwrap_or_default()
    }

    /// The markers that a mutant has retired.
    pub(super) fn retired(&self, workflow: &str, module: &str) -> &[Retired] {
        let key = (workflow.to_owned(), module.to_owned());
        self.retired.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// A package of a workflow and the shop.
fn package(workflow: &str, source: &str, shop: &str) -> Result<Package, SourceError> {
    Package::of_sources(&[
        (
            PathBuf::from(format!("src/{workflow}.rs")),
            source.to_owned(),
        ),
        (PathBuf::from("src/shop.rs"), shop.to_owned()),
    ])
}
