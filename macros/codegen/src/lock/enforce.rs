//! The lock as the attributes see it: while a function is compiled.
//!
//! The macro reads `perennial.lock` from the folder of the package. It is emitted as `include_bytes!` too, so that
//! cargo builds again when it changes. Where there is none, nothing is compared and nothing emitted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Signature;
use syn::ext::IdentExt;

use super::compare::{Difference, compare};
use super::search::durable_name;
use super::shared::shared;
use super::unreadable::unreadable;
use super::{FILE, Key, Kind, Lock, Retired, Unreadable, texts};
use crate::callees;
use crate::errors::Errors;
use crate::index::{Declared, Index};
use crate::parse::Body;
use crate::shape::{Place, Shape, Surroundings, context_of};

/// A function with `#[workflow]` or `#[durable]` that is being compiled.
pub(crate) struct Annotated<'a> {
    pub(crate) kind: Kind,
    /// A workflow's name in histories; of a durable function its own.
    pub(crate) name: &'a str,
    pub(crate) signature: &'a Signature,
    /// As it was written.
    pub(crate) body: &'a Body,
    /// It is not told to stay out of it.
    pub(crate) is_locked: bool,
}

/// What the lock adds to a function.
#[derive(Debug, Default)]
pub(crate) struct Enforced {
    /// The lines of its shape.
    pub(crate) structure: String,
    /// The lock as a dependency of the build, and warnings: statements, or items of a block.
    pub(crate) items: TokenStream,
}

/// Compares a function with the lock of its package. What is not as it was released goes to `errors`.
pub(crate) fn enforce(function: &Annotated<'_>, errors: &mut Errors) -> Enforced {
    let Body::Parsed(body) = function.body else {
        return Enforced::default();
    };
    let file = LockFile::of_this_package();
    let name = &function.signature.ident;
    let place = name.span();
    let lock = match file.as_deref() {
        Some(LockFile { lock: Ok(lock), .. }) if function.is_locked && !is_off() => Some(lock),
        _ => None,
    };
    let mut enforced = Enforced::default();
    if let Some(LockFile {
        lock: Err(error),
        folder,
        ..
    }) = file.as_deref()
        && function.is_locked
        && !is_off()
        && is_first(&UNREADABLE, folder, name)
    {
        errors.at(Span::call_site(), unreadable(error));
    }
    if lock.is_none() && function.kind == Kind::Durable {
        return enforced.with_file(file.as_deref());
    }
    let (shape, own) = Index::with(place, |index| {
        let own = file.as_deref().map(|file| Own::find(index, name, file));
        let key = own.as_ref().and_then(|own| own.key(function));
        let names = index.names_around(place);
        let surroundings = Surroundings {
            index,
            names: &names,
            file: index.path_of(place),
        };
        let with_flow = lock.is_some_and(|lock| {
            key.as_ref()
                .is_some_and(|key| lock.functions.contains_key(key))
        });
        let context = context_of(function.kind, function.signature);
        let shape = Shape::of(function.signature, body, context, &surroundings, with_flow);
        let missing = lock.map(|lock| missing(index, lock)).unwrap_or_default();
        let reached = match &own {
            Some(Own::Here(_, declared)) if with_flow => {
                callees::reached(index, &declared.calls).markers
            }
            _ => Vec::new(),
        };
        (shape, own.map(|own| (own, key, missing, reached)))
    });
    if function.kind == Kind::Workflow {
        enforced.structure = shape.text();
    }
    if let (Some(lock), Some((own, key, missing, reached)), Some(file)) =
        (lock, own, file.as_deref())
    {
        let is_here = matches!(own, Own::Here(..));
        if let Some(key) = key {
            if let Some(section) = lock.functions.get(&key) {
                let mut differences = compare(&key, section, &shape, &reached);
                if key.kind == Kind::Workflow {
                    differences.extend(shared(lock, &key, section, &shape, &reached));
                }
                for difference in differences {
                    enforced.report(difference, errors);
                }
            }
        } else if let (Own::Macro, Kind::Workflow) = (own, function.kind)
            && is_first(&BY_MACRO, &file.folder, name)
        {
            let text = format!(
                "`{}` is written by a macro, so it is not compared with `{FILE}`\n\n\
                 help: write the workflow out, or say that it is not locked: `#[workflow(lock = false)]`\n\
                 see: lock in the book",
                function.name
            );
            enforced.warn(Place::at(place), &text);
        }
        if is_here && !missing.is_empty() && is_first(&MISSING, &file.folder, name) {
            for name in missing {
                errors.at(Span::call_site(), not_there(&name));
            }
        }
    }
    enforced.with_file(file.as_deref())
}

