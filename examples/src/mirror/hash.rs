//! What is in the files of the source.

use std::path::Path;
use std::sync::Arc;

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

use super::disk::{open_file, read_pieces};
use super::{File, HashedFile, Progress, Reason, Skipped, StoredPath};

/// What is in the files of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hashes {
    /// The files as they were when they were read, which need not be how they were listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<HashedFile>,
    /// Files that changed while they were read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<File>,
    /// Files that cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// Reads each file of a batch and takes its SHA-256. What is wrong with one file is said of that file, so
/// that the others are not held up.
///
/// `pure`: it only reads.
#[activity(pure, blocking)]
pub fn hash_files(acx: &ActivityCx, source: StoredPath, files: Vec<File>) -> Result<Hashes, Never> {
    let progress = acx.state::<Arc<Progress>>();
    let root = source.to_path();
    let mut hashes = Hashes::default();
    for file in files {
        match hash(&root, &file.path) {
            Ok(Some(hashed)) => {
                progress.step(acx, "hashed", &file.path);
                hashes.files.push(hashed);
            }
            Ok(None) => {
                progress.step(acx, "changed while it was hashed:", &file.path);
                hashes.changed.push(file);
            }
            Err(reason) => {
                progress.step(acx, "skipped", &file.path);
                hashes.skipped.push(Skipped {
                    path: file.path,
                    reason,
                });
            }
        }
    }
    Ok(hashes)
}

/// `None`: the file changed while it was read.
fn hash(root: &Path, path: &StoredPath) -> Result<Option<HashedFile>, Reason> {
    let unreadable = |error| Reason::of(&error);
    let (mut opened, before) = open_file(&path.under(root)).map_err(unreadable)?;
    if !before.is_file() {
        return Err(Reason::Replaced);
    }
    let file = File::new(path.clone(), &before);
    let (size, sha256) = read_pieces(&mut opened, file.size, unreadable, |_| Ok(()))?;
    let after = File::new(path.clone(), &opened.metadata().map_err(unreadable)?);
    let same = size == file.size && after == file;
    Ok(same.then_some(HashedFile { file, sha256 }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;

    #[test]
    fn each_kind_of_bad_file_has_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("folder")).unwrap();
        fs::write(root.join("file"), "abc").unwrap();
        std::os::unix::fs::symlink("file", root.join("link")).unwrap();
        let reason = |name: &str| hash(root, &StoredPath::of(name)).unwrap_err();
        assert_eq!(reason("missing"), Reason::Vanished);
        assert_eq!(reason("file/below"), Reason::Vanished);
        assert_eq!(reason("folder"), Reason::Replaced);
        assert_eq!(reason("link"), Reason::Replaced);
        let hashed = hash(root, &StoredPath::of("file")).unwrap().unwrap();
        assert_eq!(
            hashed.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        // What the system makes up while it is read has no size to check against.
        assert!(
            hash(Path::new("/proc/self"), &StoredPath::of("status"))
                .unwrap()
                .is_none()
        );
    }
}
