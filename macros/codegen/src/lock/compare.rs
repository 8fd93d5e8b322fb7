//! One function and what the lock says of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::diff::{Edit, align};
use super::format::arm;
use super::moved::moved;
use super::{Key, Section, texts};
use crate::markers::Marker;
use crate::shape::{Known, Line, Place, Projected, Shape};

/// A function that is not as it was released.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) code: &'static str,
    pub(crate) place: Place,
    /// All of it: what, the lines, what to do, where to read on.
    pub(crate) text: String,
}

impl Difference {
    pub(crate) fn is_warning(&self) -> bool {
        self.code == "L310"
    }
}

/// The markers and arms that a section knows.
pub(super) fn known(section: &Section) -> Known {
    known_in(&section.lines)
}

/// The markers and arms in the lines of a shape.
pub(super) fn known_in(lines: &[String]) -> Known {
    let mut known = Known::new();
    for (id, version) in lines.iter().filter_map(|line| arm(line)) {
        let versions = known.entry(id).or_default();
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    known
}

/// What is compared.
pub(super) struct Comparison<'a> {
    pub(super) key: &'a Key,
    pub(super) section: &'a Section,
    pub(super) shape: &'a Shape,
    pub(super) known: Known,
    /// The markers of the durable functions that it calls, each with its function.
    pub(super) reached: &'a [(String, Marker)],
}

impl<'a> Comparison<'a> {
    /// The comparison of `shape` with its `section`, whose markers and arms it knows.
    pub(super) fn of(
        key: &'a Key,
        section: &'a Section,
        shape: &'a Shape,
        reached: &'a [(String, Marker)],
    ) -> Self {
        Self {
            key,
            section,
            shape,
            known: known(section),
            reached,
        }
    }
}

/// In which way a function is not as it was released. Nothing, if runs in flight can go on with it.
pub(crate) fn compare(
    key: &Key,
    section: &Section,
    shape: &Shape,
    reached: &[(String, Marker)],
) -> Vec<Difference> {
    let comparison = Comparison::of(key, section, shape, reached);
    let gone = comparison.gone();
    if !gone.is_empty() {
        return gone;
    }
    let now = shape.project(&comparison.known);
    let unknown = comparison.unknown(&now);
    if !unknown.is_empty() {
        return unknown;
    }
    let lines: Vec<&str> = now.lines.iter().map(|line| line.text.as_str()).collect();
    let released: Vec<&str> = section.lines.iter().map(String::as_str).collect();
    if lines == released {
        return comparison.flow(&now).into_iter().collect();
    }
    vec![comparison.changed(&released, &now.lines)]
}

