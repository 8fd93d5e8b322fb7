//! The functions of a package that can be locked, as its sources have them.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Signature};

use super::compare::compare;
use super::texts::quoted;
use super::{FILE, Finding, Key, Kind, Level, Lock, Section, Unreadable, texts};
use crate::index::Index;
use crate::shape::{Place, Shape, Surroundings, context_of};

/// The functions of a package.
///
/// They are found in the files below `src`, but for modules that are there for tests only. A function that a macro
/// writes is not seen, nor is one whose attribute says `lock = false`.
pub struct Package {
    functions: Vec<Function>,
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
    text: std::rc::Rc<str>,
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

/// A source or a lock that cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum SourceError {
    /// A file or a folder cannot be read.
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A source is no Rust.
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The lock is none (L309).
    Lock {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: Unreadable,
    },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Read { path, error } => {
                write!(f, "{}: it cannot be read: {error}", path.display())
            }
            SourceError::Parse {
                path,
                line,
                column,
                message,
            } => write!(
                f,
                "{}:{line}:{column}: it does not parse: {message}\n\nhelp: `cargo check` says more",
                path.display()
            ),
            SourceError::Lock { path, error } => write!(
                f,
                "{}:{}:1: {}",
                path.display(),
                error.line,
                unreadable(error)
            ),
        }
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SourceError::Read { error, .. } => Some(error),
            SourceError::Lock { error, .. } => Some(error),
            SourceError::Parse { .. } => None,
        }
    }
}

/// The whole text of L309.
pub(super) fn unreadable(error: &Unreadable) -> String {
    let text = error.to_string();
    let (what, more) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut helps: Vec<String> = more
        .lines()
        .map(|help| help.trim_start_matches("help: ").to_owned())
        .collect();
    if helps.is_empty() {
        helps.push("take the file as it was committed last; `perennial lock` writes it".to_owned());
    }
    texts::text("L309", what, "", &helps)
}

