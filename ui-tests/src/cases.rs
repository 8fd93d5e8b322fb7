//! The numbered cases of messages, mailboxes and requirements, and the tests that show them.
//!
//! A test carries the numbers that it shows at the front of its name: `m13_m17_the_same_send_again`. `cases.txt` has all
//! cases; one that no test shows says why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fmt, fs};

use crate::AnyError;
use crate::workspace::repository;

/// Where tests are.
const FOLDERS: [&str; 6] = ["book", "examples", "macros", "runtime", "sdk", "ui-tests"];

/// A case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its number: `M7`.
    pub number: String,
    /// What must hold.
    pub text: String,
    /// Why no test shows it yet.
    pub open: Option<String>,
    /// The tests that show it.
    pub tests: BTreeSet<String>,
}

/// All cases with their tests.
#[derive(Debug, Default)]
pub struct Report {
    /// In the order of the file.
    pub cases: Vec<Case>,
}

impl Report {
    /// What is not as the file says, one line each: a case that no test shows and that is not open, and one that is
    /// open though a test shows it.
    #[must_use]
    pub fn wrong(&self) -> Vec<String> {
        let judge = |case: &Case| match (&case.open, case.tests.first()) {
            (None, None) => Some(format!(
                "{} has no test, and cases.txt does not say why",
                case.number
            )),
            (Some(_), Some(test)) => Some(format!(
                "{} is open in cases.txt, and `{test}` shows it",
                case.number
            )),
            _ => None,
        };
        self.cases.iter().filter_map(judge).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for case in &self.cases {
            writeln!(f, "{:<5} {}", case.number, case.text)?;
            match &case.open {
                Some(why) => writeln!(f, "      open: {why}")?,
                None => {
                    for test in &case.tests {
                        writeln!(f, "      {test}")?;
                    }
                }
            }
        }
        let open = self.cases.iter().filter(|case| case.open.is_some()).count();
        writeln!(
            f,
            "\n{} cases: {} shown, {open} open",
            self.cases.len(),
            self.cases.len() - open
        )
    }
}

/// Reads the cases and looks for their tests.
///
/// # Errors
///
/// When a file cannot be read, or a line of `cases.txt` is none.
pub fn report() -> Result<Report, AnyError> {
    let root = repository();
    let mut tests = BTreeMap::new();
    for folder in FOLDERS {
        read(&root.join(folder), &mut tests)?;
    }
    let cases = parse(&fs::read_to_string(root.join("ui-tests/cases.txt"))?)?;
    let cases = cases.into_iter().map(|case| Case {
        tests: tests.remove(&case.number).unwrap_or_default(),
        ..case
    });
    Ok(Report {
        cases: cases.collect(),
    })
}

fn parse(text: &str) -> Result<Vec<Case>, AnyError> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (number, rest) = line
                .split_once(' ')
                .ok_or_else(|| format!("cases.txt: `{line}` is no case"))?;
            let (text, open) = match rest.split_once(" | open: ") {
                Some((text, open)) => (text, Some(open.trim().to_owned())),
                None => (rest, None),
            };
            Ok(Case {
                number: number.to_owned(),
                text: text.trim().to_owned(),
                open,
                tests: BTreeSet::new(),
            })
        })
        .collect()
}

/// The tests below a folder, by the numbers in their names.
fn read(folder: &Path, tests: &mut BTreeMap<String, BTreeSet<String>>) -> Result<(), AnyError> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if name != "target" {
                read(&path, tests)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            for function in functions(&text) {
                for number in numbers(function) {
                    tests.entry(number).or_default().insert(function.to_owned());
                }
            }
        }
    }
    Ok(())
}

/// What stands behind each `fn` at the beginning of a line.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (before, after) = line.split_once("fn ")?;
        let words = ["pub", "pub(crate)", "pub(super)", "async", "const"];
        if !before.split_whitespace().all(|word| words.contains(&word)) {
            return None;
        }
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        Some(&after[..end])
    })
}

/// The numbers at the front of a name: `M13`, `M17` of `m13_m17_the_same`. A number that follows one of a problem is
/// that of one of its points.
fn numbers(function: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in function.split('_') {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &part[letters.len()..];
        let number = digits.parse::<u32>().ok();
        match (letters, number) {
            ("rw", Some(_)) if digits.len() == 2 => found.push(format!("RW{digits}")),
            ("m" | "b" | "o", Some(number)) if digits.len() == 2 => {
                found.push(format!("{}{number}", letters.to_uppercase()));
            }
            ("", Some(_)) if !found.is_empty() => {}
            _ => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_test_stand_at_the_front_of_its_name() {
        assert_eq!(numbers("m13_m17_the_same_send_again"), ["M13", "M17"]);
        assert_eq!(numbers("rw07_2_a_thousand_rounds"), ["RW07"]);
        assert_eq!(numbers("b06_reopen_is_atomic"), ["B6"]);
        assert_eq!(numbers("a_run_of_m13"), Vec::<String>::new());
        assert_eq!(
            numbers("m1_is_not_how_they_are_written"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn functions_are_found_and_calls_are_not() {
        let text = "    pub(crate) async fn m01_waits() {\n// a fn m02_told(\nlet x = m03_called();\nfn b01_one(";
        assert_eq!(
            functions(text).collect::<Vec<_>>(),
            ["m01_waits", "b01_one"]
        );
    }

    #[test]
    fn a_case_that_is_shown_is_not_open_and_one_that_is_not_says_so() {
        let text = "# a title\n\nM1  it waits\nM2  it is early | open: to come\n";
        let cases = parse(text).unwrap_or_else(|error| panic!("{error}"));
        let mut report = Report { cases };
        assert_eq!(report.wrong().len(), 1, "{report}");
        report.cases[1].tests.insert("m02_early".to_owned());
        report.cases[0].tests.insert("m01_waits".to_owned());
        let wrong = ["M2 is open in cases.txt, and `m02_early` shows it"];
        assert_eq!(report.wrong(), wrong);
    }
}
