//! What the crate declares, as far as it matters to a macro that sees one function only.
//!
//! The sources are read as plain text and once in a process. To let the compiler parse them would
//! enter every file a second time into its tables, and its syntax trees cannot be kept from one
//! expansion to the next. It is a best effort: what is not found is not known.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;

use crate::markers::Marker;
use crate::names::{FileNames, Meaning as NameMeaning, Names, is_rooted_here};
use crate::source::{Attribute, Function, Source};

/// The functions of a crate, and per file what is special about it.
#[derive(Debug, Default)]
pub(crate) struct Index {
    functions: HashMap<String, BTreeSet<Meaning>>,
    /// The activities and stubs, by the names of their functions.
    activities: HashMap<String, Vec<Activity>>,
    files: HashMap<PathBuf, File>,
    /// The paths under which files were asked for, each with its key in `files`.
    asked_for: HashMap<PathBuf, PathBuf>,
    /// Files and folders of modules that only tests have.
    test_paths: Vec<PathBuf>,
    /// The names of the workflows in histories.
    workflows: HashSet<String>,
    /// The names of associated functions of which nothing else is known, since `bank.charge(..)` calls one of them; and
    /// whether one of that name takes a context.
    methods: HashMap<String, bool>,
    /// The folder of the package's sources.
    sources: Option<PathBuf>,
}

#[derive(Debug)]
struct File {
    /// Its functions, by line and name.
    functions: HashMap<(usize, String), Declared>,
    /// When it was changed, as far as that is known.
    changed: Option<SystemTime>,
    /// What its names mean.
    names: Arc<FileNames>,
    /// What it adds to the index.
    adds: Added,
}

/// What a file adds to an index.
#[derive(Debug, Default, Clone)]
struct Added {
    functions: Vec<(String, Meaning)>,
    activities: Vec<(String, Activity)>,
    test_paths: Vec<PathBuf>,
    workflows: Vec<String>,
    methods: Vec<(String, bool)>,
}

/// An activity or a stub, and where it is declared.
#[derive(Debug, Clone)]
struct Activity {
    named: Called,
    file: PathBuf,
    /// The modules around it and its function's name: `shop::email::send`.
    path: String,
}

/// What a function is in histories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Called {
    /// With its name.
    Activity(String),
    /// With its name.
    Stub(String),
}

/// Where a function stands.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    /// Its path in the file: `inner::Shop::restock`.
    pub(crate) path: String,
    /// The functions that it calls with its context.
    pub(crate) calls: Vec<String>,
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
    /// With its name in histories.
    Stub(String),
    /// With the functions it calls itself, the markers it asks for, and whether it may wait for messages or signals.
    Durable(Vec<String>, Vec<Marker>, bool),
    Other,
}

