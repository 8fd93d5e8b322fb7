//! The files of the corpus.

use std::fs;
use std::path::{Path, PathBuf};

use super::AnyError;

/// A workflow of the corpus, in a file of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What it must be.
    pub kind: Kind,
    /// The name of the file, and of the workflow in it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Who finds it, as the file says; empty for a harmless one.
    pub expected: String,
    /// Whether it has activities of its own, which its function `allow` lets a test run.
    pub allows: bool,
}

/// What a workflow of the corpus is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It takes another way when it is replayed, or may.
    Nondeterministic,
    /// It does not.
    Harmless,
}

impl Kind {
    /// The name of its folder and of its module.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Nondeterministic => "nondeterministic",
            Self::Harmless => "harmless",
        }
    }
}

/// The folder of the corpus.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// All files of the corpus, by kind and name.
pub(super) fn all() -> Result<Vec<Case>, AnyError> {
    let mut cases = Vec::new();
    for kind in [Kind::Nondeterministic, Kind::Harmless] {
        for entry in fs::read_dir(folder().join(kind.folder()))? {
            cases.push(read(kind, entry?.path())?);
        }
    }
    cases.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
    Ok(cases)
}

fn read(kind: Kind, path: PathBuf) -> Result<Case, AnyError> {
    const MARK: &str = "//! Found by: ";
    let text = fs::read_to_string(&path)?;
    let said = text.lines().nth(1).and_then(|line| line.strip_prefix(MARK));
    let name = path.file_stem().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let told = text.starts_with("//! ") && text.contains(name.as_str());
    let expected = match (kind, said) {
        (Kind::Nondeterministic, Some(finder)) if told => finder.to_owned(),
        (Kind::Harmless, None) if told => String::new(),
        _ => {
            let path = path.display();
            return Err(format!(
                "{path} does not begin as a file of the corpus does\n\n\
                 help: the first line says what it is about (`//! ..`), and where it is nondeterministic the second \
                 one who finds it (`{MARK}macro D101`); its workflow has the name of the file"
            )
            .into());
        }
    };
    Ok(Case {
        kind,
        name,
        path,
        expected,
        allows: text.contains("pub fn allow(t: &mut TestRun)"),
    })
}
