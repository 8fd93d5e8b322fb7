//! `perennial clippy`: what workflows may not call, in a `clippy.toml`.

use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use perennial_codegen::clippy::{self, NotCurrent};
use serde::Deserialize;
use toml::{Spanned, Value};

use crate::replace::replace;
use crate::{AnyError, Outcome};

/// Puts the calls that workflows may not make into clippy.toml, or brings them up to date
///
/// Clippy then finds them by type, under whatever name, in the functions that `#[workflow]` and `#[durable]`
/// generate. They stand between two marker lines; all else in the file stays as it is.
#[derive(Debug, Args)]
pub(crate) struct Command {
    /// The file, or the folder that it is in
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Changes nothing; exit code 1 where it would
    #[arg(long)]
    check: bool,
}

impl Command {
    /// Does it, and gives what there is to say about it.
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let path = file(&self.path)?;
        let there = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                return Err(format!("{}: it cannot be read: {error}", path.display()).into());
            }
        };
        let old = there.as_deref().unwrap_or_default();
        let in_file = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let wrong = match clippy::is_current(old) {
            // The lines may stand where clippy does not look for them.
            Ok(()) => misplaced(old)
                .map_err(|error| in_file(&error))?
                .then_some(NotCurrent::Absent),
            Err(wrong) => Some(wrong),
        };
        let Some(wrong) = wrong else {
            return Ok((in_file(&"up to date\n"), Outcome::Done));
        };
        if self.check || matches!(wrong, NotCurrent::Broken { .. }) {
            return Err(in_file(&wrong).into());
        }
        let new = with_entries(old).map_err(|error| in_file(&error))?;
        replace(&path, &new).map_err(|error| in_file(&format!("it cannot be written: {error}")))?;
        let entries = clippy::paths().count();
        let mut text = in_file(&format!(
            "{entries} entries are in it, between marker lines\n"
        ));
        if let Some(table) = to_allow_elsewhere(&path) {
            text.push_str(&elsewhere(table));
        }
        Ok((text, Outcome::Done))
    }
}

/// What is left to do, by hand, since it is a matter of the whole program.
fn elsewhere(table: &str) -> String {
    let inherited = match table {
        "workspace.lints.clippy" => ", and `lints.workspace = true` into that of each member",
        _ => "",
    };
    format!(
        "\n\
         So that they hold for workflows alone, put this into Cargo.toml{inherited}. Clippy warns of them everywhere otherwise.\n\
         \n    [{table}]\n    disallowed_methods = \"allow\"\n"
    )
}

/// The file that clippy reads in a folder.
fn file(path: &Path) -> Result<PathBuf, String> {
    let names = [".clippy.toml", "clippy.toml"];
    if path.is_dir() {
        let [hidden, plain] = names.map(|name| path.join(name));
        return Ok(if hidden.exists() { hidden } else { plain });
    }
    let is_one = path
        .file_name()
        .is_some_and(|name| names.iter().any(|known| name == *known));
    if is_one || path.exists() {
        return Ok(path.to_owned());
    }
    Err(format!(
        "{}: there is no such folder\n\n\
         help: name the folder of Cargo.toml, or a file `clippy.toml` in it",
        path.display()
    ))
}

/// What there is to know of a `clippy.toml`. An array of tables has no place of its own.
#[derive(Deserialize)]
struct Settings {
    #[serde(rename = "disallowed-methods")]
    disallowed: Option<Spanned<Vec<Value>>>,
}

/// Where the array stands, with its brackets.
fn array(text: &str) -> Result<Option<Range<usize>>, String> {
    let settings: Settings = toml::from_str(text).map_err(|error| {
        format!(
            "it is not as clippy wants it\n\n{}",
            error.to_string().trim_end()
        )
    })?;
    let Some(span) = settings.disallowed.map(|methods| methods.span()) else {
        return Ok(None);
    };
    let is_array = text
        .get(span.clone())
        .is_some_and(|text| text.starts_with('[') && !text.starts_with("[["));
    if is_array {
        return Ok(Some(span));
    }
    Err(
        "`disallowed-methods` is written as tables, between which nothing can be put\n\n\
         help: write it as one array: `disallowed-methods = [{ path = \"..\" }, ..]`"
            .to_owned(),
    )
}

