//! What clippy finds by type: the calls of the [`rules`] as lines for a `clippy.toml`.
//!
//! The attributes put `#[deny(clippy::disallowed_methods)]` on the functions that they generate. Which methods
//! those are is said in `clippy.toml`, under a key that holds the user's own entries too. So what is here stands
//! between two marker lines, inside of that array, and the rest of the file belongs to its user. The command
//! `perennial clippy` puts it in and keeps it current.

use std::collections::BTreeMap;
use std::fmt;

use crate::check::{Denied, Kind, Rule, rules};

/// The line before the entries.
pub const BEGIN: &str = "# >>> perennial: kept by `perennial clippy`, changes are lost";

/// The line after the entries.
pub const END: &str = "# <<< perennial";

/// The entries between their marker lines: each line indented by four spaces and ended.
#[must_use]
pub fn block() -> String {
    let lines = lines().into_values();
    let all = std::iter::once(BEGIN.to_owned())
        .chain(lines)
        .chain([END.to_owned()]);
    all.map(|line| format!("    {line}\n")).collect()
}

/// The paths of the entries, sorted.
pub fn paths() -> impl Iterator<Item = String> {
    lines().into_keys()
}

/// Whether the text of a `clippy.toml` has the entries of this version. How lines are indented does not matter.
///
/// # Errors
///
/// What is wrong with it, and what to do.
pub fn is_current(text: &str) -> Result<(), NotCurrent> {
    let block = find(text)?.ok_or(NotCurrent::Absent)?;
    let there: Vec<_> = text[block]
        .lines()
        .map(dense)
        .filter(|line| !line.is_empty())
        .collect();
    let wanted = crate::clippy::block();
    let wanted: Vec<_> = wanted.lines().map(dense).collect();
    if there == wanted {
        return Ok(());
    }
    let paths = |lines: &[String]| {
        lines
            .iter()
            .filter_map(|line| path(line))
            .collect::<Vec<_>>()
    };
    let (there, wanted) = (paths(&there), paths(&wanted));
    let not_in = |some: &[String], others: &[String]| {
        some.iter()
            .filter(|path| !others.contains(path))
            .cloned()
            .collect()
    };
    Err(NotCurrent::Outdated {
        missing: not_in(&wanted, &there),
        superfluous: not_in(&there, &wanted),
    })
}

/// Where the marker lines and what is between them stand in a `clippy.toml`: whole lines, with the end of the last.
///
/// # Errors
///
/// When one of them is there without the other, or more than once.
pub fn find(text: &str) -> Result<Option<std::ops::Range<usize>>, NotCurrent> {
    let (mut begin, mut end) = (None, None);
    let mut at = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let broken = Err(NotCurrent::Broken { line: number });
        let is = |marker: &str| line.trim().starts_with(marker);
        if is("# >>> perennial") {
            if begin.replace((at, number)).is_some() {
                return broken;
            }
        } else if is(END) && (begin.is_none() || end.replace(at + line.len()).is_some()) {
            return broken;
        }
        at += line.len();
    }
    match (begin, end) {
        (Some((begin, _)), Some(end)) => Ok(Some(begin..end)),
        (Some((_, line)), None) => Err(NotCurrent::Broken { line }),
        (None, _) => Ok(None),
    }
}

/// Why a `clippy.toml` does not have the entries of this version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotCurrent {
    /// There are no marker lines.
    Absent,
    /// A marker line has no counterpart.
    Broken {
        /// Its number, from 1.
        line: usize,
    },
    /// The lines between the markers are others. Where both lists are empty, it is reasons that differ.
    Outdated {
        /// The paths that it has to get.
        missing: Vec<String>,
        /// The paths that it has to lose.
        superfluous: Vec<String>,
    },
}

impl fmt::Display for NotCurrent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str(
                "it does not have the calls that workflows may not make\n\n\
                 help: `perennial clippy` puts them in",
            ),
            Self::Broken { line } => write!(
                f,
                "the marker of Perennial in line {line} has no counterpart\n\n\
                 help: delete this line and the entries of Perennial beside it, and call `perennial clippy`"
            ),
            Self::Outdated {
                missing,
                superfluous,
            } => {
                f.write_str(
                    "the calls that workflows may not make are others in this version\n\n",
                )?;
                if missing.is_empty() && superfluous.is_empty() {
                    f.write_str("  some reasons have changed\n")?;
                }
                for (what, paths) in [("to be put in", missing), ("to be taken out", superfluous)] {
                    if !paths.is_empty() {
                        writeln!(f, "  {what}: {}", Listed(paths))?;
                    }
                }
                f.write_str("\nhelp: `perennial clippy` brings it up to date")
            }
        }
    }
}

impl std::error::Error for NotCurrent {}

/// The first three paths, and how many more there are.
struct Listed<'a>(&'a [String]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, more) = self.0.split_at(self.0.len().min(3));
        for (n, path) in shown.iter().enumerate() {
            write!(f, "{}`{path}`", if n == 0 { "" } else { ", " })?;
        }
        match more.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// An entry for each path.
fn lines() -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    for rule in rules() {
        // Clippy knows macros by another lint.
        for denied in rule
            .denied
            .iter()
            .filter(|denied| denied.kind != Kind::Macro)
        {
            for path in denied.paths() {
                let line = entry(&path, rule, denied);
                lines.entry(path).or_insert(line);
            }
        }
    }
    lines
}

/// `allow-invalid`: who does not use a crate does not hear that its paths are not there.
fn entry(path: &str, rule: &Rule, denied: &Denied) -> String {
    let because = denied.because.unwrap_or(rule.because);
    let reason = format!("[{}] it {because}: {}", rule.code, denied.instead);
    format!(
        "{{ path = {}, reason = {}, allow-invalid = true }},",
        quoted(path),
        quoted(&reason)
    )
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn dense(line: &str) -> String {
    line.split_whitespace().collect()
}

/// The path of an entry without spaces.
fn path(line: &str) -> Option<String> {
    let (path, _) = line.strip_prefix("{path=\"")?.split_once('"')?;
    Some(path.to_owned())
}
