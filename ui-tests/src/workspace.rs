//! The packages that the tests write and compile. Those of one subject are in a workspace of their own, as in
//! `target/corpus/`, and share one target folder there.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs, io};

use crate::AnyError;

/// The workspace of the packages of one subject.
#[derive(Debug)]
pub(crate) struct Workspace {
    subject: &'static str,
    debug: &'static str,
    root: PathBuf,
}

impl Workspace {
    /// In the target folder that this program was built into. `debug`: which debug information its packages have.
    pub(crate) fn locate(subject: &'static str, debug: &'static str) -> Result<Self, AnyError> {
        let program = env::current_exe()?;
        // Cargo marks its target folders so.
        let mut folders = program.ancestors();
        let target = folders.find(|folder| folder.join("CACHEDIR.TAG").exists());
        let root = match target {
            Some(target) => target.join(subject),
            None => repository().join("target").join(subject),
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
        Ok(Self {
            subject,
            debug,
            root,
        })
    }

    /// Where its packages are.
    pub(crate) fn folder(&self) -> &Path {
        &self.root
    }

    /// Writes the package `<subject>-<name>`.
    pub(crate) fn package(
        &self,
        name: &str,
        manifest: &str,
        library: &str,
    ) -> Result<Package<'_>, AnyError> {
        let package = Package {
            workspace: self,
            name: format!("{}-{name}", self.subject),
        };
        let folder = package.folder();
        fs::create_dir_all(folder.join("src"))?;
        write_if_changed(&folder.join("Cargo.toml"), manifest)?;
        write_if_changed(&folder.join("src/lib.rs"), library)?;
        let members = format!(
            "[workspace]\nresolver = \"3\"\nmembers = [\"{}-*\"]\n\n\
             [profile.dev]\ndebug = {:?}\n",
            self.subject, self.debug
        );
        write_if_changed(&self.root.join("Cargo.toml"), &members)?;
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
pub(crate) struct Package<'a> {
    workspace: &'a Workspace,
    name: String,
}

impl Package<'_> {
    /// Where it is.
    pub(crate) fn folder(&self) -> PathBuf {
        self.workspace.root.join(&self.name)
    }

    /// Where the program of this name is, once it is built.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let program = format!("{name}{}", env::consts::EXE_SUFFIX);
        self.workspace.root.join("target/debug").join(program)
    }

    /// Runs the program of this name, once it is built.
    pub(crate) fn run<A: AsRef<OsStr>>(
        &self,
        program: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Output, AnyError> {
        let output = Command::new(self.program(program))
            .args(arguments)
            .current_dir(self.folder())
            .stdin(Stdio::null())
            .output()?;
        Ok(output)
    }

    /// `cargo <command> --package <this one> ..`, which reaches for nothing in the net.
    pub(crate) fn cargo<A: AsRef<OsStr>>(
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
pub(crate) fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// What has not changed keeps its time, so that cargo has nothing to do.
pub(crate) fn write_if_changed(path: &Path, text: &str) -> io::Result<()> {
    match fs::read_to_string(path) {
        Ok(there) if there == text => Ok(()),
        _ => fs::write(path, text),
    }
}
