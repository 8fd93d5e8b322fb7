//! The first two of the four: what the compiler and clippy say, by file.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Output;

use serde_json::Value;

use super::package;
use super::report::{Finder, Findings, Verdict};
use super::{AnyError, Case};
use crate::workspace::{Workspace, write_if_changed};

/// `cargo check`.
pub(super) fn check(workspace: &Workspace, cases: &[&Case]) -> Result<Findings, AnyError> {
    let package = workspace.crate_of("check", cases)?;
    let output = package.cargo("check", ["--message-format=json"])?;
    judged("the compiler", &output, cases, Finder::Macro)
}

/// `cargo clippy` with the fragment that is shipped.
pub(super) fn clippy(workspace: &Workspace, cases: &[&Case]) -> Result<Findings, AnyError> {
    let package = workspace.crate_of("clippy", cases)?;
    let fragment = package::shipped()?;
    write_if_changed(&package.folder().join("clippy.toml"), &fragment)?;
    let output = package.cargo("clippy", ["--message-format=json"])?;
    judged("clippy", &output, cases, Finder::Clippy)
}

/// All errors of a file together.
#[derive(Default)]
struct Errors {
    rules: BTreeSet<String>,
    /// Those that are of no rule.
    others: bool,
    text: String,
}

fn judged(
    who: &'static str,
    output: &Output,
    cases: &[&Case],
    finder: fn(BTreeSet<String>) -> Finder,
) -> Result<Findings, AnyError> {
    let mut errors = BTreeMap::<usize, Errors>::new();
    let mut elsewhere = String::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message = &serde_json::from_str::<Value>(line)?["message"];
        if message["level"] != "error" {
            continue;
        }
        let text = message["rendered"].as_str().unwrap_or_default();
        let Some(case) = case_of(message, cases) else {
            // The sum of all errors has no place.
            if !message["spans"].as_array().is_none_or(Vec::is_empty) {
                elsewhere.push_str(text);
            }
            continue;
        };
        let of_case = errors.entry(case).or_default();
        of_case.text.push_str(text);
        match rule(message) {
            Some(rule) => drop(of_case.rules.insert(rule)),
            None => of_case.others = true,
        }
    }
    if !elsewhere.is_empty() || !output.status.success() && errors.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{who} cannot compile the corpus\n{elsewhere}{said}").into());
    }
    let verdict = |(case, errors): (usize, Errors)| {
        let verdict = if errors.others {
            Verdict::Broken(who, errors.text)
        } else {
            Verdict::Found(finder(errors.rules), errors.text)
        };
        (case, verdict)
    };
    Ok(errors.into_iter().map(verdict).collect())
}

/// The case in whose file a message has a place.
fn case_of(message: &Value, cases: &[&Case]) -> Option<usize> {
    let spans = message["spans"].as_array()?;
    let mut names = Vec::new();
    for span in spans {
        let mut span = span;
        // From a macro's definition to where it was called.
        while span.is_object() {
            names.push(span["file_name"].as_str()?);
            span = &span["expansion"]["span"];
        }
    }
    cases
        .iter()
        .position(|case| names.iter().any(|name| case.path.ends_with(name)))
}

/// The code of the rule that an error is of.
fn rule(message: &Value) -> Option<String> {
    let text = message["message"].as_str()?;
    match message["code"]["code"].as_str() {
        Some("E0277") if text.contains("is not durable") => return Some("D118".to_owned()),
        Some("clippy::iter_over_hash_type") => return Some("D111".to_owned()),
        _ => {}
    }
    let notes = message["children"].as_array()?.iter();
    let mut texts = [text]
        .into_iter()
        .chain(notes.filter_map(|note| note["message"].as_str()));
    texts.find_map(|text| {
        let (_, code) = text.split_once("[D")?;
        let (code, _) = code.split_once(']')?;
        (code.len() == 3).then(|| format!("D{code}"))
    })
}
