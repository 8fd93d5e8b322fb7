//! Listing the source, page by page.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

use super::disk::is_reserved;
use super::tree::mode_of;
use super::{File, Folder, Link, Modified, Problem, Progress, Reason, Skipped, StoredPath, Tally};

/// The most entries of a page.
const ENTRIES: usize = 500;
/// About the most bytes of a page; a value of a history may have 1 MiB.
const BYTES: usize = 400 << 10;

/// A part of the source's listing. Folders come before what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<Folder>,
    /// The regular files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// The symbolic links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// What is neither.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// The last entry of this page, where another follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<StoredPath>,
}

impl Page {
    /// The files in it.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        self.files.iter().for_each(|file| tally.add(file.size));
        tally
    }

    /// How many entries are in it.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.folders.len() + self.files.len() + self.links.len() + self.skipped.len()
    }
}

/// Lists the entries that come after the entry `after`, in the order of their names, folder by folder.
///
/// `pure`: it only reads. A second attempt may see a tree that has changed meanwhile, and that is fine: a
/// listing is of a moment, whichever; what has changed since is found when it is read.
#[activity(pure, blocking)]
pub fn list_page(
    acx: &ActivityCx,
    source: StoredPath,
    after: Option<StoredPath>,
) -> Result<Page, Problem> {
    let page = list(&source.to_path(), after.map(|path| path.to_path()), ENTRIES)?;
    acx.state::<Arc<Progress>>().listed(acx, &page);
    Ok(page)
}

/// A folder that is being listed.
struct Open {
    /// Below the source.
    path: PathBuf,
    /// The names that are still to come, the last one first.
    names: Vec<OsString>,
}

impl Open {
    fn read(root: &Path, path: PathBuf, after: Option<&OsStr>, limit: usize) -> io::Result<Self> {
        let mut names = Vec::new();
        for entry in fs::read_dir(root.join(&path))? {
            let name = entry?.file_name();
            if after.is_none_or(|after| name.as_os_str() > after) {
                names.push(name);
            }
        }
        // In a folder of a million entries only those of this page are sorted. Each name is an entry, so the
        // page is full before a name is missed.
        if names.len() > limit + 1 {
            names.select_nth_unstable(limit);
            names.truncate(limit + 1);
        }
        names.sort_unstable_by(|a, b| b.cmp(a));
        Ok(Self { path, names })
    }
}

fn list(root: &Path, after: Option<PathBuf>, limit: usize) -> Result<Page, Problem> {
    let unreadable = |error: &io::Error| Problem::Source {
        source: StoredPath::of(root),
        error: error.to_string(),
    };
    let mut page = Page::default();
    let mut open = Vec::new();
    let Some(after) = after else {
        open.push(
            Open::read(root, PathBuf::new(), None, limit).map_err(|error| unreadable(&error))?,
        );
        walk(root, open, limit, &mut page);
        return Ok(page);
    };
    // The folders on the way to the last entry, each from the name on the way onwards.
    let mut folder = PathBuf::new();
    for name in &after {
        match Open::read(root, folder.clone(), Some(name), limit) {
            Ok(read) => open.push(read),
            Err(error) if folder.as_os_str().is_empty() => return Err(unreadable(&error)),
            // It was there a page ago. What is left of it is gone, or is not to be had.
            Err(error) => page.skipped.push(Skipped {
                path: StoredPath::of(&folder),
                reason: Reason::of(&error),
            }),
        }
        folder.push(name);
    }
    // The last entry itself may be a folder, of which nothing has been listed.
    let is_folder = fs::symlink_metadata(root.join(&after)).is_ok_and(|metadata| metadata.is_dir());
    if is_folder {
        enter(root, after, limit, &mut open, &mut page);
    }
    walk(root, open, limit, &mut page);
    Ok(page)
}

fn walk(root: &Path, mut open: Vec<Open>, limit: usize, page: &mut Page) {
    let mut bytes = 0;
    let mut last = None;
    while let Some(folder) = open.last_mut() {
        let Some(name) = folder.names.pop() else {
            open.pop();
            continue;
        };
        if page.entries() >= limit || bytes >= BYTES {
            page.next = last.map(|path: PathBuf| StoredPath::of(&path));
            return;
        }
        let path = folder.path.join(&name);
        bytes += 3 * path.as_os_str().len() + 100;
        let is_folder = look_at(root, &path, &name, folder.path.as_os_str().is_empty(), page);
        last = Some(path.clone());
        if is_folder {
            enter(root, path, limit, &mut open, page);
        }
    }
}

