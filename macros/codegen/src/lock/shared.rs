//! Markers that several functions of a run ask for.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{Comparison, Difference, known};
use super::{Key, Lock, Section, texts};
use crate::markers::Marker;
use crate::shape::Shape;

/// What one function asks for, and what it had when it was released.
#[derive(Default)]
struct Asks<'a> {
    now: BTreeSet<&'a str>,
    released: BTreeSet<String>,
    retired: BTreeSet<String>,
}

impl Asks<'_> {
    fn was(&mut self, section: &Section) {
        self.released.extend(known(section).into_keys());
        let retired = section.retired.iter().map(|retired| retired.id.clone());
        self.retired.extend(retired);
    }

    fn is_new(&self, id: &str) -> bool {
        !self.released.contains(id) && !self.retired.contains(id)
    }

    /// Runs have it from here. Where it is gone, that is an error there (L306) until it is retired.
    fn gives(&self, id: &str) -> bool {
        self.retired.contains(id) || (self.released.contains(id) && self.now.contains(id))
    }
}

/// A marker that is new in one function of a run, and that runs have from another.
pub(super) struct Shared {
    pub(super) id: String,
    pub(super) new: String,
    released: String,
}

/// The markers that a released workflow and the released functions that it reaches share, where one of them has it
/// from an earlier release than another (L307). A run has one answer for all of them, and took the way of the code
/// before where it was not asked yet.
pub(crate) fn shared(
    lock: &Lock,
    key: &Key,
    section: &Section,
    shape: &Shape,
    reached: &[(String, Marker)],
) -> Vec<Difference> {
    let comparison = Comparison::of(key, section, shape, reached);
    let found = find(lock, key, section, shape, reached).into_iter();
    let differences = found.map(|Shared { id, new, released }| {
        let own = shape.markers().iter().find(|marker| marker.id == id);
        let place = match own.filter(|_| new == comparison.name()) {
            Some(marker) => marker.place,
            None => comparison.function(),
        };
        texts::shared(&comparison, &id, &new, &released, place)
    });
    differences.collect()
}

pub(super) fn find(
    lock: &Lock,
    key: &Key,
    section: &Section,
    shape: &Shape,
    reached: &[(String, Marker)],
) -> Vec<Shared> {
    let mut functions: BTreeMap<&str, Asks<'_>> = BTreeMap::new();
    let mut own = Asks::default();
    let now = shape.markers().iter().map(|marker| marker.id.as_str());
    own.now.extend(now);
    own.was(section);
    functions.insert(key.shown(), own);
    for (function, marker) in reached {
        let sections = lock.functions.iter();
        let mut sections = sections
            .filter(|(key, _)| key.is_durable(function))
            .peekable();
        if sections.peek().is_none() {
            continue;
        }
        let asks = functions.entry(function).or_default();
        asks.now.insert(&marker.id);
        sections.for_each(|(_, section)| asks.was(section));
    }
    let mut found = Vec::new();
    for (new, asks) in &functions {
        for id in asks.now.iter().filter(|id| asks.is_new(id)) {
            let mut others = functions.iter().filter(|(_, other)| other.gives(id));
            if let Some((released, _)) = others.next() {
                found.push(Shared {
                    id: (*id).to_owned(),
                    new: (*new).to_owned(),
                    released: (*released).to_owned(),
                });
            }
        }
    }
    found
}
