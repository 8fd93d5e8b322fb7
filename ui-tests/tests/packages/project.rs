//! Packages that are written, compiled, and asked what the compiler says about them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// How a file is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Annotated,
    Plain,
}

impl Form {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Annotated => "annotated",
            Form::Plain => "plain",
        }
    }

    /// A source in this form. Attributes stand alone on their line.
    pub(crate) fn of(self, source: &str) -> String {
        let line = |line: &str| {
            let rest = line.trim_start().strip_prefix("#[");
            let ours = rest.is_some_and(|rest| {
                ["workflow", "activity", "durable"]
                    .iter()
                    .any(|name| rest.starts_with(name))
            });
            match (self, ours) {
                (Form::Plain, true) => line.replacen("#[", "//", 1) + "\n",
                _ => line.to_owned() + "\n",
            }
        };
        source.lines().map(line).collect()
    }
}

/// Something that the compiler said.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, under `same/`.
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) column: u64,
    /// Not a warning.
    pub(crate) is_error: bool,
    /// `unused_mut`, `E0308`; empty if it has none.
    pub(crate) code: String,
    pub(crate) message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            code,
            message,
            is_error: _,
        } = self;
        let message = message.lines().next().unwrap_or_default();
        write!(f, "{file}:{line}:{column} [{code}] {message}")
    }
}

/// A workspace on disk, of packages that use this repository's `perennial`.
pub(crate) struct Project {
    folder: PathBuf,
    packages: Vec<String>,
}

impl Project {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("packages")
            .join(name);
        Self {
            folder,
            packages: Vec::new(),
        }
    }

    /// Adds a package with these files.
    pub(crate) fn package(&mut self, name: &str, edition: &str, files: &[(String, String)]) {
        let dependencies = format!("perennial = {{ path = {:?} }}\n", sdk());
        self.package_with(name, edition, &dependencies, files);
    }

    /// Adds a package with these dependencies and with serde.
    pub(crate) fn package_with(
        &mut self,
        name: &str,
        edition: &str,
        dependencies: &str,
        files: &[(String, String)],
    ) {
        let folder = self.folder.join(name);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"{edition}\"\n\n[dependencies]\n{dependencies}\
             serde = {{ version = \"1\", features = [\"derive\"] }}\n"
        );
        write(&folder.join("Cargo.toml"), &manifest);
        for (path, text) in files {
            write(&folder.join(path), text);
        }
        self.packages.push(name.to_owned());
    }

    /// What `cargo` says of each package, in this order: what the compiler said, and of which target.
    pub(crate) fn findings(&self, cargo: &[&str]) -> Vec<(String, String, Finding)> {
        let output = self.cargo(&[cargo, &["--keep-going", "--message-format", "json"]].concat());
        let mut found = Vec::new();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let said: Value = serde_json::from_str(line).unwrap();
            let package = said["manifest_path"].as_str().and_then(|path| {
                let folder = Path::new(path).parent()?.file_name()?;
                Some(folder.to_string_lossy().into_owned())
            });
            if let Some(package) = package
                && self.packages.contains(&package)
                && let Some(finding) = finding(&said["message"])
            {
                let target = said["target"]["name"].as_str().unwrap().to_owned();
                found.push((package, target, finding));
            }
        }
        assert!(
            !found.is_empty(),
            "nothing was found, not even what should be:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        found
    }

    /// What the compiler said of each package, as it shows it.
    pub(crate) fn rendered(&self, cargo: &[&str]) -> Vec<(String, String)> {
        let output = self.cargo(&[cargo, &["--keep-going", "--message-format", "json"]].concat());
        let mut found = Vec::new();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let said: Value = serde_json::from_str(line).unwrap();
            let package = said["manifest_path"].as_str().and_then(|path| {
                let folder = Path::new(path).parent()?.file_name()?;
                Some(folder.to_string_lossy().into_owned())
            });
            if let Some(package) = package
                && self.packages.contains(&package)
                && let Some(text) = said["message"]["rendered"].as_str()
                // Not what it counts at the end.
                && said["message"]["spans"].as_array().is_some_and(|spans| !spans.is_empty())
            {
                found.push((package, text.to_owned()));
            }
        }
        assert!(
            !found.is_empty(),
            "nothing was said, not even what should be:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        found
    }

    /// Runs `cargo` over all packages.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Output {
        let packages: Vec<String> = self
            .packages
            .iter()
            .map(|name| format!("{name:?}"))
            .collect();
        let manifest = format!(
            "[workspace]\nresolver = \"3\"\nmembers = [{}]\n",
            packages.join(", ")
        );
        write(&self.folder.join("Cargo.toml"), &manifest);
        // The versions that are already there.
        let lock = std::fs::read_to_string(repository().join("Cargo.lock")).unwrap();
        write(&self.folder.join("Cargo.lock"), &lock);
        Command::new(env!("CARGO"))
            .args(arguments)
            .args(["--workspace", "--offline"])
            // One for all tests here: what they depend on is built once.
            .arg("--target-dir")
            .arg(target())
            .current_dir(&self.folder)
            .env_remove("RUSTFLAGS")
            .env_remove("PERENNIAL_LOCK")
            .output()
            .unwrap()
    }
}

/// Where all of them are built.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages/target")
}

/// What a message of the compiler is about; `None` for a summary.
fn finding(message: &Value) -> Option<Finding> {
    let spans = message["spans"].as_array()?;
    let primary = spans.iter().find(|span| span["is_primary"] == true)?;
    let file = primary["file_name"].as_str()?;
    Some(Finding {
        file: file
            .rsplit_once("src/")
            .map_or(file, |(_, file)| file)
            .to_owned(),
        line: primary["line_start"].as_u64()?,
        column: primary["column_start"].as_u64()?,
        is_error: message["level"] == "error",
        code: message["code"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        message: message["message"].as_str()?.to_owned(),
    })
}

/// A file of `same/`.
pub(crate) fn source(path: &str) -> String {
    let path = repository().join("ui-tests/same").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// For messages: one a line.
pub(crate) fn lines(findings: &[&Finding]) -> String {
    findings
        .iter()
        .map(|finding| format!("  {finding}\n"))
        .collect()
}

/// The names of the files in a folder of `same/`.
pub(crate) fn sources(folder: &str) -> Vec<String> {
    let folder = repository().join("ui-tests/same").join(folder);
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The package `perennial`.
pub(crate) fn sdk() -> PathBuf {
    repository().join("sdk")
}

pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Leaves a file alone that is as it should be, so that nothing is compiled again because of it.
fn write(path: &Path, text: &str) {
    if std::fs::read_to_string(path).is_ok_and(|there| there == text) {
        return;
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
