//! What names mean where they stand: imports, declarations, and who hides whom.
//!
//! As far as one file tells. What comes out of another file or through a glob of one's own is not
//! known, and not guessed at. Only strings are kept, since a file's names outlive an expansion.

use std::collections::HashMap;
use std::sync::Arc;

use proc_macro2::Ident;
use syn::ext::IdentExt;

/// What one name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Name {
    /// Another path, as it was written: `std::time::SystemTime`, `super::Clock`.
    Path(String),
    /// Something of one's own.
    Declared,
    /// A module of the same file: the index of its scope.
    Module(usize),
    /// A static that can change.
    Static,
    ThreadLocal,
}

/// The names of one block or module.
#[derive(Debug, Default, Clone)]
pub(crate) struct Scope {
    pub(crate) names: HashMap<String, Name>,
    /// `std::time` of `use std::time::*`
    pub(crate) globs: Vec<String>,
    /// What `macro_rules!` declares, and on which line: it is known from there on.
    pub(crate) macros: Vec<(String, usize)>,
}

impl Scope {
    pub(crate) fn declare(&mut self, name: &str, meaning: Name) {
        let key = match (&meaning, name) {
            // Of `use .. as _` there may be many.
            (Name::Path(path), "_") => path.clone(),
            _ => name.to_owned(),
        };
        self.names.insert(key, meaning);
    }
}

/// A scope in a file.
#[derive(Debug, Default)]
pub(crate) struct FileScope {
    pub(crate) scope: Scope,
    /// The one around it, nearest first.
    pub(crate) parent: Option<usize>,
    /// Names of the scope around it cannot be seen in it.
    pub(crate) is_module: bool,
    /// From its first line to its last.
    pub(crate) lines: (usize, usize),
}

/// The scopes of a file, the file itself first.
#[derive(Debug)]
pub(crate) struct FileNames {
    pub(crate) scopes: Vec<FileScope>,
}

impl FileNames {
    /// The innermost scope around a line.
    pub(crate) fn around(&self, line: usize) -> usize {
        let inside = |scope: &FileScope| (scope.lines.0..=scope.lines.1).contains(&line);
        self.scopes.iter().rposition(inside).unwrap_or(0)
    }

    /// The scope, and those whose names can be seen in it, from inside to outside.
    fn chain(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        let outer = |at: &usize| {
            let scope = &self.scopes[*at];
            scope.parent.filter(|_| !scope.is_module)
        };
        std::iter::successors(Some(from), outer)
    }

    /// From where scopes of the file import something under this name.
    pub(crate) fn imports_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.scopes.iter().map(|inner| inner.scope.names.get(name));
        named.flatten().filter_map(|name| match name {
            Name::Path(path) => Some(path.as_str()),
            _ => None,
        })
    }

    /// The globs of all scopes of the file.
    pub(crate) fn globs(&self) -> impl Iterator<Item = &str> {
        let globs = self.scopes.iter().flat_map(|inner| &inner.scope.globs);
        globs.map(String::as_str)
    }

    fn module_around(&self, from: usize) -> usize {
        self.chain(from).last().unwrap_or(from)
    }
}

/// A path without what leads to where it begins.
fn within(path: &str) -> String {
    let mut path = path;
    while let Some(rest) = ["::", "crate::", "self::", "super::"]
        .iter()
        .find_map(|start| path.strip_prefix(start))
    {
        path = rest;
    }
    path.to_owned()
}

/// Whether a path begins at a module of the package.
pub(crate) fn is_rooted_here(path: &str) -> bool {
    let first = path.split("::").next().unwrap_or(path);
    ["crate", "self", "super"].contains(&first)
}

/// Where a path ends that was followed.
enum End {
    /// In the package.
    Own,
    /// In another crate, or nobody knows.
    Elsewhere,
    /// Nothing that is in sight from there declares it.
    OutOfSight(From),
}

/// What a path stands for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A path from a crate's root on.
    Path(String),
    /// Something of this crate.
    Own,
    Static,
    ThreadLocal,
    /// Nothing in sight declares it. These it would be if it came out of a glob in sight.
    Unknown(Vec<String>),
}

/// The names that can be seen at a place: those of its file and those of the blocks around it.
#[derive(Debug, Default)]
pub(crate) struct Names {
    file: Option<(Arc<FileNames>, usize)>,
    blocks: Vec<Scope>,
}

/// Where a search begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    /// In so many of the blocks, from the inside.
    Blocks(usize),
    File(usize),
    /// In that module only.
    Only(usize),
}

/// So many imports are followed for one name.
const MOST_STEPS: usize = 8;

