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

impl fmt::Display for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, rules) = match self {
            Self::Macro(rules) => ("macro", rules),
            Self::Clippy(rules) => ("clippy", rules),
            Self::PerturbedRun => return f.write_str("perturbed run"),
            Self::ChangedWorld => return f.write_str("sandbox, changed world"),
            Self::StrictSandbox => return f.write_str("sandbox, strict"),
        };
        f.write_str(name)?;
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
        let is_found =
            |(_, verdict): &&(Case, Option<Verdict>)| matches!(verdict, Some(Verdict::Found(..)));
        let count = |kind| {
            (
                self.of(kind).filter(is_found).count(),
                self.of(kind).count(),
            )
        };
        let (found, all) = count(Kind::Nondeterministic);
        let (flagged, harmless) = count(Kind::Harmless);
        writeln!(
            f,
            "\nfound {found} of {all}\nharmless flagged {flagged} of {harmless}"
        )
    }
}
