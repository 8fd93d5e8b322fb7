//! How a lock follows the code.

use std::collections::BTreeMap;
use std::fmt;

use super::compare::{depth, known, known_in};
use super::format::arm;
use super::moved::{follow, moved};
use super::package::Function;
use super::{Finding, Key, Level, Lock, Package, Retired, Section};
use crate::shape::{Known, Projected};
use crate::suggest::closest;

/// A lock that follows the code, and what is new in it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Update {
    /// The lock as it is to be written. Where a finding is an error it is the one that was.
    pub lock: Lock,
    /// What is new in it; nothing if it is as it was.
    pub changes: Vec<Change>,
    /// What stands in the way, and what else there is to say.
    pub findings: Vec<Finding>,
}

impl Update {
    /// Whether something stands in the way, so that nothing was changed.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.level == Level::Error)
    }
}

/// One thing that is new in a lock. `Display` is a line about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A function is released.
    Added(Key),
    /// Markers and versions of a released function are released.
    Extended {
        /// The function.
        key: Key,
        /// Them, with the highest version of each.
        markers: Vec<(String, u32)>,
    },
    /// A durable function stands elsewhere.
    Moved {
        /// Its key.
        from: Key,
        /// Its new one.
        to: Key,
    },
    /// The structure of a function was taken over as it is.
    Accepted {
        /// The function.
        key: Key,
        /// What it does not have any more.
        retired: Vec<Retired>,
    },
    /// A function that is not there any more was taken out.
    Removed(Key),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Added(key) => write!(f, "{key}: released"),
            Change::Extended { key, markers } => {
                write!(f, "{key}: released ")?;
                for (index, (id, version)) in markers.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}version {version} of {id:?}")?;
                }
                Ok(())
            }
            Change::Moved { from, to } => write!(f, "{to}: was {from}"),
            Change::Accepted { key, retired } => {
                write!(f, "{key}: accepted as it is")?;
                for Retired { id, version } in retired {
                    write!(f, ", version {version} of {id:?} is retired")?;
                }
                Ok(())
            }
            Change::Removed(key) => write!(f, "{key}: taken out"),
        }
    }
}

/// Why a function was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotAccepted {
    /// There is no such function, neither in the sources nor in the lock.
    Unknown {
        /// What was asked for.
        name: String,
        /// What was meant, perhaps.
        closest: Option<String>,
    },
    /// Several functions end in this name.
    Ambiguous {
        /// What was asked for.
        name: String,
        /// Their full names.
        candidates: Vec<String>,
    },
}

impl fmt::Display for NotAccepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAccepted::Unknown { name, closest } => {
                write!(
                    f,
                    "there is no workflow and no `#[durable]` function `{name}`, neither in the sources nor in the lock"
                )?;
                match closest {
                    Some(closest) => write!(f, "\n\nhelp: did you mean `{closest}`?"),
                    None => Ok(()),
                }
            }
            NotAccepted::Ambiguous { name, candidates } => {
                write!(
                    f,
                    "several functions are called `{name}`\n\nhelp: say which one:"
                )?;
                candidates
                    .iter()
                    .try_for_each(|candidate| write!(f, " `{candidate}`"))
            }
        }
    }
}

impl std::error::Error for NotAccepted {}

impl Package {
    /// The lock with all that runs in flight can go on with: functions that are not in it, and new markers and
    /// versions of those that are. If anything in the package is not compatible with it, it stays as it is, and the
    /// findings say why.
    #[must_use]
    pub fn update(&self, lock: &Lock) -> Update {
        let findings = self.compare(lock);
        let mut update = Update {
            lock: lock.clone(),
            changes: Vec::new(),
            findings,
        };
        if update.is_refused() {
            return update;
        }
        update
            .findings
            .retain(|finding| finding.level == Level::Warning || finding.key.is_none());
        let functions = &mut update.lock.functions;
        for (from, to) in self.moved(lock) {
            if let Some(section) = functions.remove(from) {
                functions.insert(to.clone(), section);
                update.changes.push(Change::Moved {
                    from: from.clone(),
                    to,
                });
            }
        }
        for function in self.functions() {
            let Some(section) = functions.get_mut(&function.key) else {
                functions.insert(function.key.clone(), section_of(function, Vec::new()));
                update.changes.push(Change::Added(function.key.clone()));
                continue;
            };
            let all = known_in(&function.lines());
            update.changes.extend(extend(section, function, &all));
        }
        update
    }