/// Puts the entry into the page, and says whether it is a folder.
fn look_at(root: &Path, path: &Path, name: &OsStr, at_root: bool, page: &mut Page) -> bool {
    let stored = StoredPath::of(path);
    let skip = |reason| Skipped {
        path: stored.clone(),
        reason,
    };
    if is_reserved(name.as_encoded_bytes(), at_root) {
        page.skipped.push(skip(Reason::Reserved));
        return false;
    }
    let full = root.join(path);
    let metadata = match fs::symlink_metadata(&full) {
        Ok(metadata) => metadata,
        Err(error) => {
            page.skipped.push(skip(Reason::of(&error)));
            return false;
        }
    };
    let kind = metadata.file_type();
    if kind.is_dir() {
        page.folders.push(Folder {
            path: stored,
            mode: mode_of(&metadata),
            modified: Modified::of(&metadata),
        });
        return true;
    }
    if kind.is_file() {
        page.files.push(File::new(stored, &metadata));
    } else if kind.is_symlink() {
        match fs::read_link(&full) {
            Ok(to) => page.links.push(Link {
                path: stored,
                to: StoredPath::of(&to),
            }),
            Err(error) => page.skipped.push(skip(Reason::of(&error))),
        }
    } else {
        let kind = if kind.is_fifo() {
            "pipe"
        } else if kind.is_socket() {
            "socket"
        } else {
            "device"
        };
        page.skipped
            .push(skip(Reason::Special { kind: kind.into() }));
    }
    false
}

fn enter(root: &Path, path: PathBuf, limit: usize, open: &mut Vec<Open>, page: &mut Page) {
    match Open::read(root, path.clone(), None, limit) {
        Ok(folder) => open.push(folder),
        Err(error) => page.skipped.push(Skipped {
            path: StoredPath::of(&path),
            reason: Reason::of(&error),
        }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn entries(page: &Page) -> Vec<String> {
        let folders = page
            .folders
            .iter()
            .map(|folder| format!("{}/", folder.path));
        let files = page.files.iter().map(|file| file.path.to_string());
        let links = page
            .links
            .iter()
            .map(|link| format!("{} -> {}", link.path, link.to));
        let skipped = page
            .skipped
            .iter()
            .map(|skipped| format!("{}: {}", skipped.path, skipped.reason));
        folders.chain(files).chain(links).chain(skipped).collect()
    }

    #[test]
    fn pages_of_every_length_make_the_same_listing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a/b/c", "a/d", "empty", "z"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        for path in [
            "a/1",
            "a/b/1",
            "a/b/2",
            "a/b/c/deep",
            "a.txt",
            "z/1",
            "z/2",
            "z/3",
            "~",
            ".mirror-0.part",
        ] {
            fs::write(root.join(path), path).unwrap();
        }
        std::os::unix::fs::symlink("nowhere", root.join("link")).unwrap();
        let whole = list(root, None, 1_000).unwrap();
        assert_eq!(whole.next, None);
        assert_eq!(whole.entries(), 17);
        let mut expected = entries(&whole);
        expected.sort();
        for limit in 1..=18 {
            let mut found = Vec::new();
            let mut after = None;
            loop {
                let page = list(root, after, limit).unwrap();
                assert!(page.entries() <= limit);
                found.extend(entries(&page));
                match page.next {
                    Some(next) => after = Some(next.to_path()),
                    None => break,
                }
            }
            found.sort();
            assert_eq!(found, expected, "pages of {limit}");
        }
    }

    #[test]
    fn a_folder_that_goes_between_two_pages_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("a")).unwrap();
        for path in ["a/1", "a/2", "b"] {
            fs::write(root.join(path), path).unwrap();
        }
        let first = list(root, None, 2).unwrap();
        assert_eq!(first.next, Some(StoredPath::of("a/1")));
        fs::remove_dir_all(root.join("a")).unwrap();
        let second = list(root, Some("a/1".into()), 9).unwrap();
        assert_eq!(entries(&second), ["b", "a: vanished after it was listed"]);
        fs::remove_dir_all(root).unwrap();
        assert!(matches!(
            list(root, Some("b".into()), 9),
            Err(Problem::Source { .. })
        ));
    }
}
