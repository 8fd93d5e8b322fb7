//! The functions of a package that can be locked, as its sources have them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use syn::visit::Visit;

use super::compare::compare;
use super::files::{SourceFile, files, left_out, reached};
use super::search::{Search, parsed};
use super::shared::shared;
use super::{Finding, Key, Kind, Level, Lock, SourceError};
use crate::index::Index;
use crate::markers::Marker;
use crate::shape::{Place, Shape};

/// The functions of a package.
///
/// They are found in the files below `src` to which the `mod`s of its crates lead, whatever `cfg` stands on them, but
/// for modules that are there for tests only. A function that a macro writes is not seen, nor is one whose attribute
/// says `lock = false`.
pub struct Package {
    functions: Vec<Function>,
    /// Those whose attribute says `lock = false`, each with its place.
    pub(super) left_out: Vec<Finding>,
    /// What is to be said of the sources whatever the lock is.
    remarks: Vec<Finding>,
}

impl fmt::Debug for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.functions.iter().map(|function| &function.key);
        f.debug_set().entries(keys).finish()
    }
}

/// A function of a package.
pub struct Function {
    /// Its key in the lock.
    pub key: Key,
    /// The file, from the folder of `Cargo.toml` on.
    pub file: PathBuf,
    /// The line of its name, from 1.
    pub line: usize,
    /// The lines of its shape, all markers included.
    pub structure: String,
    pub(super) shape: Shape,
    /// The markers of the durable functions that it reaches, each with its function.
    pub(super) reached: Vec<(String, Marker)>,
    /// Markers of which it cannot be told what they guard, so that there is nothing to compare.
    pub(super) mistakes: Vec<Finding>,
    pub(super) text: Rc<str>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("key", &self.key)
            .field("file", &self.file)
            .field("line", &self.line)
            .field("structure", &self.structure)
            .finish_non_exhaustive()
    }
}

impl Package {
    /// Reads the sources of the package in `folder`, the one of its `Cargo.toml`. What is said of files to which no
    /// `mod` leads are notes.
    ///
    /// # Errors
    ///
    /// A source cannot be read or is no Rust.
    pub fn read(folder: &Path) -> Result<Package, SourceError> {
        let files = files(folder)?;
        // Where there is no manifest, crates begin in the usual files.
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        let reached = reached(&files, &manifest);
        // As the macro has it, which does not know which files belong to a crate.
        let mut index = Index::default();
        for file in &files {
            if let Ok(text) = &file.text {
                index.add(&file.path, text);
            }
        }
        let (mut sources, mut remarks) = (Vec::with_capacity(files.len()), Vec::new());
        for file in files {
            if !reached.contains(&file.path) {
                if !index.is_test(&file.path) {
                    remarks.extend(left_out(&file));
                }
                continue;
            }
            let SourceFile { path, text } = file;
            match text {
                Ok(text) => sources.push((path, text)),
                Err(error) => {
                    let path = folder.join(path);
                    return Err(SourceError::Read { path, error });
                }
            }
        }
        Package::of(&index, &sources, remarks).map_err(|error| match error {
            SourceError::Parse {
                path,
                line,
                column,
                message,
            } => SourceError::Parse {
                path: folder.join(path),
                line,
                column,
                message,
            },
            other => other,
        })
    }

    /// The same of texts, each with the path of its file from the folder of `Cargo.toml` on: `src/lib.rs`.
    ///
    /// # Errors
    ///
    /// A text is no Rust.
    pub fn of_sources(sources: &[(PathBuf, String)]) -> Result<Package, SourceError> {
        let mut index = Index::default();
        for (path, text) in sources {
            index.add(path, text);
        }
        Package::of(&index, sources, Vec::new())
    }

    fn of(
        index: &Index,
        sources: &[(PathBuf, String)],
        remarks: Vec<Finding>,
    ) -> Result<Package, SourceError> {
        let mut package = Package {
            functions: Vec::new(),
            left_out: Vec::new(),
            remarks,
        };
        for (path, text) in sources {
            if index.is_test(path) {
                continue;
            }
            let file = parsed(path, text)?;
            let mut search = Search {
                index,
                path,
                text: text.as_str().into(),
                functions: &mut package.functions,
                left_out: &mut package.left_out,
                remarks: &mut package.remarks,
            };
            search.visit_file(&file);
        }
        package.refuse_doubles();
        Ok(package)
    }

