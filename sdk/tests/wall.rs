//! The wall around this crate: it knows no clock, thread, file, socket, process or environment, and depends
//! on nothing that does. What a machine decides can then depend on its history only. The test kit, which is
//! there only with the feature `testing`, is a driver and may know threads and files.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};

/// Paths that nothing here may name, by what they begin with.
const FORBIDDEN: [(&str, &str); 22] = [
    ("std::time::Instant", "a clock"),
    ("std::time::SystemTime::now", "a clock"),
    ("SystemTime::now", "a clock"),
    (".elapsed", "a clock"),
    ("std::thread", "threads"),
    ("std::fs", "files"),
    ("std::io", "files"),
    ("std::os", "the operating system"),
    ("std::net", "sockets"),
    ("std::process", "processes"),
    ("std::env", "the environment"),
    ("println!", "standard output"),
    ("print!", "standard output"),
    ("eprintln!", "standard output"),
    ("eprint!", "standard output"),
    ("dbg!", "standard output"),
    ("tokio", "a runtime"),
    ("async_std", "a runtime"),
    ("sled", "a store"),
    ("rand", "randomness"),
    ("getrandom", "randomness"),
    ("tracing", "a logger"),
];

/// Names what is forbidden, and is harmless.
const ALLOWED: [&str; 1] = [
    // Whether this thread is unwinding: so that a machine does not make it unwind a second time.
    "std::thread::panicking",
];

/// What the test kit may name: each replay has a thread of its own, and histories are kept in files.
const ALLOWED_IN_TESTING: [&str; 4] = ["threads", "files", "the environment", "processes"];

/// What a file names that it may not, and why not.
fn violations(source: &str) -> Vec<String> {
    let mut names = Names::default();
    names.visit_file(&syn::parse_file(source).unwrap());
    let judge = |name: String| {
        // `core` and `alloc` are parts of `std`, and a path may begin at the root.
        let known = name.trim_start_matches("::");
        let known = match known.split_once("::") {
            Some(("core" | "alloc", rest)) => format!("std::{rest}"),
            _ => known.to_owned(),
        };
        if ALLOWED.contains(&known.as_str()) {
            return None;
        }
        // With another name, or all at once, anything could come in unseen.
        let whole = ["std", "std::*", "std::time::*"].contains(&known.as_str());
        let within = |forbidden: &str| {
            known == forbidden
                || known
                    .strip_prefix(forbidden)
                    .is_some_and(|rest| rest.starts_with("::"))
        };
        let found = FORBIDDEN.iter().find(|(forbidden, _)| within(forbidden));
        match (whole, found) {
            (true, _) => Some(format!("{name}: all of it")),
            (_, Some((_, why))) => Some(format!("{name}: {why}")),
            _ => None,
        }
    };
    names.found.into_iter().filter_map(judge).collect()
}

/// All paths that a file names, also inside macros and imports; not in its tests.
#[derive(Default)]
struct Names {
    found: Vec<String>,
}

impl Names {
    fn uses(&mut self, before: &str, tree: &syn::UseTree) {
        let path = |name: &dyn std::fmt::Display| match before {
            "" => name.to_string(),
            _ => format!("{before}::{name}"),
        };
        match tree {
            syn::UseTree::Path(inner) => self.uses(&path(&inner.ident), &inner.tree),
            syn::UseTree::Name(name) if name.ident == "self" => self.found.push(before.to_owned()),
            syn::UseTree::Name(name) => self.found.push(path(&name.ident)),
            syn::UseTree::Rename(name) if name.ident == "self" => {
                self.found.push(before.to_owned())
            }
            syn::UseTree::Rename(name) => self.found.push(path(&name.ident)),
            syn::UseTree::Glob(_) => self.found.push(path(&"*")),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.uses(before, tree);
                }
            }
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = String::new();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(ident) => {
                    if !path.is_empty() && !path.ends_with("::") {
                        self.found.push(std::mem::take(&mut path));
                    }
                    path += &ident.to_string();
                }
                TokenTree::Punct(punct)
                    if punct.as_char() == ':' && punct.spacing() == Spacing::Joint =>
                {
                    tokens.next();
                    path += "::";
                }
                other => {
                    if matches!(&other, TokenTree::Punct(punct) if punct.as_char() == '!') {
                        path.push('!');
                    }
                    self.found.push(std::mem::take(&mut path));
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.found.push(path);
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let test = |attribute: &syn::Attribute| {
            attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Path>()
                    .is_ok_and(|path| path.is_ident("test"))
        };
        if !module.attrs.iter().any(test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.uses("", &item.tree);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        self.found.push(item.ident.to_string());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<_> = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        self.found.push(segments.join("::"));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.tokens(
            mac.path
                .to_token_stream()
                .into_iter()
                .chain([mark()])
                .collect(),
        );
        self.tokens(mac.tokens.clone());
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.found.push(format!(".{}", call.method));
        visit::visit_expr_method_call(self, call);
    }
}

fn mark() -> TokenTree {
    proc_macro2::Punct::new('!', Spacing::Alone).into()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn o3_the_crate_names_no_clock_thread_file_socket_process_or_environment() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&folder);
    assert!(files.len() > 30, "the crate is somewhere else");
    let mut found = Vec::new();
    for file in files {
        let place = file.strip_prefix(&folder).unwrap();
        let may = |violation: &str| {
            let why = violation.rsplit_once(": ").unwrap().1;
            place.starts_with("testing") && ALLOWED_IN_TESTING.contains(&why)
        };
        for violation in violations(&fs::read_to_string(&file).unwrap()) {
            if !may(&violation) {
                found.push(format!("{}: {violation}", place.display()));
            }
        }
    }
    assert!(found.is_empty(), "behind the wall:\n{}", found.join("\n"));
}