/// The markers that were retired in the workflow `name`, and in the durable functions of its package that it calls.
pub(crate) fn retired(name: &str, called: &[String], place: Span) -> Vec<Retired> {
    let Some(file) = LockFile::of_this_package() else {
        return Vec::new();
    };
    let Ok(lock) = &file.lock else {
        return Vec::new();
    };
    if lock
        .functions
        .values()
        .all(|section| section.retired.is_empty())
    {
        return Vec::new();
    }
    let durable = callees::durable(called, place);
    let mut retired: Vec<Retired> = Vec::new();
    for (key, section) in &lock.functions {
        let is_meant = match key.kind {
            Kind::Workflow => key.name == name,
            Kind::Durable => {
                let last = key.name.rsplit("::").next();
                last.is_some_and(|last| durable.iter().any(|known| known == last))
            }
        };
        if !is_meant {
            continue;
        }
        for marker in &section.retired {
            // An arm that is gone is no retired marker, while there are others.
            let is_there = section
                .lines
                .iter()
                .filter_map(|line| super::format::arm(line))
                .any(|(id, _)| id == marker.id);
            if !is_there && !retired.contains(marker) {
                retired.push(marker.clone());
            }
        }
    }
    retired
}

/// What is said once of a package, with the function at which it was: its name, and in which column that stands.
type Said = Mutex<Option<HashMap<PathBuf, (String, usize)>>>;

static BY_MACRO: Said = Mutex::new(None);
static MISSING: Said = Mutex::new(None);
static UNREADABLE: Said = Mutex::new(None);

/// Whether it is this function at which it is said. An editor expands a function many times, on whatever line it
/// stands then, and functions of many packages.
fn is_first(said: &Said, folder: &Path, function: &Ident) -> bool {
    let function = (function.to_string(), function.span().start().column);
    let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
    let said = said.get_or_insert_with(HashMap::new);
    let at = said
        .entry(folder.to_owned())
        .or_insert_with(|| function.clone());
    *at == function
}

/// `PERENNIAL_LOCK=off`, as for an editor while code is being rewritten.
fn is_off() -> bool {
    std::env::var_os("PERENNIAL_LOCK").is_some_and(|value| value == "off")
}

/// Released workflows that no file declares.
fn missing(index: &Index, lock: &Lock) -> Vec<String> {
    let workflows = lock
        .functions
        .keys()
        .filter(|key| key.kind == Kind::Workflow);
    workflows
        .filter(|key| !index.has_workflow(&key.name))
        .map(|key| key.name.clone())
        .collect()
}

fn not_there(name: &str) -> String {
    texts::text(
        "L308",
        &format!("the workflow `{name}` is released, and it is not there any more"),
        "",
        &[
            format!(
                "if it has got another name, keep the one that its runs know: `#[workflow(name = {name:?})]`"
            ),
            format!(
                "if no run in flight needs it, take it out of the lock: `perennial lock --accept {}`",
                texts::quoted(name)
            ),
        ],
    )
}

/// Whether a function is one that can be locked.
enum Own {
    /// Its file, from the folder of the package on, and what is known of it there.
    Here(PathBuf, Declared),
    /// A macro has written it.
    Macro,
    /// It is in a test, or in another package.
    Elsewhere,
}