    /// Its functions, file by file.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Of functions with one key only those are told apart whose lines are the same: conditions may choose between
    /// them.
    fn refuse_doubles(&mut self) {
        let mut first: BTreeMap<Key, usize> = BTreeMap::new();
        let mut kept: Vec<Function> = Vec::new();
        for function in std::mem::take(&mut self.functions) {
            match first.get(&function.key) {
                None => {
                    first.insert(function.key.clone(), kept.len());
                    kept.push(function);
                }
                Some(at) if kept[*at].structure == function.structure => {}
                Some(at) => {
                    let other = &kept[*at];
                    let headline = format!(
                        "`{}` is here and in {}:{}, and they are not the same: the lock cannot tell which one is released",
                        function.key,
                        other.file.display(),
                        other.line
                    );
                    let helps = match function.key.kind {
                        Kind::Workflow => {
                            "give one another name, or leave both out: `#[workflow(lock = false)]`"
                        }
                        Kind::Durable => {
                            "give one another name, or leave both out: `#[durable(lock = false)]`"
                        }
                    };
                    let place = Place::at(function.shape.name);
                    self.remarks.push(Finding {
                        code: None,
                        level: Level::Error,
                        ..function.finding(place, format!("{headline}\n\nhelp: {helps}"))
                    });
                }
            }
        }
        self.functions = kept;
    }

    /// What there is to say of the package and this lock, file by file.
    #[must_use]
    pub fn compare(&self, lock: &Lock) -> Vec<Finding> {
        let mut findings = self.remarks.clone();
        let moved = self.moved(lock);
        for function in &self.functions {
            if !function.mistakes.is_empty() {
                findings.extend(function.mistakes.iter().cloned());
                continue;
            }
            let section = match lock.functions.get(&function.key) {
                Some(section) => section,
                None => match moved.iter().find(|(_, to)| **to == function.key) {
                    Some((from, _)) => {
                        findings.push(function.note(format!(
                            "`{}` was `{from}` when it was released\n\nhelp: `perennial lock` writes it down",
                            function.key
                        )));
                        &lock.functions[*from]
                    }
                    None => {
                        findings.push(function.note(format!(
                            "`{}` is not released yet\n\nhelp: `perennial lock` releases it",
                            function.key
                        )));
                        continue;
                    }
                },
            };
            let Function {
                key,
                shape,
                reached,
                ..
            } = function;
            let mut differences = compare(key, section, shape, reached);
            if key.kind == Kind::Workflow {
                differences.extend(shared(lock, key, section, shape, reached));
            }
            if differences.is_empty() && function.lines() != section.lines {
                findings.push(function.note(format!(
                    "`{}` has markers or versions that are not released yet\n\nhelp: `perennial lock` releases them",
                    function.key
                )));
            }
            findings.extend(differences.into_iter().map(|difference| Finding {
                code: Some(difference.code),
                level: if difference.is_warning() {
                    Level::Warning
                } else {
                    Level::Error
                },
                ..function.finding(difference.place, difference.text)
            }));
        }
        findings.extend(self.not_there(lock, &moved));
        findings
    }
}

impl Function {
    pub(super) fn lines(&self) -> Vec<String> {
        self.structure.lines().map(str::to_owned).collect()
    }

    fn note(&self, text: String) -> Finding {
        self.finding(Place::at(self.shape.name), text)
    }

    /// A note at a place in its file.
    fn finding(&self, place: Place, text: String) -> Finding {
        Finding {
            key: Some(self.key.clone()),
            ..at(&self.file, &self.text, place, text)
        }
    }
}

/// A note at a place in a file.
pub(super) fn at(file: &Path, source: &str, place: Place, text: String) -> Finding {
    let (start, end) = (place.first.start(), place.last.end());
    let source = source
        .lines()
        .nth(start.line.saturating_sub(1))
        .unwrap_or_default();
    let end = if end.line == start.line {
        end.column
    } else {
        source.trim_end().chars().count()
    };
    Finding {
        code: None,
        level: Level::Note,
        key: None,
        file: file.to_owned(),
        line: start.line,
        column: start.column + 1,
        width: end.saturating_sub(start.column),
        source: source.to_owned(),
        text,
    }
}
