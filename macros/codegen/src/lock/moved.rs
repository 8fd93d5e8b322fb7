//! A released marker that a function has handed to a `#[durable]` function that it calls.

use super::compare::{Difference, compare, known};
use super::format::arm;
use super::package::Function;
use super::shared::find;
use super::update::{extend, section_of};
use super::{Change, Key, Kind, Lock, Package, Section};
use crate::markers::Marker;

/// The function among `reached` that asks for a marker with all of these versions.
pub(super) fn moved<'r>(
    id: &str,
    versions: &[u32],
    reached: &'r [(String, Marker)],
) -> Option<&'r str> {
    let mut helpers = reached.iter().filter(|(_, marker)| {
        let supported = marker.lowest..=marker.highest;
        marker.id == id && versions.iter().all(|version| supported.contains(version))
    });
    helpers.next().map(|(helper, _)| helper.as_str())
}

/// Takes the markers that `function` had in `old`, and for which functions that it calls ask now, into the sections
/// of those, as far as that only adds to them. `lock` has `function` as it is now.
pub(super) fn follow(
    package: &Package,
    function: &Function,
    old: &Section,
    lock: &mut Lock,
) -> Vec<Change> {
    let is_own = |id: &str| {
        let mut markers = function.shape.markers().iter();
        markers.any(|marker| marker.id == id)
    };
    let mut changes = Vec::new();
    for (id, versions) in known(old) {
        if is_own(&id) {
            continue;
        }
        if let Some(helper) = moved(&id, &versions, &function.reached)
            && let Some(helper) = only(package, helper)
            && !is_in_the_way(package, lock, helper, &id)
        {
            changes.extend(taken(lock, helper, &id, &versions));
        }
    }
    changes
}

/// The durable function of this name, if there is one only.
fn only<'p>(package: &'p Package, name: &str) -> Option<&'p Function> {
    let functions = package.functions().iter();
    let mut named = functions.filter(|function| function.key.is_durable(name));
    named.next().filter(|_| named.next().is_none())
}

/// Whether runs of another workflow have the marker from elsewhere, for which it would be new in `helper` (L307). Once
/// the section of `helper` has it, nobody could tell that any more.
fn is_in_the_way(package: &Package, lock: &Lock, helper: &Function, id: &str) -> bool {
    package.functions().iter().any(|other| {
        let Function {
            key,
            shape,
            reached,
            ..
        } = other;
        let Some(section) = lock.functions.get(key) else {
            return false;
        };
        let found = find(lock, key, section, shape, reached);
        let mut found = found.iter();
        key.kind == Kind::Workflow
            && found.any(|shared| shared.id == id && shared.new == helper.key.shown())
    })
}

/// Adds a marker to the section of `helper`; all of `helper` where it is not released yet.
fn taken(lock: &mut Lock, helper: &Function, id: &str, versions: &[u32]) -> Option<Change> {
    let Function { key, reached, .. } = helper;
    if !helper.mistakes.is_empty() {
        return None;
    }
    let Some(section) = lock.functions.get_mut(key) else {
        let section = section_of(helper, Vec::new());
        lock.functions.insert(key.clone(), section);
        return Some(Change::Added(key.clone()));
    };
    let mut differences = compare(key, section, &helper.shape, reached).into_iter();
    if !differences.all(|difference| Difference::is_warning(&difference)) {
        return None;
    }
    let mut wanted = known(section);
    wanted.entry(id.to_owned()).or_default().extend(versions);
    let lines = helper.shape.project(&wanted).lines;
    let mut arms = lines.iter().filter_map(|line| arm(&line.text));
    // It may stand in the arm of another one that is not released.
    arms.any(|(known, _)| known == id)
        .then(|| extend(section, helper, &wanted))?
}

impl Key {
    /// What it is called in texts.
    pub(super) fn shown(&self) -> &str {
        match self.kind {
            Kind::Workflow => &self.name,
            Kind::Durable => self.name.rsplit("::").next().unwrap_or(&self.name),
        }
    }

    /// Whether it is a durable function of this name.
    pub(super) fn is_durable(&self, name: &str) -> bool {
        self.kind == Kind::Durable && self.shown() == name
    }
}