impl Names {
    /// At a line of a file, if the file is known.
    pub(crate) fn at(file: Option<(Arc<FileNames>, usize)>) -> Self {
        let file = file.map(|(names, line)| {
            let scope = names.around(line);
            (names, scope)
        });
        Names {
            file,
            blocks: Vec::new(),
        }
    }

    pub(crate) fn file_is_known(&self) -> bool {
        self.file.is_some()
    }

    /// Enters a block.
    pub(crate) fn enter(&mut self, block: Scope) {
        self.blocks.push(block);
    }

    /// Leaves the block that was entered last.
    pub(crate) fn leave(&mut self) {
        self.blocks.pop();
    }

    /// Whether a block of the body declares it.
    pub(crate) fn is_in_a_block(&self, name: &str) -> bool {
        self.blocks
            .iter()
            .any(|block| block.names.contains_key(name))
    }

    /// Whether a `macro_rules!` of this name stands before it, in the blocks and modules around: those inside see
    /// it too.
    pub(crate) fn is_own_macro(&self, name: &Ident) -> bool {
        let Some((file, at)) = &self.file else {
            return false;
        };
        let line = name.span().start().line;
        let name = name.unraw().to_string();
        std::iter::successors(Some(*at), |at| file.scopes[*at].parent).any(|at| {
            let macros = &file.scopes[at].scope.macros;
            macros
                .iter()
                .any(|(declared, from)| *declared == name && *from <= line)
        })
    }

    /// What a path means: its segments with `::` between them, a leading `::` included.
    pub(crate) fn meaning(&self, path: &str) -> Meaning {
        self.follow(From::Blocks(self.blocks.len()), path, MOST_STEPS)
    }

    /// Whether a trait of this path is imported, by name or by one of these globs.
    pub(crate) fn imports(&self, path: &str, globs: &[&str]) -> bool {
        self.scopes(From::Blocks(self.blocks.len()))
            .any(|(_, scope)| {
                scope
                    .names
                    .values()
                    .any(|name| matches!(name, Name::Path(import) if import == path))
                    || scope
                        .globs
                        .iter()
                        .any(|glob| globs.contains(&glob.as_str()))
            })
    }

    /// The paths that `path` may stand for on a line of the file, with the imports in sight followed and without
    /// `crate`, `self` and `super` in front. More than one where globs are in sight.
    pub(crate) fn imported(&self, path: &str, line: usize) -> Vec<String> {
        let (path, end) = self.followed(path, line);
        let End::OutOfSight(from) = end else {
            return vec![within(&path)];
        };
        let globs = self.globs(from);
        let through = globs.map(|glob| within(&format!("{glob}::{path}")));
        std::iter::once(path.clone()).chain(through).collect()
    }

    /// Whether `path` is, on a line of the file, what another place of the package declares or imports; it may come
    /// through a glob, or out of another one that is in sight.
    pub(crate) fn is_own(&self, path: &str, line: usize) -> bool {
        match self.followed(path, line) {
            (_, End::Own) => true,
            (_, End::Elsewhere) => false,
            (path, End::OutOfSight(from)) => {
                !path.contains("::") && self.globs(from).any(|glob| is_rooted_here(glob))
            }
        }
    }

    fn globs(&self, from: From) -> impl Iterator<Item = &String> {
        self.scopes(from).flat_map(|(_, scope)| &scope.globs)
    }

    /// Follows imports as far as they are in sight.
    fn followed(&self, path: &str, line: usize) -> (String, End) {
        let mut path = path.to_owned();
        let mut from = match &self.file {
            Some((file, _)) => From::File(file.around(line)),
            None => From::Blocks(self.blocks.len()),
        };
        for _ in 0..MOST_STEPS {
            let (first, rest) = match path.split_once("::") {
                Some((first, rest)) => (first, Some(rest)),
                None => (path.as_str(), None),
            };
            if first.is_empty() {
                break;
            }
            if is_rooted_here(first) {
                return (path, End::Own);
            }
            let found = self
                .scopes(from)
                .find_map(|(at, scope)| Some((at, scope.names.get(first)?)));
            match found {
                Some((at, Name::Path(target))) => {
                    let is_itself = target.split("::").next() == Some(first);
                    let whole = match rest {
                        Some(rest) => format!("{target}::{rest}"),
                        None => target.clone(),
                    };
                    path = whole;
                    from = at;
                    if is_itself {
                        break;
                    }
                }
                Some(_) => return (path, End::Own),
                None => return (path, End::OutOfSight(from)),
            }
        }
        (path, End::Elsewhere)
    }

