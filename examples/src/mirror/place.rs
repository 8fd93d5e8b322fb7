//! From what and whereto: looked at before a run is started, so that what cannot work is refused at once.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use perennial::{InvalidId, RunId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::StoredPath;
use super::disk::{OWN, hex};

/// The file in the target's folder `.mirror` that says what it is a mirror of.
pub(super) const MARK: &str = "source";

/// From what and whereto: the workflow's input. Both are absolute and without links, so that the same
/// folders are the same run, however they are named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The folder that is mirrored.
    pub source: StoredPath,
    /// The folder that becomes its mirror.
    pub target: StoredPath,
}

impl Plan {
    /// The id of the run that does it: the same arguments are the same run.
    ///
    /// # Errors
    ///
    /// None that can be met: the id is made of letters and digits.
    pub fn run_id(&self) -> Result<RunId, InvalidId> {
        let mut digest = Sha256::new();
        digest.update(self.source.as_str());
        digest.update([0]);
        digest.update(self.target.as_str());
        RunId::new(format!("mirror-{}", hex(&digest.finalize()[..8])))
    }
}

/// What a target has that is no mirror of this source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// A mirror of something else.
    Mirror(StoredPath),
    /// Files that no mirror has put there; one of them.
    Files(StoredPath),
}

/// Why a run is not started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The source is not there.
    SourceMissing(StoredPath),
    /// The source is no folder.
    SourceNoFolder(StoredPath),
    /// The target is there, and is no folder.
    TargetNoFolder(StoredPath),
    /// Source and target are the same folder.
    Same(StoredPath),
    /// The target is a folder in the source: the mirror would be mirrored into itself, for ever.
    TargetInSource(Plan),
    /// The source is a folder in the target: the mirror would write into what it reads.
    SourceInTarget(Plan),
    /// The store is in the source or in the target.
    StoreInside {
        /// The store.
        store: StoredPath,
        /// What it is in.
        folder: StoredPath,
        /// `source` or `target`.
        which: &'static str,
    },
    /// The target has what no mirror of this source has put there.
    Taken {
        /// The target.
        target: StoredPath,
        /// What it has.
        by: Taken,
    },
    /// A path cannot be looked at.
    Unreadable {
        /// The path.
        path: StoredPath,
        /// What the system said.
        error: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SourceMissing(source) => {
                write!(
                    f,
                    "there is no folder {source} to mirror\n\nhelp: name the source first: `mirror SOURCE TARGET`"
                )
            }
            Self::SourceNoFolder(source) => {
                write!(
                    f,
                    "the source {source} is no folder\n\nhelp: name the folder that it is in"
                )
            }
            Self::TargetNoFolder(target) => write!(
                f,
                "the target {target} is there, and is no folder\n\n\
                 help: name a folder, or one that is to be made"
            ),
            Self::Same(folder) => {
                write!(
                    f,
                    "source and target are the same folder, {folder}\n\nhelp: name another target"
                )
            }
            Self::TargetInSource(Plan { source, target }) => write!(
                f,
                "the target {target} is inside the source {source}, so the mirror would be mirrored into itself\n\n\
                 help: name a target outside the source"
            ),
            Self::SourceInTarget(Plan { source, target }) => write!(
                f,
                "the source {source} is inside the target {target}, so the mirror would write into what it reads\n\n\
                 help: name a target that the source is not in"
            ),
            Self::StoreInside {
                store,
                folder,
                which,
            } => write!(
                f,
                "the store {store} is inside the {which} {folder}, which it would change all the time\n\n\
                 help: name a folder outside with `--store`"
            ),
            Self::Taken {
                target,
                by: Taken::Mirror(other),
            } => write!(
                f,
                "the target {target} is the mirror of another source, {other}\n\n\
                 help: name another target; or mirror into it all the same with `--adopt`, \
                 which replaces files of the same name"
            ),
            Self::Taken {
                target,
                by: Taken::Files(one),
            } => write!(
                f,
                "the target {target} has files that no mirror has put there, such as {one}\n\n\
                 help: name another target, or an empty one; or mirror into it all the same with `--adopt`, \
                 which replaces files of the same name"
            ),
            Self::Unreadable { path, error } => write!(
                f,
                "{path} cannot be looked at: {error}\n\n\
                 help: all that is above it must be folders that you may enter"
            ),
        }
    }
}