impl Own {
    fn find(index: &Index, name: &Ident, file: &LockFile) -> Own {
        let place = name.span();
        let Some(path) = index.path_of(place) else {
            return Own::Elsewhere;
        };
        let Ok(inside) = path.strip_prefix(&file.folder) else {
            return Own::Elsewhere;
        };
        if !inside.starts_with("src") || index.is_test(path) {
            return Own::Elsewhere;
        }
        let line = place.start().line;
        match index.declared(path, line, &name.unraw().to_string()) {
            None => Own::Macro,
            Some(declared) if declared.in_macro => Own::Macro,
            Some(declared) if declared.is_test => Own::Elsewhere,
            Some(declared) => Own::Here(inside.to_owned(), declared.clone()),
        }
    }

    fn key(&self, function: &Annotated<'_>) -> Option<Key> {
        let Own::Here(file, declared) = self else {
            return None;
        };
        Some(Key {
            kind: function.kind,
            name: match function.kind {
                Kind::Workflow => function.name.to_owned(),
                Kind::Durable => durable_name(file, &declared.path),
            },
        })
    }
}

impl Enforced {
    fn report(&mut self, difference: Difference, errors: &mut Errors) {
        let place = difference.place;
        if difference.is_warning() {
            self.warn(place, &difference.text);
            return;
        }
        if place.first.start().line == place.last.end().line {
            let (first, last) = (Ident::new("_x", place.first), Ident::new("_x", place.last));
            errors.under(quote!(#first #last), difference.text);
        } else {
            errors.at(place.first, difference.text);
        }
    }

    /// On stable, the use of something deprecated is the only warning that a macro can give.
    fn warn(&mut self, place: Place, text: &str) {
        // Both with the place of the user's token, or it would be said that it originates in a macro.
        let name = Ident::new("perennial_lock", place.first);
        self.items.extend(quote! {
            const _: () = {
                #[allow(non_upper_case_globals)]
                #[deprecated(note = #text)]
                const #name: () = ();
                const _: () = #name;
            };
        });
    }

    /// The build depends on the file.
    fn with_file(mut self, file: Option<&LockFile>) -> Self {
        if let Some(path) = file.and_then(|file| file.path.to_str()) {
            self.items.extend(quote! {
                const _: &[u8] = ::core::include_bytes!(#path);
                const _: ::core::option::Option<&str> = ::core::option_env!("PERENNIAL_LOCK");
            });
        }
        self
    }
}

/// A `perennial.lock` that is there.
struct LockFile {
    path: PathBuf,
    /// The folder that it is in, without links.
    folder: PathBuf,
    changed: Option<SystemTime>,
    lock: Result<Lock, Unreadable>,
}

impl LockFile {
    /// The one of the package that is being compiled.
    fn of_this_package() -> Option<Arc<LockFile>> {
        // An editor asks for many packages in one process, and while the file changes.
        static READ: Mutex<Option<HashMap<PathBuf, Arc<LockFile>>>> = Mutex::new(None);
        // Outside of the compiler there is no package.
        Span::call_site().local_file()?;
        let folder = std::env::var_os("CARGO_MANIFEST_DIR")?;
        let path = Path::new(&folder).join(FILE);
        let changed = path.metadata().ok()?.modified().ok();
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let read = read.get_or_insert_with(HashMap::new);
        match read.get(&path) {
            Some(file) if file.changed == changed => Some(file.clone()),
            _ => {
                let lock = match std::fs::read_to_string(&path) {
                    Ok(text) => Lock::parse(&text),
                    Err(error) => Err(Unreadable {
                        line: 1,
                        what: format!("it cannot be read: {error}"),
                    }),
                };
                let file = Arc::new(LockFile {
                    folder: Path::new(&folder).canonicalize().unwrap_or_default(),
                    path: path.clone(),
                    changed,
                    lock,
                });
                read.insert(path, file.clone());
                Some(file)
            }
        }
    }
}
