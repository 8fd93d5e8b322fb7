//! What the crate declares, as far as it matters to a macro that sees one function only.
//!
//! The sources are read as plain text and once in a process. To let the compiler parse them would
//! enter every file a second time into its tables, and its syntax trees cannot be kept from one
//! expansion to the next. It is a best effort: what is not found is not known.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
}

#[derive(Debug)]
struct File {
    /// Functions in an `impl` or a `trait`: the lines and names.
    associated: HashSet<(usize, String)>,
    /// What its names mean.
    names: Arc<FileNames>,
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
        if self.asked_for.contains_key(path) {
            return;
        }
        let Ok(canonical) = path.canonicalize() else {
            return;
        };
        self.asked_for.insert(path.to_owned(), canonical.clone());
        if !self.files.contains_key(&canonical) {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let file = self.read(&text);
            self.files.insert(canonical, file);
        }
    }

    fn read(&mut self, text: &str) -> File {
        let Source { functions, names } = Source::read(text);
        let mut file = File {
            associated: HashSet::new(),
            names: Arc::new(names),
        };
        for function in functions {
            let meaning = meaning(&function);
            if function.is_associated {
                file.associated
                    .insert((function.line, function.name.clone()));
            }
            // `bank.charge(..)` is not what a bare `charge(cx, ..)` calls, unless it is durable.
            if !(function.is_associated && meaning == Meaning::Other) {
                self.functions
                    .entry(function.name)
                    .or_default()
                    .insert(meaning);
            }
        }
        file
    }

    /// Adds a source that is no file.
    #[cfg(test)]
    pub(crate) fn add(&mut self, text: &str) {
        self.read(text);
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
            .is_some_and(|file| file.associated.contains(&(place.start().line, name)))
    })
}

/// The names that can be seen at `place`.
pub(crate) fn names(place: Span) -> Names {
    let file = Index::with(place, |index| Some(index.file(place)?.names.clone()));
    Names::at(file.map(|file| (file, place.start().line)))
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