impl Package {
    /// Reads the sources of the package in `folder`, the one of its `Cargo.toml`.
    ///
    /// # Errors
    ///
    /// A source cannot be read or is no Rust.
    pub fn read(folder: &Path) -> Result<Package, SourceError> {
        let mut files = Vec::new();
        collect(&folder.join("src"), &mut files)?;
        files.sort();
        let mut sources = Vec::with_capacity(files.len());
        for path in files {
            let text = std::fs::read_to_string(&path).map_err(|error| SourceError::Read {
                path: path.clone(),
                error,
            })?;
            let inside = path.strip_prefix(folder).unwrap_or(&path).to_owned();
            sources.push((inside, text));
        }
        Package::of_sources(&sources).map_err(|error| match error {
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
        let mut package = Package {
            functions: Vec::new(),
            remarks: Vec::new(),
        };
        for (path, text) in sources {
            if index.is_test(path) {
                continue;
            }
            let file = parsed(path, text)?;
            let mut search = Search {
                index: &index,
                path,
                text: text.as_str().into(),
                package: &mut package,
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
            let differences = compare(&function.key, section, &function.shape);
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
        findings.extend(
            self.gone(lock)
                .filter(|(key, _)| !moved.contains_key(key))
                .map(|(key, section)| self.not_there(key, section)),
        );
        findings
    }

    /// Released functions that are not there.
    fn gone<'l>(&self, lock: &'l Lock) -> impl Iterator<Item = (&'l Key, &'l Section)> {
        let is_here = |key: &Key| self.functions.iter().any(|function| function.key == *key);
        lock.functions.iter().filter(move |(key, _)| !is_here(key))
    }

    /// Durable functions that stand elsewhere than when they were released, from their old keys to their new ones:
    /// they have the same name and the same lines, and there is one only.
    pub(super) fn moved<'l>(&self, lock: &'l Lock) -> BTreeMap<&'l Key, Key> {
        let mut moved = BTreeMap::new();
        for (key, section) in self.gone(lock) {
            let name = |key: &Key| key.name.rsplit("::").next().map(str::to_owned);
            let mut candidates = self.functions.iter().filter(|function| {
                key.kind == Kind::Durable
                    && function.key.kind == Kind::Durable
                    && name(&function.key) == name(key)
                    && !lock.functions.contains_key(&function.key)
                    && compare(&function.key, section, &function.shape)
                        .iter()
                        .all(super::compare::Difference::is_warning)
            });
            if let (Some(only), None) = (candidates.next(), candidates.next())
                && !moved.values().any(|taken| *taken == only.key)
            {
                moved.insert(key, only.key.clone());
            }
        }
        moved
    }

    /// L308
    fn not_there(&self, key: &Key, section: &Section) -> Finding {
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
fn at(file: &Path, source: &str, place: Place, text: String) -> Finding {
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

fn parsed(path: &Path, text: &str) -> Result<syn::File, SourceError> {
    let failed = |span: Span, message: String| SourceError::Parse {
        path: path.to_owned(),
        line: span.start().line,
        column: span.start().column + 1,
        message,
    };
    // A first line for the shell is no Rust.
    let text = match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => format!("//{rest}"),
        _ => text.trim_start_matches('\u{feff}').to_owned(),
    };
    let tokens =
        TokenStream::from_str(&text).map_err(|error| failed(error.span(), error.to_string()))?;
    if let Some(error) = crate::parse::too_deep_in(&tokens) {
        return Err(failed(error.span(), error.to_string()));
    }
    syn::parse2(tokens).map_err(|error| failed(error.span(), error.to_string()))
}

/// Looks for functions in one file.
struct Search<'a> {
    index: &'a Index,
    path: &'a Path,
    text: std::rc::Rc<str>,
    package: &'a mut Package,
}

impl Search<'_> {
    fn function(&mut self, attributes: &[Attribute], signature: &Signature, body: &Block) {
        let Some((kind, options)) = attributes.iter().find_map(locked) else {
            return;
        };
        let name = signature.ident.unraw().to_string();
        let line = signature.ident.span().start().line;
        let Some(declared) = self.index.declared(self.path, line, &name) else {
            return;
        };
        if declared.is_test || declared.in_macro || options.is_off {
            return;
        }
        let context = context_of(kind, signature);
        let names = self.index.names_at(self.path, line);
        let surroundings = Surroundings {
            index: self.index,
            names: &names,
        };
        let shape = Shape::of(signature, body, context, &surroundings, true);
        let structure = shape.text();
        let is_pure = signature.asyncness.is_none() && context.is_none() && structure.is_empty();
        if kind == Kind::Durable && is_pure {
            // Whatever it does, it does without the history.
            return;
        }
        let name = match kind {
            Kind::Workflow => options.name.unwrap_or(name),
            Kind::Durable => durable_name(self.path, &declared.path),
        };
        self.package.functions.push(Function {
            key: Key { kind, name },
            file: self.path.to_owned(),
            line,
            structure,
            shape,
            text: self.text.clone(),
        });
    }
}

/// The key of a durable function, by its file and its path there.
pub(super) fn durable_name(file: &Path, path: &str) -> String {
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    format!("{}::{path}", parts.join("/"))
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.attrs, &item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if let Some(place) = workflow_in(call.tokens.clone()) {
            let text = "a workflow that a macro writes is not locked: its code is not here\n\n\
                        help: write the function out, and let it call what the macro makes"
                .to_owned();
            let finding = at(self.path, &self.text, Place::at(place), text);
            self.package.remarks.push(finding);
        }
    }
}

/// What the attribute of a function says about the lock.
#[derive(Default)]
struct Options {
    name: Option<String>,
    /// `lock = false`
    is_off: bool,
}

fn locked(attribute: &Attribute) -> Option<(Kind, Options)> {
    let last = attribute.path().segments.last()?;
    let kind = match last.ident.to_string().as_str() {
        "workflow" => Kind::Workflow,
        "durable" => Kind::Durable,
        _ => return None,
    };
    let mut options = Options::default();
    if let syn::Meta::List(list) = &attribute.meta {
        let tokens: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
        for option in tokens.windows(3) {
            let [TokenTree::Ident(name), TokenTree::Punct(equals), value] = option else {
                continue;
            };
            if equals.as_char() != '=' {
                continue;
            }
            match (name.to_string().as_str(), value) {
                ("name", TokenTree::Literal(text)) => {
                    if let syn::Lit::Str(text) = syn::Lit::new(text.clone()) {
                        options.name = Some(text.value());
                    }
                }
                ("lock", TokenTree::Ident(word)) => options.is_off = word == "false",
                _ => {}
            }
        }
    }
    Some((kind, options))
}

/// Where `#[workflow]` stands in the tokens of a macro.
fn workflow_in(tokens: TokenStream) -> Option<Span> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.iter().enumerate().find_map(|(index, token)| {
        let TokenTree::Group(group) = token else {
            return None;
        };
        let is_attribute = index > 0
            && matches!(&tokens[index - 1], TokenTree::Punct(sign) if sign.as_char() == '#');
        if is_attribute {
            let mut words = group
                .stream()
                .into_iter()
                .take_while(|token| matches!(token, TokenTree::Ident(_) | TokenTree::Punct(_)));
            return words.find_map(|word| match word {
                TokenTree::Ident(name) if name == "workflow" => Some(name.span()),
                _ => None,
            });
        }
        workflow_in(group.stream())
    })
}