    fn follow(&self, from: From, path: &str, steps: usize) -> Meaning {
        if let Some(absolute) = path.strip_prefix("::") {
            return Meaning::Path(absolute.to_owned());
        }
        let Some(steps) = steps.checked_sub(1) else {
            return Meaning::Own;
        };
        let (first, rest) = match path.split_once("::") {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        match (first, rest) {
            ("crate" | "$crate" | "Self", _) => return Meaning::Own,
            ("self" | "super", Some(rest)) => return self.in_module(from, first, rest, steps),
            _ => {}
        }
        let mut candidates = Vec::new();
        for (at, scope) in self.scopes(from) {
            if let Some(name) = scope.names.get(first) {
                return self.named(at, name, first, rest, steps);
            }
            for glob in &scope.globs {
                match self.glob(at, glob, path, steps) {
                    Meaning::Path(full) => candidates.push(full),
                    Meaning::Unknown(more) => candidates.extend(more),
                    known => return known,
                }
            }
        }
        Meaning::Unknown(candidates)
    }

    /// `name` was found at `at`.
    fn named(
        &self,
        at: From,
        name: &Name,
        first: &str,
        rest: Option<&str>,
        steps: usize,
    ) -> Meaning {
        match name {
            Name::Declared => Meaning::Own,
            Name::Static if rest.is_none() => Meaning::Static,
            Name::ThreadLocal if rest.is_none() => Meaning::ThreadLocal,
            Name::Static | Name::ThreadLocal => Meaning::Own,
            Name::Module(scope) => match rest {
                Some(rest) => match self.follow(From::Only(*scope), rest, steps) {
                    Meaning::Unknown(_) => Meaning::Own,
                    known => known,
                },
                None => Meaning::Own,
            },
            Name::Path(target) => {
                let whole = match rest {
                    Some(rest) => format!("{target}::{rest}"),
                    None => target.clone(),
                };
                // `use rand::rng as rand` does not begin with what it declares.
                if target.split("::").next() == Some(first) {
                    return Meaning::Path(whole);
                }
                match self.follow(at, &whole, steps) {
                    // Nothing hides the crate's name.
                    Meaning::Unknown(_) => Meaning::Path(whole),
                    known => known,
                }
            }
        }
    }

    /// What `path` is if it comes out of `use glob::*`.
    fn glob(&self, at: From, glob: &str, path: &str, steps: usize) -> Meaning {
        let whole = format!("{glob}::{path}");
        let first = glob.split("::").next().unwrap_or(glob);
        match first {
            "crate" => Meaning::Unknown(Vec::new()),
            "self" | "super" => self.follow(at, &whole, steps),
            _ => match self
                .scopes(at)
                .find_map(|(at, scope)| Some((at, scope.names.get(first)?)))
            {
                None => Meaning::Path(whole),
                Some((at, name)) => {
                    let rest = whole
                        .strip_prefix(first)
                        .and_then(|rest| rest.strip_prefix("::"));
                    match self.named(at, name, first, rest, steps) {
                        Meaning::Own => Meaning::Unknown(Vec::new()),
                        known => known,
                    }
                }
            },
        }
    }

    /// `self::rest` or `super::rest`.
    fn in_module(&self, from: From, first: &str, rest: &str, steps: usize) -> Meaning {
        let (Some((file, at)), false) =
            (&self.file, matches!(from, From::Only(_)) && first == "self")
        else {
            return Meaning::Own;
        };
        let from = match from {
            From::Blocks(_) => *at,
            From::File(scope) | From::Only(scope) => scope,
        };
        let module = file.module_around(from);
        let module = match first {
            "self" => Some(module),
            _ => file.scopes[module]
                .parent
                .map(|parent| file.module_around(parent)),
        };
        match module.map(|module| self.follow(From::Only(module), rest, steps)) {
            Some(Meaning::Unknown(candidates)) if !candidates.is_empty() => {
                Meaning::Unknown(candidates)
            }
            // In another file.
            None => Meaning::Unknown(Vec::new()),
            Some(Meaning::Unknown(_)) => Meaning::Own,
            Some(known) => known,
        }
    }

    /// The scopes in sight, from inside to outside.
    fn scopes(&self, from: From) -> impl Iterator<Item = (From, &Scope)> {
        let (blocks, file) = match from {
            From::Blocks(blocks) => (blocks, self.file.as_ref().map(|(_, scope)| *scope)),
            From::File(scope) | From::Only(scope) => (0, Some(scope)),
        };
        let blocks = self.blocks[..blocks]
            .iter()
            .enumerate()
            .rev()
            .map(|(index, scope)| (From::Blocks(index + 1), scope));
        let file = self.file.as_ref().zip(file).map(|((names, _), scope)| {
            let most = if matches!(from, From::Only(_)) {
                1
            } else {
                usize::MAX
            };
            names
                .chain(scope)
                .take(most)
                .map(move |at| (From::File(at), &names.scopes[at].scope))
        });
        blocks.chain(file.into_iter().flatten())
    }
}
