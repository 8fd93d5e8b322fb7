//! The packages in which the corpus is compiled.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use super::{AnyError, Case, Kind, case};
use crate::workspace::{Package, Workspace, repository, write_if_changed};

/// What the packages depend on besides `perennial`: what people use in workflows, and should not.
const DEPENDENCIES: &str = r#"chrono = { version = "0.4", default-features = false, features = ["now"] }
fastrand = "2.5"
rand = "0.10"
serde = { version = "1", features = ["derive"] }
serde_json = { version = "1", features = ["float_roundtrip", "raw_value"] }
tokio = { version = "1", default-features = false, features = ["rt", "rt-multi-thread", "macros", "sync", "time"] }
tracing = { version = "0.1", default-features = false, features = ["std"] }
uuid = { version = "1", default-features = false, features = ["serde", "v4"] }
"#;

/// As the book tells users: what is in `clippy.toml` holds for workflows alone.
const LINTS: &str = r#"
[lints.clippy]
all = "allow"
disallowed_methods = "allow"
"#;

impl Workspace {
    /// Writes the package `name`, whose modules are `cases`.
    pub(super) fn crate_of(&self, name: &str, cases: &[&Case]) -> Result<Package<'_>, AnyError> {
        self.package(name, &manifest(name, ""), &library(cases))
    }

    /// Writes the package `name`, a library of `cases` and two programs that run one of them in the test kit:
    /// `plain`, and `sandboxed`, in which the sandbox is linked.
    pub(super) fn programs(&self, name: &str, cases: &[&Case]) -> Result<Package<'_>, AnyError> {
        let sandbox = repository().join("sdk/sandbox");
        let manifest = manifest(
            name,
            &format!("perennial-sandbox = {{ path = {sandbox:?} }}\n"),
        );
        let package = self.package(name, &manifest, &(library(cases) + &start(cases)))?;
        let programs = package.folder().join("src/bin");
        fs::create_dir_all(&programs)?;
        let run = case::folder().join("run.rs");
        let main = format!(
            "use corpus_{name} as corpus;\n\n#[path = {run:?}]\nmod run;\n\n\
             fn main() -> std::process::ExitCode {{\n    run::main()\n}}\n"
        );
        write_if_changed(&programs.join("plain.rs"), &main)?;
        let main = format!("use perennial_sandbox as _;\n\n{main}");
        write_if_changed(&programs.join("sandboxed.rs"), &main)?;
        Ok(package)
    }
}

fn manifest(name: &str, more: &str) -> String {
    let sdk = repository().join("sdk");
    format!(
        "[package]\nname = \"corpus-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nperennial = {{ path = {sdk:?}, features = [\"testing\"] }}\n{more}{DEPENDENCIES}{LINTS}"
    )
}

/// A module for each case, at the place where the case is: so that messages name it.
fn library(cases: &[&Case]) -> String {
    let mut text = String::from("#![allow(dead_code, unused)]\n");
    let module = |text: &mut String, name: &str, path: &Path| {
        let _ = writeln!(text, "#[path = {path:?}]\npub mod {name};");
    };
    module(&mut text, "shop", &case::folder().join("shop.rs"));
    for kind in [Kind::Nondeterministic, Kind::Harmless] {
        let _ = writeln!(text, "pub mod {} {{", kind.folder());
        for case in cases.iter().filter(|case| case.kind == kind) {
            module(&mut text, &case.name, &case.path);
        }
        text.push_str("}\n");
    }
    text
}

/// The function that starts the run of a case, by name.
fn start(cases: &[&Case]) -> String {
    let mut text = String::from(
        "\npub fn start(name: &str, t: &mut perennial::testing::TestRun) {\n    \
         let order = shop::Order::example();\n    match name {\n",
    );
    for Case {
        kind, name, allows, ..
    } in cases
    {
        let module = format!("{}::{name}", kind.folder());
        let allow = if *allows {
            format!("{module}::allow(t); ")
        } else {
            String::new()
        };
        let path = format!("{}/{name}", kind.folder());
        let _ = writeln!(
            text,
            "        {path:?} => {{ {allow}let _ = t.start({module}::{name}, order).result(); }}"
        );
    }
    text + "        _ => panic!(\"there is no case {name}\"),\n    }\n}\n"
}

/// The fragment of `clippy.toml` that is shipped.
pub(super) fn shipped() -> io::Result<String> {
    fs::read_to_string(repository().join("macros/clippy/perennial.clippy.toml"))
}
