//! A folder as a power cut may have left it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder as a power cut may have left it: names and contents; everything else of files is not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    found: BTreeMap<PathBuf, Content>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Folder,
    File(Arc<Vec<u8>>),
}

impl Image {
    pub(crate) fn new(found: BTreeMap<PathBuf, Content>) -> Self {
        Self { found }
    }

    pub(crate) fn contents(&self) -> impl Iterator<Item = (&Path, &Content)> {
        self.found
            .iter()
            .map(|(path, content)| (path.as_path(), content))
    }

    /// Files and folders, seen from the folder that was recorded, in their order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.found.keys().map(PathBuf::as_path)
    }

    /// The content of a file; `None` when there is no such file.
    #[must_use]
    pub fn read(&self, path: impl AsRef<Path>) -> Option<&[u8]> {
        match self.found.get(path.as_ref())? {
            Content::File(content) => Some(content),
            Content::Folder => None,
        }
    }

    /// Makes the folder, with everything in it. Nothing has an attribute that the folder around it does not
    /// give.
    ///
    /// # Errors
    ///
    /// When the system says no, and when there is a file in the way.
    pub fn write_to(&self, folder: impl AsRef<Path>) -> io::Result<()> {
        let folder = folder.as_ref();
        fs::create_dir_all(folder)?;
        for (path, content) in self.contents() {
            let path = folder.join(path);
            match content {
                Content::Folder => fs::create_dir_all(path)?,
                Content::File(content) => {
                    let mut file = fs::OpenOptions::new();
                    let mut file = file.write(true).create_new(true).open(path)?;
                    io::Write::write_all(&mut file, content)?;
                }
            }
        }
        Ok(())
    }
}
