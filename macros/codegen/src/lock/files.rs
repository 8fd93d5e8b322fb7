//! The files of a package: which there are, and which of them its crates are made of.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::search::parsed;
use super::{Finding, Level, SourceError};
use crate::source::{Candidate, Source, candidates};

/// A file below `src`.
pub(super) struct SourceFile {
    /// From the folder of `Cargo.toml` on.
    pub(super) path: PathBuf,
    pub(super) text: io::Result<String>,
}

/// The Rust files below `src`, in the order of their paths.
pub(super) fn files(folder: &Path) -> Result<Vec<SourceFile>, SourceError> {
    let mut files = Vec::new();
    collect(&folder.join("src"), &mut files)?;
    files.sort();
    let files = files.into_iter().map(|path| SourceFile {
        text: std::fs::read_to_string(&path),
        path: path.strip_prefix(folder).unwrap_or(&path).to_owned(),
    });
    Ok(files.collect())
}

/// The Rust files below a folder. Links are not followed, so this ends.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), SourceError> {
    let failed = |error| SourceError::Read {
        path: folder.to_owned(),
        error,
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            collect(&path, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// The files to which the `mod`s of the crates of a package lead. All files, where none of them begins a crate.
///
/// `manifest` is the text of `Cargo.toml`: each Rust file that it names may begin a crate.
pub(super) fn reached(files: &[SourceFile], manifest: &str) -> BTreeSet<PathBuf> {
    let texts: BTreeMap<&Path, &str> = files
        .iter()
        .map(|file| {
            (
                file.path.as_path(),
                file.text.as_deref().unwrap_or_default(),
            )
        })
        .collect();
    let named = manifest.split(['"', '\'']);
    let named: Vec<&Path> = named
        .map(|text| Path::new(text.trim_start_matches("./")))
        .collect();
    let roots = texts
        .keys()
        .filter(|file| is_root(file) || named.contains(file));
    let mut next: Vec<Candidate> = roots
        .map(|file| Candidate {
            file: file.to_path_buf(),
            modules: file.parent().unwrap_or(Path::new("")).to_owned(),
        })
        .collect();
    if next.is_empty() {
        return texts.keys().map(|file| file.to_path_buf()).collect();
    }
    let mut seen = BTreeSet::new();
    while let Some(candidate) = next.pop() {
        if let Some(text) = texts.get(candidate.file.as_path())
            && seen.insert(candidate.clone())
        {
            next.extend(candidates(&candidate.file, &candidate.modules, text));
        }
    }
    seen.into_iter().map(|candidate| candidate.file).collect()
}

/// Where a crate begins if nothing else is said.
fn is_root(file: &Path) -> bool {
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    matches!(
        parts.as_slice(),
        ["src", "lib.rs" | "main.rs"] | ["src", "bin", _] | ["src", "bin", _, "main.rs"]
    )
}

/// What there is to say of a file to which no `mod` leads: that its workflows are not locked, or that it is no Rust.
pub(super) fn left_out(file: &SourceFile) -> Option<Finding> {
    const HELP: &str =
        "help: if it belongs to the program, declare it by a `mod` that no macro writes";
    let note = |line: usize, column: usize, width: usize, text: String| Finding {
        code: None,
        level: Level::Note,
        key: None,
        file: file.path.clone(),
        line,
        column,
        width,
        source: {
            let text = file.text.as_deref().unwrap_or_default();
            text.lines().nth(line - 1).unwrap_or_default().to_owned()
        },
        text,
    };
    let text = match &file.text {
        Ok(text) => text,
        Err(error) => {
            let what = format!(
                "this file cannot be read, and no `mod` leads to it: it is left out: {error}\n\n{HELP}"
            );
            return Some(note(1, 1, 1, what));
        }
    };
    if let Err(SourceError::Parse { line, column, .. }) = parsed(&file.path, text) {
        let what =
            format!("this file does not parse, and no `mod` leads to it: it is left out\n\n{HELP}");
        return Some(note(line.max(1), column, 1, what));
    }
    let functions = Source::read(text).functions;
    let locked = functions.into_iter().find(|function| {
        let mut names = function.attributes.iter().map(|attribute| &attribute.name);
        !function.is_test && names.any(|name| name == "workflow" || name == "durable")
    })?;
    let before = text.lines().nth(locked.line - 1)?.split(&locked.name);
    let column = before
        .take(1)
        .map(|before| before.chars().count())
        .sum::<usize>()
        + 1;
    let what = format!(
        "no `mod` leads to this file, so `{}` and what else is in it is not locked\n\n{HELP}",
        locked.name
    );
    Some(note(locked.line, column, locked.name.chars().count(), what))
}