impl Comparison<'_> {
    /// What the function is called in texts.
    pub(super) fn name(&self) -> &str {
        self.key.shown()
    }

    /// What it calls its context.
    pub(super) fn context(&self) -> &str {
        self.shape.context.as_deref().unwrap_or("cx")
    }

    /// The lowest and the highest released version of a marker.
    pub(super) fn arms(&self, id: &str) -> Option<(u32, u32)> {
        let arms = self.known.get(id)?;
        Some((*arms.iter().min()?, *arms.iter().max()?))
    }

    pub(super) fn function(&self) -> Place {
        Place::at(self.shape.name)
    }

    /// Released markers and arms that the code does not have (L306).
    fn gone(&self) -> Vec<Difference> {
        let mut there: BTreeMap<&str, (BTreeSet<u32>, Place)> = BTreeMap::new();
        for marker in self.shape.markers() {
            let (arms, _) = there
                .entry(&marker.id)
                .or_insert_with(|| (BTreeSet::new(), marker.place));
            arms.extend(&marker.arms);
        }
        let mut found = Vec::new();
        for (id, released) in &self.known {
            match there.get(id.as_str()) {
                None => {
                    let place = self.function();
                    found.push(match moved(id, released, self.reached) {
                        Some(helper) => texts::marker_moved(self, id, helper, place),
                        None => texts::marker_gone(self, id, place),
                    });
                }
                Some((arms, place)) => {
                    let gone: Vec<u32> = released
                        .iter()
                        .copied()
                        .filter(|version| !arms.contains(version))
                        .collect();
                    if !gone.is_empty() {
                        found.push(texts::arms_gone(self, id, &gone, *place));
                    }
                }
            }
        }
        found
    }

    /// Markers that the lock does not know, and that have no arm for the code before them (L307).
    fn unknown(&self, now: &Projected) -> Vec<Difference> {
        let again = self.shape.markers().iter().filter(|marker| {
            let is = |id: &str| id == marker.id;
            !self.known.contains_key(&marker.id)
                && self.section.retired.iter().any(|retired| is(&retired.id))
        });
        let mut found: Vec<_> = again
            .map(|marker| texts::retired_again(self, &marker.id, marker.place))
            .collect();
        found.extend(
            now.unknown
                .iter()
                .map(|marker| texts::starts_late(self, marker)),
        );
        found
    }

    /// Conditions that are not what they were (L310).
    fn flow(&self, now: &Projected) -> Option<Difference> {
        let flow: Vec<u32> = now.flow.iter().map(|(hash, _)| *hash).collect();
        let edits = align(&self.section.flow, &flow);
        let first = edits
            .iter()
            .position(|edit| !matches!(edit, Edit::Same(..)))?;
        // Where nothing has taken its place, what follows is nearest.
        let near = edits[first..].iter().find_map(|edit| match edit {
            Edit::Added(at) | Edit::Same(_, at) => Some(*at),
            Edit::Removed(_) => None,
        });
        let changed: Vec<&Edit> = edits[first..]
            .iter()
            .take_while(|edit| !matches!(edit, Edit::Same(..)))
            .collect();
        let is_gone = changed.iter().all(|edit| matches!(edit, Edit::Removed(_)));
        let is_new = changed.iter().all(|edit| matches!(edit, Edit::Added(_)));
        let place = match near {
            Some(at) => now.flow[at].1,
            None => self.function(),
        };
        Some(texts::flow(self, is_new, is_gone, place))
    }

    /// Lines that are not what they were (L301–L305): the first of them.
    fn changed(&self, released: &[&str], now: &[Line]) -> Difference {
        let lines: Vec<&str> = now.iter().map(|line| line.text.as_str()).collect();
        let edits = align(released, &lines);
        let first = edits
            .iter()
            .position(|edit| !matches!(edit, Edit::Same(..)))
            .unwrap_or_default();
        let change = Change::new(&edits[first..], released, &lines);
        let near = edits[first..].iter().find_map(|edit| match edit {
            Edit::Added(at) | Edit::Same(_, at) => Some(*at),
            Edit::Removed(_) => None,
        });
        let place = match near.or_else(|| now.len().checked_sub(1)) {
            Some(at) => now[at].place,
            None => self.function(),
        };
        if let Some((arm, inside, place)) = self.edited(released, now, &lines) {
            return texts::edited(
                self,
                &arm,
                &inside,
                place,
                &shown(&edits, first, released, &lines),
            );
        }
        let all_removed = only(&edits, released, &lines, true);
        let all_added = only(&edits, released, &lines, false);
        texts::changed(self, &change, &all_removed, &all_added, place, &|| {
            shown(&edits, first, released, &lines)
        })
    }
}

