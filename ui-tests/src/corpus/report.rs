//! Who found what.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{AnyError, Case, Kind};

/// Who found something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finder {
    /// The attributes, or the type of what is awaited: under these rules.
    Macro(BTreeSet<String>),
    /// Clippy: under these rules.
    Clippy(BTreeSet<String>),
    /// A test's run without a sandbox.
    PerturbedRun,
    /// A test's run with the sandbox, whose second time is another one.
    ChangedWorld,
    /// A test's run in which the sandbox allows nothing.
    StrictSandbox,
}

impl Finder {
    /// Which of the four it is.
    fn net(&self) -> &'static str {
        match self {
            Self::Macro(_) => "macro",
            Self::Clippy(_) => "clippy",
            Self::PerturbedRun => "perturbed run",
            Self::ChangedWorld | Self::StrictSandbox => "sandbox",
        }
    }
}

impl fmt::Display for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.net())?;
        let rules = match self {
            Self::Macro(rules) | Self::Clippy(rules) => rules,
            Self::PerturbedRun => return Ok(()),
            Self::ChangedWorld => return f.write_str(", changed world"),
            Self::StrictSandbox => return f.write_str(", strict"),
        };
        for (n, rule) in rules.iter().enumerate() {
            write!(f, "{}{rule}", if n == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Somebody took it for nondeterministic: who, and what was said.
    Found(Finder, String),
    /// It fails in another way: where, and what was said. The case is wrong, or one of the four is.
    Broken(&'static str, String),
}

/// Who found what, of all of the corpus.
#[derive(Debug)]
pub struct Report {
    cases: Vec<(Case, Option<Verdict>)>,
}

/// What one of the four says, by the index of the case among those it was given.
pub(super) type Findings = BTreeMap<usize, Verdict>;

impl Report {
    pub(super) fn new(cases: Vec<Case>) -> Self {
        let cases = cases.into_iter().map(|case| (case, None)).collect();
        Self { cases }
    }

    /// The cases of which nothing is known yet.
    pub(super) fn open(&self) -> Vec<&Case> {
        let unknown = self.cases.iter().filter(|(_, verdict)| verdict.is_none());
        unknown.map(|(case, _)| case).collect()
    }

    /// Gives `finder` the cases of which nothing is known yet. Whether it has found something.
    pub(super) fn note(
        &mut self,
        finder: &mut dyn FnMut(&[&Case]) -> Result<Findings, AnyError>,
    ) -> Result<bool, AnyError> {
        let findings = finder(&self.open())?;
        let found = !findings.is_empty();
        let open = self
            .cases
            .iter_mut()
            .filter(|(_, verdict)| verdict.is_none());
        // All at once: what is known is no longer open.
        let mut open: Vec<_> = open.map(|(_, verdict)| verdict).collect();
        for (n, verdict) in findings {
            *open[n] = Some(verdict);
        }
        Ok(found)
    }

    /// Whether each was found by the one that its file says, and no harmless one by anybody.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.cases
            .iter()
            .all(|(case, verdict)| is_as_expected(case, verdict.as_ref()))
    }

    fn found(&self, kind: Kind) -> impl Iterator<Item = &Finder> {
        self.of(kind).filter_map(|(_, verdict)| match verdict {
            Some(Verdict::Found(finder, _)) => Some(finder),
            _ => None,
        })
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &(Case, Option<Verdict>)> {
        self.cases.iter().filter(move |(case, _)| case.kind == kind)
    }
}

fn is_as_expected(case: &Case, verdict: Option<&Verdict>) -> bool {
    match verdict {
        Some(Verdict::Found(finder, _)) => finder.to_string() == case.expected,
        Some(Verdict::Broken(..)) => false,
        None => case.kind == Kind::Harmless,
    }
}

fn said(verdict: Option<&Verdict>) -> String {
    match verdict {
        Some(Verdict::Found(finder, _)) => finder.to_string(),
        Some(Verdict::Broken(place, _)) => format!("({place} fails)"),
        None => "-".to_owned(),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  {:<40} {:<24} found by",
            "nondeterministic", "expected"
        )?;
        for (case, verdict) in self.of(Kind::Nondeterministic) {
            writeln!(
                f,
                "  {:<40} {:<24} {}",
                case.name,
                case.expected,
                said(verdict.as_ref())
            )?;
        }
        writeln!(f, "\n  {:<40} {:<24} found by", "harmless", "expected")?;
        for (case, verdict) in self.of(Kind::Harmless) {
            writeln!(
                f,
                "  {:<40} {:<24} {}",
                case.name,
                "-",
                said(verdict.as_ref())
            )?;
        }
        for (case, verdict) in &self.cases {
            if is_as_expected(case, verdict.as_ref()) {
                continue;
            }
            let expected = if case.expected.is_empty() {
                "-"
            } else {
                &case.expected
            };
            let said = said(verdict.as_ref());
            writeln!(
                f,
                "\n{}: expected {expected}, found by {said}",
                case.path.display()
            )?;
            if let Some(Verdict::Found(_, text) | Verdict::Broken(_, text)) = verdict {
                text.lines()
                    .try_for_each(|line| writeln!(f, "    {line}"))?;
            }
        }
        let nets = ["macro", "clippy", "perturbed run", "sandbox"].map(|net| {
            let found = self.found(Kind::Nondeterministic);
            format!(
                "{net} {}",
                found.filter(|finder| finder.net() == net).count()
            )
        });
        let [found, flagged] =
            [Kind::Nondeterministic, Kind::Harmless].map(|kind| self.found(kind).count());
        let [all, harmless] =
            [Kind::Nondeterministic, Kind::Harmless].map(|kind| self.of(kind).count());
        writeln!(f, "\n{}", nets.join(", "))?;
        writeln!(
            f,
            "found {found} of {all}\nharmless flagged {flagged} of {harmless}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of one case.
    fn after(kind: Kind, expected: &str, verdict: Option<Verdict>) -> Report {
        let case = Case {
            kind,
            name: "case".to_owned(),
            path: "case.rs".into(),
            expected: expected.to_owned(),
            allows: false,
        };
        let mut report = Report::new(vec![case]);
        let found = report.note(&mut |open| {
            assert_eq!(open.len(), 1);
            Ok(verdict
                .clone()
                .into_iter()
                .map(|verdict| (0, verdict))
                .collect())
        });
        assert_eq!(found.ok(), Some(verdict.is_some()));
        report
    }

    fn by_clippy() -> Option<Verdict> {
        let rules = ["D101".to_owned(), "D102".to_owned()];
        Some(Verdict::Found(
            Finder::Clippy(rules.into()),
            "it said so".to_owned(),
        ))
    }

    #[test]
    fn what_is_found_by_the_one_that_was_named_is_as_expected() {
        let report = after(Kind::Nondeterministic, "clippy D101, D102", by_clippy());
        assert!(report.is_as_expected());
        assert!(
            report
                .to_string()
                .ends_with("\nfound 1 of 1\nharmless flagged 0 of 0\n")
        );
        assert!(after(Kind::Harmless, "", None).is_as_expected());
    }

    #[test]
    fn all_else_is_not_and_is_told() {
        let broken = || Some(Verdict::Broken("clippy", "it broke".to_owned()));
        for (kind, expected, verdict) in [
            (Kind::Nondeterministic, "perturbed run", by_clippy()),
            (Kind::Nondeterministic, "clippy D101", by_clippy()),
            (Kind::Nondeterministic, "clippy D101, D102", None),
            (Kind::Nondeterministic, "clippy D101, D102", broken()),
            (Kind::Harmless, "", by_clippy()),
            (Kind::Harmless, "", broken()),
        ] {
            let report = after(kind, expected, verdict);
            assert!(!report.is_as_expected(), "{report}");
            assert!(
                report.to_string().contains("\ncase.rs: expected "),
                "{report}"
            );
        }
    }
}