impl Index {
    /// The index of this crate, which includes the file of `place`.
    pub(crate) fn with<T>(place: Span, ask: impl FnOnce(&Index) -> T) -> T {
        // An editor asks for many packages in one process.
        static INDICES: Mutex<Option<HashMap<Option<OsString>, Index>>> = Mutex::new(None);
        // A panic elsewhere leaves an index that lacks something at worst.
        let mut indices = INDICES.lock().unwrap_or_else(PoisonError::into_inner);
        let indices = indices.get_or_insert_with(HashMap::new);
        let package = std::env::var_os("CARGO_MANIFEST_DIR");
        let index = match indices.entry(package) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let index = Index::of(new.key().as_deref());
                new.insert(index)
            }
        };
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

    /// What the functions of this name are, where they are not all the same; one of them is meant, or one of another
    /// crate.
    pub(crate) fn meanings(&self, function: &str) -> impl Iterator<Item = &Meaning> {
        self.functions.get(function).into_iter().flatten()
    }

    /// What the activity or stub is called in histories that a call in `file` is of: other functions of that name do
    /// not matter. `paths` are those that the call may mean, with their imports followed.
    pub(crate) fn called(&self, paths: &[String], file: Option<&Path>) -> Option<&Called> {
        let last = paths.first()?.rsplit("::").next()?;
        let activities = self.activities.get(last)?;
        let only = |is_meant: &dyn Fn(&Activity) -> bool| {
            let mut names = activities
                .iter()
                .filter(|activity| is_meant(activity))
                .map(|activity| &activity.named);
            let first = names.next()?;
            names.all(|name| name == first).then_some(first)
        };
        // Several functions of one name are told apart by their modules.
        let is_at = |activity: &Activity, path: &String| {
            let before = activity.path.strip_suffix(path.as_str());
            path.contains("::")
                && before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
        };
        only(&|_| true)
            .or_else(|| only(&|activity| paths.iter().any(|path| is_at(activity, path))))
            .or_else(|| {
                let is_bare = paths.iter().all(|path| !path.contains("::"));
                is_bare.then(|| only(&|activity| Some(activity.file.as_path()) == file))?
            })
    }

    /// Whether a path on a line of `file` is surely a stub of this package: by its module, by its file where it has none,
    /// or since all functions of its name are stubs, wherever it is imported from.
    fn is_stub(&self, path: &str, names: &Names, line: usize, file: Option<&Path>) -> bool {
        let last = |path: &str| path.rsplit("::").next().map(str::to_owned);
        let imported = names.imported(path, line);
        if let [path] = &imported[..]
            && let Some(known) = last(path).and_then(|last| self.activities.get(&last))
        {
            let is_it = known.iter().any(|one| {
                let before = one.path.strip_suffix(path.as_str());
                let is_at = path.contains("::")
                    && before.is_some_and(|before| before.is_empty() || before.ends_with("::"));
                let is_here = *path == *one.path || Some(one.file.as_path()) == file;
                matches!(one.named, Called::Stub(_)) && (is_at || !path.contains("::") && is_here)
            });
            if is_it {
                return true;
            }
        }
        let Some(last) = imported.first().and_then(|path| last(path)) else {
            return false;
        };
        // Of other files it is not known what they declare.
        let is_read = file.zip(self.sources.as_deref());
        is_read.is_some_and(|(file, sources)| file.starts_with(sources))
            && names.is_own(path, line)
            && self.all_are_stubs(&last)
            && !self.may_be_imported(&last)
    }

    /// Whether functions of this name are declared, and all of them are stubs.
    fn all_are_stubs(&self, function: &str) -> bool {
        let is_stub = |meaning: &Meaning| matches!(meaning, Meaning::Stub(_));
        let meanings = self.functions.get(function);
        meanings.is_some_and(|all| all.iter().all(is_stub)) && !self.methods.contains_key(function)
    }

    /// Whether a method of this name takes a context, so that a call may be one of it.
    pub(crate) fn is_method(&self, function: &str) -> bool {
        self.methods
            .get(function)
            .is_some_and(|takes_context| *takes_context)
    }

    /// Whether a file imports something of this name that may be of another crate, or all that one has.
    fn may_be_imported(&self, name: &str) -> bool {
        let paths: Vec<String> = self.files.keys().map(|file| module_path(file)).collect();
        let modules: HashSet<&str> = paths.iter().flat_map(|path| path.split("::")).collect();
        let is_own = |path: &str| {
            is_rooted_here(path)
                || path
                    .split("::")
                    .next()
                    .is_some_and(|first| modules.contains(first))
        };
        let names = || self.files.values().map(|file| &file.names);
        names()
            .flat_map(|names| names.imports_of(name))
            .any(|path| !is_own(path))
            || names()
                .flat_map(|names| names.globs())
                .any(|glob| !is_own(glob) && !has_no_stubs(glob))
    }

    /// The index of the package in this folder.
    fn of(folder: Option<&OsStr>) -> Index {
        let mut index = Index::default();
        if let Some(folder) = folder {
            let sources = Path::new(folder).join("src");
            index.read_folder(&sources);
            index.sources = sources.canonicalize().ok();
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
            self.put(canonical.clone(), read(&canonical, &text, changed));
        }
    }

    /// What a file has added when it was read before is forgotten.
    fn put(&mut self, path: PathBuf, file: File) {
        let adds = file.adds.clone();
        if self.files.insert(path, file).is_none() {
            return self.merge(adds);
        }
        self.functions.clear();
        self.activities.clear();
        self.workflows.clear();
        self.methods.clear();
        self.test_paths.clear();
        let all: Vec<Added> = self.files.values().map(|file| file.adds.clone()).collect();
        all.into_iter().for_each(|adds| self.merge(adds));
    }

    fn merge(&mut self, adds: Added) {
        for (function, meaning) in adds.functions {
            self.functions.entry(function).or_default().insert(meaning);
        }
        for (function, activity) in adds.activities {
            self.activities.entry(function).or_default().push(activity);
        }
        self.test_paths.extend(adds.test_paths);
        self.workflows.extend(adds.workflows);
        for (name, takes_context) in adds.methods {
            *self.methods.entry(name).or_default() |= takes_context;
        }
    }

    /// Adds a source that may be no file.
    pub(crate) fn add(&mut self, path: &Path, text: &str) {
        self.put(path.to_owned(), read(path, text, None));
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

fn read(path: &Path, text: &str, changed: Option<SystemTime>) -> File {
    let Source {
        functions,
        names,
        test_modules,
        is_test,
    } = Source::read(text);
    let mut adds = Added::default();
    let mut declared = HashMap::new();
    if is_test {
        adds.test_paths.push(path.to_owned());
    }
    for module in test_modules {
        let module = module_folder(path).join(module.replace("::", "/"));
        adds.test_paths.push(module.with_extension("rs"));
        adds.test_paths.push(module);
    }
    for function in functions {
        let meaning = meaning(&function);
        let named = match &meaning {
            Meaning::Activity(name) => Some(Called::Activity(name.clone())),
            Meaning::Stub(name) => Some(Called::Stub(name.clone())),
            Meaning::Durable(..) | Meaning::Other => None,
        };
        if let Some(named) = named {
            let activity = Activity {
                named,
                file: path.to_owned(),
                path: format!("{}{}", module_path(path), function.path),
            };
            adds.activities.push((function.name.clone(), activity));
        }
        // `bank.charge(..)` is not what a bare `charge(cx, ..)` calls, unless it is durable.
        if function.is_associated && meaning == Meaning::Other {
            let method = (function.name.clone(), function.takes_context);
            adds.methods.push(method);
        } else {
            adds.functions.push((function.name.clone(), meaning));
        }
        adds.workflows.extend(workflow_name(&function));
        let here = Declared {
            path: function.path,
            calls: function.calls,
            is_associated: function.is_associated,
            is_test: function.is_test,
            in_macro: function.in_macro,
        };
        declared.insert((function.line, function.name), here);
    }
    File {
        functions: declared,
        changed,
        names: Arc::new(names),
        adds,
    }
}

/// Whether it is known of a glob that no function comes out of it that is called as a stub is.
fn has_no_stubs(glob: &str) -> bool {
    let first = glob.split("::").next().unwrap_or(glob);
    ["std", "core", "alloc", "perennial"].contains(&first)
}

/// The module that a file below `src` is, with `::` behind it: `shop::email::`.
fn module_path(file: &Path) -> String {
    let folder = module_folder(file);
    let parts: Vec<_> = folder.iter().map(|part| part.to_string_lossy()).collect();
    let root = parts.iter().rposition(|part| part == "src");
    let modules = &parts[root.map_or(0, |root| root + 1)..];
    modules.iter().map(|module| format!("{module}::")).collect()
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

/// Those of the paths on the line of `place` that are surely stubs of this package.
pub(crate) fn stubs(paths: &[syn::Path], place: Span) -> Vec<&syn::Path> {
    Index::with(place, |index| {
        let (names, file) = (index.names_around(place), index.path_of(place));
        let line = place.start().line;
        let text = |path: &syn::Path| {
            let parts: Vec<_> = path
                .segments
                .iter()
                .map(|part| part.ident.unraw().to_string())
                .collect();
            parts.join("::")
        };
        let stubs = paths.iter().filter(|path| {
            path.leading_colon.is_none() && index.is_stub(&text(path), &names, line, file)
        });
        stubs.collect()
    })
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
    let name = |attribute: &Attribute| {
        let given = attribute.name_option.clone();
        given.unwrap_or_else(|| function.name.clone())
    };
    if let Some(activity) = attribute("activity") {
        Meaning::Activity(name(activity))
    } else if let Some(stub) = attribute("stub") {
        Meaning::Stub(name(stub))
    } else if attribute("durable").is_some() {
        Meaning::Durable(
            function.calls.clone(),
            function.markers.clone(),
            function.listens,
        )
    } else {
        Meaning::Other
    }
}

#[cfg(test)]
mod tests;