impl std::error::Error for Refusal {}

/// Looks at source, target and store. Nothing is made or changed.
///
/// # Errors
///
/// [`Refusal`].
pub fn place(source: &Path, target: &Path, store: &Path, adopt: bool) -> Result<Plan, Refusal> {
    let source = match fs::canonicalize(source) {
        Ok(path) if path.is_dir() => path,
        Ok(path) => return Err(Refusal::SourceNoFolder(StoredPath::of(path))),
        Err(error) => {
            let path = StoredPath::of(absolute(source)?);
            return Err(match error.kind() {
                io::ErrorKind::NotFound => Refusal::SourceMissing(path),
                _ => Refusal::Unreadable {
                    path,
                    error: error.to_string(),
                },
            });
        }
    };
    let target = resolved(target)?;
    let store = resolved(store)?;
    let plan = Plan {
        source: StoredPath::of(&source),
        target: StoredPath::of(&target),
    };
    if source == target {
        return Err(Refusal::Same(plan.source));
    }
    if target.starts_with(&source) {
        return Err(Refusal::TargetInSource(plan));
    }
    if source.starts_with(&target) {
        return Err(Refusal::SourceInTarget(plan));
    }
    for (which, folder) in [("source", &source), ("target", &target)] {
        if store.starts_with(folder) {
            let (store, folder) = (StoredPath::of(&store), StoredPath::of(folder));
            return Err(Refusal::StoreInside {
                store,
                folder,
                which,
            });
        }
    }
    if target.exists() && !target.is_dir() {
        return Err(Refusal::TargetNoFolder(plan.target));
    }
    match taken(&plan, &target) {
        Ok(Some(by)) if !adopt => Err(Refusal::Taken {
            target: plan.target,
            by,
        }),
        Ok(_) => Ok(plan),
        Err(error) => Err(Refusal::Unreadable {
            path: plan.target,
            error: error.to_string(),
        }),
    }
}

fn taken(plan: &Plan, target: &Path) -> io::Result<Option<Taken>> {
    match fs::read_to_string(target.join(OWN).join(MARK)) {
        Ok(text) if text.trim_end_matches('\n') == plan.source.as_str() => return Ok(None),
        Ok(text) => return Ok(Some(Taken::Mirror(StoredPath::of(text.trim_end())))),
        Err(_) if !target.exists() => return Ok(None),
        // Where its own folder is no folder, the run says that this is in the way.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) => {}
        Err(error) => return Err(error),
    }
    // A run that was killed before it could say whose mirror this is has made nothing but its own folder.
    for entry in fs::read_dir(target)? {
        let name = entry?.file_name();
        if name != OWN {
            return Ok(Some(Taken::Files(StoredPath::of(name))));
        }
    }
    Ok(None)
}

fn absolute(path: &Path) -> Result<PathBuf, Refusal> {
    std::path::absolute(path).map_err(|error| Refusal::Unreadable {
        path: StoredPath::of(path),
        error: error.to_string(),
    })
}

/// The path without links and `..`, of which not all needs to be there.
fn resolved(path: &Path) -> Result<PathBuf, Refusal> {
    let mut whole = PathBuf::new();
    for component in absolute(path)?.components() {
        match component {
            // What is before it has no links any more, or is not there.
            Component::ParentDir => {
                whole.pop();
            }
            other => whole.push(other),
        }
        match fs::canonicalize(&whole) {
            Ok(real) => whole = real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Refusal::Unreadable {
                    path: StoredPath::of(&whole),
                    error: error.to_string(),
                });
            }
        }
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_same_folders_are_the_same_run_however_they_are_named() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        let plan = |source: &str, target: &str| {
            place(
                &root.join(source),
                &root.join(target),
                &root.join("store"),
                false,
            )
            .unwrap()
        };
        let one = plan("a/b", "new/mirror");
        assert_eq!(one, plan("link/b", "a/../new/./x/../mirror"));
        assert_eq!(one.run_id(), plan("a/../a/b/", "new/mirror/").run_id());
        assert_ne!(one.run_id(), plan("a/b", "new/other").run_id());
        assert_eq!(one.target, StoredPath::of(root.join("new/mirror")));
    }
}
