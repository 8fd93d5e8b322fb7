//! What the crate declares, as far as it matters to a macro that sees one function only.
//!
//! The sources are read as plain text and once in a process. To let the compiler parse them would
//! enter every file a second time into its tables, and its syntax trees cannot be kept from one
//! expansion to the next. It is a best effort: what is not found is not known.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;

use crate::markers::Marker;
use crate::names::{FileNames, Meaning as NameMeaning, Names};
use crate::source::{Attribute, Function, Source};

/// The functions of a crate, and per file what is special about it.
#[derive(Debug, Default)]
pub(crate) struct Index {
    functions: HashMap<String, BTreeSet<Meaning>>,
    files: HashMap<PathBuf, File>,
    /// The paths under which files were asked for, each with its key in `files`.
    asked_for: HashMap<PathBuf, PathBuf>,
    /// Files and folders of modules that only tests have.
    test_paths: Vec<PathBuf>,
    /// The names of the workflows in histories.
    workflows: HashSet<String>,
}

#[derive(Debug)]
struct File {
    /// Its functions, by line and name.
    functions: HashMap<(usize, String), Declared>,
    /// When it was changed, as far as that is known.
    changed: Option<SystemTime>,
    /// What its names mean.
    names: Arc<FileNames>,
}

/// Where a function stands.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    /// Its path in the file: `inner::Shop::restock`.
    pub(crate) path: String,
    is_associated: bool,
    /// Stands in what only tests have.
    pub(crate) is_test: bool,
    /// Stands in the tokens of a macro.
    pub(crate) in_macro: bool,
}

/// What a function is to a workflow that calls it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meaning {
    /// With its name in histories.
    Activity(String),
    /// With the functions it calls itself, and the markers it asks for.
    Durable(Vec<String>, Vec<Marker>),
    Other,
}

impl Index {
    /// The index of this crate, which includes the file of `place`.
    pub(crate) fn with<T>(place: Span, ask: impl FnOnce(&Index) -> T) -> T {
        static INDEX: Mutex<Option<Index>> = Mutex::new(None);
        // A panic elsewhere leaves an index that lacks something at worst.
        let mut index = INDEX.lock().unwrap_or_else(PoisonError::into_inner);
        let index = index.get_or_insert_with(Index::of_this_crate);
        if let Some(file) = place.local_file() {
            index.read_file(&file);
        }
        ask(index)
    }

    /// What a function of this name is, if all of that name are the same.
    pub(crate) fn meaning(&self, function: &str) -> Option<&Meaning> {
        let mut meanings = self.functions.get(function)?.iter();
        meanings.next().filter(|_| meanings.next().is_none())
    }

    /// The name in histories of the activity `function`, if there is one such activity: other functions of that
    /// name do not matter.
    pub(crate) fn activity_name(&self, function: &str) -> Option<&str> {
        let meanings = self.functions.get(function)?.iter();
        let mut names = meanings.filter_map(|meaning| match meaning {
            Meaning::Activity(name) => Some(name.as_str()),
            _ => None,
        });
        names.next().filter(|_| names.next().is_none())
    }

    fn of_this_crate() -> Index {
        let mut index = Index::default();
        if let Some(manifest) = std::env::var_os("CARGO_MANIFEST_DIR") {
            index.read_folder(&Path::new(&manifest).join("src"));
        }
        index
    }