/// Whether the marker lines stand outside of the array.
fn misplaced(text: &str) -> Result<bool, String> {
    let block = clippy::find(text).map_err(|error| error.to_string())?;
    Ok(match (block, array(text)?) {
        (Some(block), Some(array)) => block.start < array.start || array.end < block.end,
        (Some(_), None) => true,
        (None, _) => false,
    })
}

/// The text with the entries of this version, at the place of others if there are any.
fn with_entries(text: &str) -> Result<String, String> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let block = clippy::block().replace('\n', newline);
    let mut new = text.to_owned();
    match clippy::find(text).map_err(|error| error.to_string())? {
        Some(old) if !misplaced(text)? => {
            new.replace_range(old, &block);
            return checked(text, new);
        }
        Some(old) => new.replace_range(old, ""),
        None => {}
    }
    match array(&new)? {
        // First, so that of two entries of one path the user's holds.
        Some(array) => {
            let (before, after) = new.split_at(array.start + 1);
            let after = match after.strip_prefix(newline) {
                Some(after) => after.to_owned(),
                None => match after.trim_start_matches([' ', '\t']) {
                    after if after.starts_with(']') => after.to_owned(),
                    after => format!("    {after}"),
                },
            };
            new = format!("{before}{newline}{block}{after}");
        }
        None => {
            // Before the first table, where the keys of the file itself are.
            let head = text_before_tables(&new);
            let (before, after) = new.split_at(head);
            let if_not = |there: bool| if there { "" } else { newline };
            let line = if_not(before.is_empty() || before.ends_with('\n'));
            let gap = if_not(before.is_empty() || before.ends_with(&newline.repeat(2)));
            let space = if_not(after.is_empty());
            new = format!(
                "{before}{line}{gap}disallowed-methods = [{newline}{block}]{newline}{space}{after}"
            );
        }
    }
    checked(text, new)
}

/// How much of the text comes before the first table.
fn text_before_tables(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_table = line.starts_with('[') && toml::from_str::<toml::Table>(&text[..at]).is_ok();
        if is_table {
            return at;
        }
        at += line.len();
    }
    at
}

/// The new text, if all that the old one says outside of the marker lines is in it, and between them the entries
/// of this version.
fn checked(old: &str, new: String) -> Result<String, String> {
    let of_the_user = |text: &str| {
        let mut text = text.to_owned();
        if let Ok(Some(block)) = clippy::find(&text) {
            text.replace_range(block, "");
        }
        let mut table = toml::from_str::<toml::Table>(&text).ok()?;
        let entries = table.remove("disallowed-methods");
        Some((
            table,
            entries
                .and_then(|entries| entries.as_array().cloned())
                .unwrap_or_default(),
        ))
    };
    let kept = of_the_user(old).is_some_and(|kept| of_the_user(&new) == Some(kept));
    if kept && clippy::is_current(&new).is_ok() && misplaced(&new) == Ok(false) {
        return Ok(new);
    }
    Err(
        "the entries cannot be put into it without a change of something else; it was left alone"
            .to_owned(),
    )
}

/// The table of the manifest beside it in which it has to be said that all else may call what it likes; `None` where
/// it is said, there or in the workspace that it takes its lints from.
fn to_allow_elsewhere(path: &Path) -> Option<&'static str> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let beside = manifest(&path.with_file_name("Cargo.toml"));
    let says = |table: &toml::Table| {
        let lints = table.get("lints").and_then(|lints| lints.get("clippy"));
        lints.is_some_and(|lints| lints.get("disallowed_methods").is_some())
    };
    let says_for_members = |manifest: &toml::Table| {
        manifest
            .get("workspace")
            .and_then(Value::as_table)
            .is_some_and(says)
    };
    let inherits = beside
        .get("lints")
        .and_then(|lints| lints.get("workspace"))
        .is_some_and(|inherits| inherits.as_bool() == Some(true));
    let said_above = || {
        path.ancestors()
            .skip(2)
            .any(|folder| says_for_members(&manifest(&folder.join("Cargo.toml"))))
    };
    if says(&beside) || says_for_members(&beside) || (inherits && said_above()) {
        None
    } else if inherits || (beside.contains_key("workspace") && !beside.contains_key("package")) {
        Some("workspace.lints.clippy")
    } else {
        Some("lints.clippy")
    }
}

fn manifest(path: &Path) -> toml::Table {
    let text = fs::read_to_string(path).unwrap_or_default();
    toml::from_str(&text).unwrap_or_default()
}
