//! The packages in which the corpus is compiled: they are written anew under `target/corpus/`, and share one
//! target folder there.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs, io};

use super::{AnyError, Case, Kind, case};

/// The workspace of those packages.
#[derive(Debug)]
pub(super) struct Workspace {
    root: PathBuf,
}

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
    /// In the target folder that this program was built into.
    pub(super) fn locate() -> Result<Self, AnyError> {
        let program = env::current_exe()?;
        // Cargo marks its target folders so.
        let mut folders = program.ancestors();
        let target = folders.find(|folder| folder.join("CACHEDIR.TAG").exists());
        let root = match target {
            Some(target) => target.join("corpus"),
            None => repository().join("target/corpus"),
        };
        fs::create_dir_all(&root)?;
        // A package that was written when the repository was elsewhere names folders that are gone.
        let sdk = format!("{:?}", repository().join("sdk"));
        for entry in fs::read_dir(&root)? {
            let folder = entry?.path();
            let manifest = fs::read_to_string(folder.join("Cargo.toml"));
            if manifest.is_ok_and(|manifest| !manifest.contains(&sdk)) {
                fs::remove_dir_all(folder)?;
            }
        }
        Ok(Self { root })
    }

    /// Writes the package `name`, a library of `cases`.
    pub(super) fn library(&self, name: &str, cases: &[&Case]) -> Result<Package<'_>, AnyError> {
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

    fn package(&self, name: &str, manifest: &str, library: &str) -> Result<Package<'_>, AnyError> {
        let package = Package {
            workspace: self,
            name: format!("corpus-{name}"),
        };
        let folder = package.folder();
        fs::create_dir_all(folder.join("src"))?;
        write_if_changed(&folder.join("Cargo.toml"), manifest)?;
        write_if_changed(&folder.join("src/lib.rs"), library)?;
        let members = "[workspace]\nresolver = \"3\"\nmembers = [\"corpus-*\"]\n\n\
                       [profile.dev]\ndebug = \"line-tables-only\"\n";
        write_if_changed(&self.root.join("Cargo.toml"), members)?;
        let lock = fs::read_to_string(repository().join("Cargo.lock"))?;
        if !self.root.join("Cargo.lock").exists() || self.lock_is_older()? {
            fs::write(self.root.join("Cargo.lock"), lock)?;
        }
        Ok(package)
    }

    /// Whether the repository has another lock since it was copied, which cargo then fits to these packages.
    fn lock_is_older(&self) -> io::Result<bool> {
        let at = |path: &Path| fs::metadata(path)?.modified();
        Ok(at(&self.root.join("Cargo.lock"))? < at(&repository().join("Cargo.lock"))?)
    }
}

/// A package of the workspace.
#[derive(Debug)]
pub(super) struct Package<'a> {
    workspace: &'a Workspace,
    name: String,
}

impl Package<'_> {
    /// Where it is.
    pub(super) fn folder(&self) -> PathBuf {
        self.workspace.root.join(&self.name)
    }

    /// Where the program of this name is, once it is built.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        let program = format!("{name}{}", env::consts::EXE_SUFFIX);
        self.workspace.root.join("target/debug").join(program)
    }

    /// `cargo <command> --package <this one> ..`, which reaches for nothing in the net.
    pub(super) fn cargo<A: AsRef<OsStr>>(
        &self,
        command: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Output, AnyError> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let target = self.workspace.root.join("target");
        let output = Command::new(cargo)
            .current_dir(self.folder())
            .env("CLIPPY_CONF_DIR", self.folder())
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .args([
                command,
                "--offline",
                "--quiet",
                "--package",
                &self.name,
                "--target-dir",
            ])
            .arg(target)
            .args(arguments)
            .stdin(Stdio::null())
            .output()?;
        Ok(output)
    }
}

/// The root of this repository.
fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
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

/// What has not changed keeps its time, so that cargo has nothing to do.
pub(super) fn write_if_changed(path: &Path, text: &str) -> io::Result<()> {
    match fs::read_to_string(path) {
        Ok(there) if there == text => Ok(()),
        _ => fs::write(path, text),
    }
}

/// The fragment of `clippy.toml` that is shipped.
pub(super) fn shipped() -> io::Result<String> {
    fs::read_to_string(repository().join("macros/clippy/perennial.clippy.toml"))
}