    /// The lock with one function as it is now, whatever it was: for a change of which one knows that it disturbs no
    /// run in flight. A function that is not there any more is taken out. One with markers of which it cannot be told
    /// what they guard is refused: the findings say why. A marker for which a durable function asks now that it calls
    /// is released there, where that only adds to what is released.
    ///
    /// `name` is a workflow's name, or the path of a durable function or its end: `Shop::restock`.
    ///
    /// # Errors
    ///
    /// There is no such function, or there are several.
    pub fn accept(&self, lock: &Lock, name: &str) -> Result<Update, NotAccepted> {
        let key = self.named(lock, name)?;
        let mut update = Update {
            lock: lock.clone(),
            changes: Vec::new(),
            findings: Vec::new(),
        };
        let functions = &mut update.lock.functions;
        let Some(function) = self.functions().iter().find(|function| function.key == key) else {
            functions.remove(&key);
            update.changes.push(Change::Removed(key));
            return Ok(update);
        };
        if !function.mistakes.is_empty() {
            update.findings.clone_from(&function.mistakes);
            return Ok(update);
        }
        let old = functions.get(&key).cloned().unwrap_or_default();
        let new = section_of(function, retired(&old, function));
        let is_there = functions.contains_key(&key);
        if is_there && new == old {
            return Ok(update);
        }
        let change = if is_there {
            let is_new = |retired: &&Retired| !old.retired.contains(retired);
            Change::Accepted {
                key: key.clone(),
                retired: new.retired.iter().filter(is_new).cloned().collect(),
            }
        } else {
            Change::Added(key.clone())
        };
        functions.insert(key, new);
        update.changes.push(change);
        let followed = follow(self, function, &old, &mut update.lock);
        update.changes.extend(followed);
        Ok(update)
    }

    /// The function that is meant by a name.
    fn named(&self, lock: &Lock, name: &str) -> Result<Key, NotAccepted> {
        let here = self.functions().iter().map(|function| &function.key);
        let mut all: Vec<&Key> = here.chain(lock.functions.keys()).collect();
        all.sort();
        all.dedup();
        let is_end = |key: &Key| {
            let end = key.name.strip_suffix(name);
            end.is_some_and(|before| before.ends_with("::"))
        };
        let exactly: Vec<&&Key> = all.iter().filter(|key| key.name == name).collect();
        let found: Vec<&&Key> = match exactly.is_empty() {
            true => all.iter().filter(|key| is_end(key)).collect(),
            false => exactly,
        };
        match found.as_slice() {
            [only] => Ok((**only).clone()),
            [] => {
                let names: Vec<&str> = all
                    .iter()
                    .flat_map(|key| [Some(key.name.as_str()), key.name.rsplit("::").next()])
                    .flatten()
                    .collect();
                Err(NotAccepted::Unknown {
                    name: name.to_owned(),
                    closest: closest(name, &names).map(str::to_owned),
                })
            }
            several => Err(NotAccepted::Ambiguous {
                name: name.to_owned(),
                candidates: several.iter().map(|key| key.name.clone()).collect(),
            }),
        }
    }
}