impl Comparison<'_> {
    /// The smallest released arm that is not what it was, what in it changed, and where.
    fn edited<'l>(
        &self,
        released: &[&'l str],
        now: &[Line],
        lines: &[&'l str],
    ) -> Option<((String, u32), Change<'l>, Place)> {
        let (old, new) = (arms(released), arms(lines));
        let same = |(a, b): (&(Arm, _), &(Arm, _))| a.0 == b.0;
        if old.len() != new.len() || !old.iter().zip(&new).all(same) {
            // The markers themselves do not stand where they were.
            return None;
        }
        let texts = |lines: &[&'l str], inside: &Range<usize>| -> Vec<&'l str> {
            lines[inside.clone()].to_vec()
        };
        let pairs = old.into_iter().zip(new);
        let edited = pairs.filter_map(|((arm, before), (_, after))| {
            let (was, is) = (texts(released, &before), texts(lines, &after));
            let dedented = |lines: &[&str], first: usize| -> Vec<String> {
                lines
                    .iter()
                    .map(|line| line[first.min(line.len())..].to_owned())
                    .collect()
            };
            let depths = [&was, &is].map(|lines| lines.first().map_or(0, |line| depth(line)));
            let differs = dedented(&was, depths[0]) != dedented(&is, depths[1]);
            differs.then_some((arm, was, is, after))
        });
        let (arm, was, is, after) = edited.min_by_key(|(_, was, is, _)| was.len() + is.len())?;
        let edits = align(&was, &is);
        let first = edits
            .iter()
            .position(|edit| !matches!(edit, Edit::Same(..)))?;
        let near = edits[first..].iter().find_map(|edit| match edit {
            Edit::Added(at) | Edit::Same(_, at) => Some(after.start + *at),
            Edit::Removed(_) => None,
        });
        // Behind all of it, or in an arm that is empty now: at the marker.
        let at = near.unwrap_or(after.start - 1);
        Some((arm, Change::new(&edits[first..], &was, &is), now[at].place))
    }
}

type Arm = (String, u32);

/// The arms of markers, with the lines in them.
fn arms(lines: &[&str]) -> Vec<(Arm, Range<usize>)> {
    let found = lines.iter().enumerate().filter_map(|(at, line)| {
        let inside = lines[at + 1..].iter();
        let count = inside
            .take_while(|inner| depth(inner) > depth(line))
            .count();
        Some((arm(line)?, at + 1..at + 1 + count))
    });
    found.collect()
}

/// The first lines that differ.
pub(super) struct Change<'a> {
    pub(super) removed: Vec<&'a str>,
    pub(super) added: Vec<&'a str>,
}

impl<'a> Change<'a> {
    fn new(edits: &[Edit], released: &[&'a str], now: &[&'a str]) -> Self {
        let mut change = Change {
            removed: Vec::new(),
            added: Vec::new(),
        };
        for edit in edits {
            match edit {
                Edit::Same(..) => break,
                Edit::Removed(at) => change.removed.push(released[*at]),
                Edit::Added(at) => change.added.push(now[*at]),
            }
        }
        change
    }
}

pub(super) fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// What was removed, or added, without its indentation and sorted.
fn only<'a>(edits: &[Edit], released: &[&'a str], now: &[&'a str], removed: bool) -> Vec<&'a str> {
    let lines = edits.iter().filter_map(|edit| match edit {
        Edit::Removed(at) if removed => Some(released[*at]),
        Edit::Added(at) if !removed => Some(now[*at]),
        _ => None,
    });
    let mut lines: Vec<&str> = lines.map(str::trim_start).collect();
    lines.sort_unstable();
    lines
}

/// So many lines before and after a change are shown.
const AROUND: usize = 3;
/// So many lines are shown at most.
const MOST_SHOWN: usize = 24;

/// The lines around the first change, with what is new and what is gone.
fn shown(edits: &[Edit], first: usize, released: &[&str], now: &[&str]) -> String {
    let from = first.saturating_sub(AROUND);
    let last = edits
        .iter()
        .rposition(|edit| !matches!(edit, Edit::Same(..)))
        .unwrap_or(first);
    let to = (last + 1 + AROUND).min(edits.len());
    let mut text = String::new();
    if from > 0 {
        text.push_str("      ..\n");
    }
    for edit in edits[from..to].iter().take(MOST_SHOWN) {
        let (sign, line) = match edit {
            Edit::Same(_, at) => (' ', now[*at]),
            Edit::Removed(at) => ('-', released[*at]),
            Edit::Added(at) => ('+', now[*at]),
        };
        text.push_str(&format!("    {sign} {line}\n"));
    }
    if to < edits.len() || to - from > MOST_SHOWN {
        text.push_str("      ..\n");
    }
    text
}