#[test]
fn the_check_finds_each_thing_in_each_way_to_name_it() {
    let bad = r#"
        use std::{fs, thread as other, time::{Duration, Instant}};
        use std::net::*;
        use std as everything;
        use ::core::time::Duration as Length;
        extern crate tokio;
        fn named() -> std::process::ExitCode {
            let now = SystemTime::now();
            let later = std::time::SystemTime::now();
            std::env::var("X");
            thread_local! { static T: std::thread::ThreadId = std::thread::current().id(); }
            std::thread::panicking();
            vec![::std::io::stdin(), sled::open("x")];
            println!("{now:?}");
            matches!(dbg!(now.elapsed()), Ok(_));
            UNIX_EPOCH.elapsed();
        }
        macro_rules! hidden { ($x:expr) => { std::fs::read($x) }; }
        #[cfg(test)]
        mod tests { fn fine() { std::fs::read("x"); } }
        mod inner { fn not() { tokio::spawn(async {}); } }
    "#;
    insta::assert_snapshot!(violations(bad).join("\n"), @"
    std::fs: files
    std::thread: threads
    std::time::Instant: a clock
    std::net::*: sockets
    std: all of it
    tokio: a runtime
    std::process::ExitCode: processes
    SystemTime::now: a clock
    std::time::SystemTime::now: a clock
    std::env::var: the environment
    std::thread::ThreadId: threads
    std::thread::current: threads
    ::std::io::stdin: files
    sled::open: a store
    println!: standard output
    dbg!: standard output
    .elapsed: a clock
    std::fs::read: files
    tokio::spawn: a runtime
    ");
}

#[test]
fn what_is_harmless_passes() {
    let good = r#"
        use std::time::{Duration, SystemTime, UNIX_EPOCH};
        use std::panic::{AssertUnwindSafe, catch_unwind};
        thread_local! { static SITE: Cell<u8> = const { Cell::new(0) }; }
        impl From<SystemTime> for Timestamp {
            fn from(at: SystemTime) -> Self { at.duration_since(UNIX_EPOCH).into() }
        }
        fn random(print: u8, thread: u8) { self.random(print); my::fs::read(thread); }
    "#;
    assert_eq!(violations(good), Vec::<String>::new());
}

/// What `perennial` is made of. `perennial-macros` and what it takes run in the compiler.
const DEPENDENCIES: [&str; 30] = [
    "block-buffer",
    "cfg-if",
    "const-oid",
    "cpufeatures",
    "crc32fast",
    "crypto-common",
    "digest",
    "humantime",
    "hybrid-array",
    "itoa",
    "libc",
    "memchr",
    "perennial",
    "perennial-codegen",
    "perennial-macros",
    "pin-project-lite",
    "proc-macro2",
    "quote",
    "rustc-hash",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "sha2",
    "strsim",
    "syn",
    "typenum",
    "unicode-ident",
    "uuid",
    "zmij",
];

#[test]
fn the_crate_depends_on_nothing_that_is_not_listed() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "tree",
            "--offline",
            "-p",
            "perennial",
            "-e",
            "normal",
            "--prefix",
            "none",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let tree = String::from_utf8(output.stdout).unwrap();
    let names: Vec<_> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(names.contains(&"serde_json"), "{tree}");
    let strange: Vec<_> = names
        .into_iter()
        .filter(|name| !name.is_empty() && !DEPENDENCIES.contains(name))
        .collect();
    assert!(strange.is_empty(), "not on the list: {strange:?}");
}