    fn read_folder(&mut self, folder: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            // Links are not followed, so this ends.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.read_folder(&path),
                Ok(kind)
                    if kind.is_file()
                        && path.extension().is_some_and(|extension| extension == "rs") =>
                {
                    self.read_file(&path);
                }
                _ => {}
            }
        }
    }

    fn read_file(&mut self, path: &Path) {
        let changed = || path.metadata().and_then(|file| file.modified()).ok();
        let known = self.asked_for.get(path).and_then(|key| self.files.get(key));
        let changed = match known {
            // An editor asks for many versions of a file.
            Some(file) => match changed() {
                changed if changed == file.changed => return,
                changed => changed,
            },
            None => changed(),
        };
        let Ok(canonical) = path.canonicalize() else {
            return;
        };
        self.asked_for.insert(path.to_owned(), canonical.clone());
        let is_current = |file: &File| file.changed == changed;
        if !self.files.get(&canonical).is_some_and(is_current) {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let file = self.read(&canonical, &text, changed);
            self.files.insert(canonical, file);
        }
    }

    fn read(&mut self, path: &Path, text: &str, changed: Option<SystemTime>) -> File {
        let Source {
            functions,
            names,
            test_modules,
            is_test,
        } = Source::read(text);
        let mut file = File {
            functions: HashMap::new(),
            changed,
            names: Arc::new(names),
        };
        if is_test {
            self.test_paths.push(path.to_owned());
        }
        for module in test_modules {
            let module = module_folder(path).join(module.replace("::", "/"));
            self.test_paths.push(module.with_extension("rs"));
            self.test_paths.push(module);
        }
        for function in functions {
            let meaning = meaning(&function);
            // `bank.charge(..)` is not what a bare `charge(cx, ..)` calls, unless it is durable.
            if !(function.is_associated && meaning == Meaning::Other) {
                self.functions
                    .entry(function.name.clone())
                    .or_default()
                    .insert(meaning);
            }
            if let Some(name) = workflow_name(&function) {
                self.workflows.insert(name);
            }
            let declared = Declared {
                path: function.path,
                is_associated: function.is_associated,
                is_test: function.is_test,
                in_macro: function.in_macro,
            };
            file.functions
                .insert((function.line, function.name), declared);
        }
        file
    }

    /// Adds a source that may be no file.
    pub(crate) fn add(&mut self, path: &Path, text: &str) {
        let file = self.read(path, text, None);
        self.files.insert(path.to_owned(), file);
    }

    /// What is known of the function that has this name on this line of a file.
    pub(crate) fn declared(&self, file: &Path, line: usize, name: &str) -> Option<&Declared> {
        let functions = &self.files.get(file)?.functions;
        functions.get(&(line, name.to_owned()))
    }

    /// Whether a file is there for tests only.
    pub(crate) fn is_test(&self, file: &Path) -> bool {
        self.test_paths.iter().any(|path| file.starts_with(path))
    }

    /// Whether a workflow of this name is declared.
    pub(crate) fn has_workflow(&self, name: &str) -> bool {
        self.workflows.contains(name)
    }

    /// The names that can be seen on a line of a file.
    pub(crate) fn names_at(&self, file: &Path, line: usize) -> Names {
        let file = self.files.get(file).map(|file| file.names.clone());
        Names::at(file.map(|file| (file, line)))
    }

    /// The names that can be seen at `place`.
    pub(crate) fn names_around(&self, place: Span) -> Names {
        let file = self.file(place).map(|file| file.names.clone());
        Names::at(file.map(|file| (file, place.start().line)))
    }

    /// The key of the file of `place`: its path without links.
    pub(crate) fn path_of(&self, place: Span) -> Option<&Path> {
        let key = self.asked_for.get(&place.local_file()?)?;
        Some(key.as_path())
    }

    fn file(&self, place: Span) -> Option<&File> {
        self.files.get(self.asked_for.get(&place.local_file()?)?)
    }
}

/// Whether the function of this name stands in an `impl` or a `trait`.
pub(crate) fn is_associated(function: &Ident) -> bool {
    let place = function.span();
    Index::with(place, |index| {
        let name = function.unraw().to_string();
        index
            .file(place)
            .and_then(|file| file.functions.get(&(place.start().line, name)))
            .is_some_and(|function| function.is_associated)
    })
}

/// The names that can be seen at `place`.
pub(crate) fn names(place: Span) -> Names {
    Index::with(place, |index| index.names_around(place))
}

/// The crate from which the file of `name` imports it.
pub(crate) fn imported_from(name: &Ident, is_sought: impl Fn(&str) -> bool) -> Option<String> {
    let root = |path: String| path.split("::").next().unwrap_or_default().to_owned();
    match names(name.span()).meaning(&name.unraw().to_string()) {
        NameMeaning::Path(path) => Some(root(path)),
        NameMeaning::Unknown(globs) => globs.into_iter().map(root).find(|root| is_sought(root)),
        _ => None,
    }
}

/// Whether the file in which a macro is called declares it, before the call.
pub(crate) fn is_own_macro(name: &Ident) -> bool {
    names(name.span()).is_own_macro(name)
}

/// The name in histories of a function with `#[workflow]`.
fn workflow_name(function: &Function) -> Option<String> {
    let mut attributes = function.attributes.iter();
    let workflow = attributes.find(|attribute| attribute.name == "workflow")?;
    let name = workflow.name_option.as_ref();
    Some(name.unwrap_or(&function.name).clone())
}

/// The folder in which a file's modules are.
fn module_folder(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    let stem = file.file_stem().unwrap_or_default();
    let is_root = stem == "lib" || stem == "main" || stem == "mod";
    let is_binary = folder.file_name().is_some_and(|name| name == "bin");
    if is_root || is_binary {
        folder.to_owned()
    } else {
        folder.join(stem)
    }
}

fn meaning(function: &Function) -> Meaning {
    let attribute = |wanted: &str| {
        function
            .attributes
            .iter()
            .find(|Attribute { name, .. }| name == wanted)
    };
    if let Some(activity) = attribute("activity") {
        Meaning::Activity(
            activity
                .name_option
                .clone()
                .unwrap_or_else(|| function.name.clone()),
        )
    } else if attribute("durable").is_some() {
        Meaning::Durable(function.calls.clone(), function.markers.clone())
    } else {
        Meaning::Other
    }
}