/// Takes these markers and arms of a released function into its section, where that only adds to it. Nothing if they
/// are in it.
pub(super) fn extend(section: &mut Section, function: &Function, wanted: &Known) -> Option<Change> {
    let now = function.shape.project(wanted);
    let lines: Vec<String> = now.lines.iter().map(|line| line.text.clone()).collect();
    if lines == section.lines {
        return None;
    }
    let markers = new_markers(&section.lines, &lines);
    // A condition that changed stays one that changed, until somebody has said that it does no harm.
    let as_known = function.shape.project(&known(section));
    if flow(&as_known) == section.flow {
        section.flow = flow(&now);
    }
    let arms: Vec<_> = lines.iter().filter_map(|line| arm(line)).collect();
    // What was put back is not retired any more.
    let is_back = |retired: &Retired| arms.contains(&(retired.id.clone(), retired.version));
    section.retired.retain(|retired| !is_back(retired));
    section.lines = lines;
    Some(Change::Extended {
        key: function.key.clone(),
        markers,
    })
}

/// Conditions, loop bounds and early ends.
fn flow(projected: &Projected) -> Vec<u32> {
    projected.flow.iter().map(|(hash, _)| *hash).collect()
}

pub(super) fn section_of(function: &Function, retired: Vec<Retired>) -> Section {
    Section {
        flow: flow(&function.shape.whole()),
        retired,
        lines: function.lines(),
        line: 0,
    }
}

/// The markers and arms that only the second has, with the highest version of each.
fn new_markers(old: &[String], new: &[String]) -> Vec<(String, u32)> {
    let old: Vec<_> = old.iter().filter_map(|line| arm(line)).collect();
    let mut markers: BTreeMap<String, u32> = BTreeMap::new();
    for (id, version) in new.iter().filter_map(|line| arm(line)) {
        if !old.contains(&(id.clone(), version)) {
            let highest = markers.entry(id).or_default();
            *highest = version.max(*highest);
        }
    }
    markers.into_iter().collect()
}

/// What was retired, with what the function does not have any more.
fn retired(old: &Section, function: &Function) -> Vec<Retired> {
    let lines = function.lines();
    let now: Vec<_> = lines.iter().filter_map(|line| arm(line)).collect();
    let mut retired = old.retired.clone();
    // A name that is used again is none that was retired.
    retired.retain(|Retired { id, version }| !now.contains(&(id.clone(), *version)));
    for (id, versions) in known(old) {
        if now.iter().any(|(known, _)| *known == id) {
            for version in versions {
                let gone = Retired {
                    id: id.clone(),
                    version,
                };
                if !now.contains(&(id.clone(), version)) && !retired.contains(&gone) {
                    retired.push(gone);
                }
            }
        } else if moved(&id, &versions, &function.reached).is_some() {
            // A function that it calls asks for it now.
        } else {
            retired.retain(|earlier| earlier.id != id);
            let version = stayed(&old.lines, &id, &versions, &lines);
            retired.push(Retired { id, version });
        }
    }
    retired.sort_by(|a, b| (&a.id, a.version).cmp(&(&b.id, b.version)));
    retired
}

/// The version of a marker whose code is what has stayed: the highest one, unless the code is exactly what it was
/// under another.
fn stayed(old: &[String], id: &str, versions: &[u32], new: &[String]) -> u32 {
    let highest = versions.iter().max().copied().unwrap_or_default();
    let is_it = |version: &u32| with_arm(old, id, *version) == new;
    versions
        .iter()
        .rev()
        .copied()
        .find(is_it)
        .unwrap_or(highest)
}

/// The lines with one arm in the place of a marker.
fn with_arm(lines: &[String], id: &str, version: u32) -> Vec<String> {
    let mut result = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        at += 1;
        let Some((_, number)) = arm(line).filter(|(known, _)| known == id) else {
            result.push(line.clone());
            continue;
        };
        let inside = lines[at..]
            .iter()
            .take_while(|inner| depth(inner) > depth(line))
            .count();
        if number == version {
            let inner = lines[at..at + inside]
                .iter()
                .map(|line| line[2..].to_owned());
            let inner: Vec<String> = inner.collect();
            result.extend(with_arm(&inner, id, version));
        }
        at += inside;
    }
    result
}
