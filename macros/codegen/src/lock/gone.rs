//! Released functions that are not there, or not under the same key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::compare::{Difference, compare};
use super::texts::quoted;
use super::{FILE, Finding, Key, Kind, Level, Lock, Package, Section, texts};

impl Package {
    /// What there is to say of released functions that are not there. Those that have moved are.
    pub(super) fn not_there(&self, lock: &Lock, moved: &BTreeMap<&Key, Key>) -> Vec<Finding> {
        let gone = self.gone(lock).filter(|(key, _)| !moved.contains_key(key));
        let findings = gone.map(|(key, section)| {
            let mut left_out = self.left_out.iter();
            match left_out.find(|place| place.key.as_ref() == Some(key)) {
                Some(place) => not_compared(key, section, place),
                None => is_gone(key, section),
            }
        });
        findings.collect()
    }

    /// Released functions that are not there.
    fn gone<'l>(&self, lock: &'l Lock) -> impl Iterator<Item = (&'l Key, &'l Section)> {
        let is_here = |key: &Key| self.functions().iter().any(|function| function.key == *key);
        lock.functions.iter().filter(move |(key, _)| !is_here(key))
    }

    /// Durable functions that stand elsewhere than when they were released, from their old keys to their new ones:
    /// they have the same name and the same lines, and there is one only.
    pub(super) fn moved<'l>(&self, lock: &'l Lock) -> BTreeMap<&'l Key, Key> {
        let mut moved = BTreeMap::new();
        for (key, section) in self.gone(lock) {
            let name = |key: &Key| key.name.rsplit("::").next().map(str::to_owned);
            let mut candidates = self.functions().iter().filter(|function| {
                key.kind == Kind::Durable
                    && function.key.kind == Kind::Durable
                    && name(&function.key) == name(key)
                    && !lock.functions.contains_key(&function.key)
                    && compare(&function.key, section, &function.shape, &function.reached)
                        .iter()
                        .all(Difference::is_warning)
            });
            if let (Some(only), None) = (candidates.next(), candidates.next())
                && !moved.values().any(|taken| *taken == only.key)
            {
                moved.insert(key, only.key.clone());
            }
        }
        moved
    }
}

/// A released function whose attribute says `lock = false`.
fn not_compared(key: &Key, section: &Section, place: &Finding) -> Finding {
    let retired = match section.retired.is_empty() {
        true => "",
        false => ", and what it has retired with it: runs that have recorded it will be blocked",
    };
    let name = quoted(&key.name);
    Finding {
        level: Level::Error,
        text: format!(
            "`{key}` is released, and `lock = false` says that it is not compared any more: a change that runs in flight could not follow compiles\n\n\
             help: take `lock = false` away once it is rewritten\n\
             help: if it is to stay, take the function out of the lock: `perennial lock --accept {name}`{retired}\n\
             see: lock#turning-it-off in the book"
        ),
        ..place.clone()
    }
}

/// L308
fn is_gone(key: &Key, section: &Section) -> Finding {
    let headline = format!("`{key}` is released, and it is not there any more");
    let accept = format!(
        "if no run in flight needs it, take it out of the lock: `perennial lock --accept {}`",
        quoted(&key.name)
    );
    let helps = match key.kind {
        Kind::Workflow => vec![
            format!(
                "if it has got another name, keep the one that its runs know: `#[workflow(name = {:?})]`",
                key.name
            ),
            accept,
        ],
        Kind::Durable => vec!["put it back, if workflows still call it".to_owned(), accept],
    };
    let source = key.to_string();
    Finding {
        code: Some("L308"),
        level: Level::Error,
        key: Some(key.clone()),
        file: PathBuf::from(FILE),
        line: section.line.max(1),
        column: 1,
        width: source.chars().count(),
        source,
        text: texts::text("L308", &headline, "", &helps),
    }
}
