//! Folders in which no store can be: an exact error, and nothing is changed.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use perennial_runtime::store::{Durability, OpenError, SledStore};

/// Everything in a folder: a file with its bytes, a folder with none.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
            found.insert(path, None);
        } else {
            found.insert(path.clone(), Some(fs::read(&path).unwrap()));
        }
    }
    found
}

fn open(folder: &Path) -> Result<SledStore, OpenError> {
    SledStore::options().durability(Durability::Os).open(folder)
}

/// What the opening said, without the place of the folder.
fn refusal(around: &Path, folder: &Path) -> String {
    let before = contents(around);
    let error = match open(folder) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    };
    assert_eq!(contents(around), before, "something was changed");
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
    without_place(around, &error.to_string())
}

fn without_place(around: &Path, text: &str) -> String {
    text.replace(&*around.to_string_lossy(), "[folder]")
}

#[test]
fn a_file_where_the_folder_should_be() {
    let around = tempfile::tempdir().unwrap();
    let file = around.path().join("file");
    fs::write(&file, b"something of somebody").unwrap();
    let texts = [
        refusal(around.path(), &file),
        refusal(around.path(), &file.join("store")),
        refusal(around.path(), &file.join("a/b/store")),
    ];
    insta::assert_snapshot!(texts.join("\n---\n"));
}

#[test]
fn files_where_folders_of_the_store_should_be() {
    let mut texts = Vec::new();
    for name in ["sled", "journal"] {
        let around = tempfile::tempdir().unwrap();
        let store = around.path().join("store");
        fs::create_dir(&store).unwrap();
        fs::write(store.join(name), b"something of somebody").unwrap();
        let error = match open(&store) {
            Ok(_) => panic!("it was opened"),
            Err(error) => error,
        };
        assert!(matches!(error, OpenError::Io { .. }), "{error}");
        texts.push(without_place(around.path(), &error.to_string()));
        let there = fs::read(store.join(name)).unwrap();
        assert_eq!(there, b"something of somebody");
        // When it is gone, there is a store.
        fs::remove_file(store.join(name)).unwrap();
        open(&store).unwrap();
    }
    insta::assert_snapshot!(texts.join("\n---\n"));
}

#[test]
fn folders_above_that_are_missing_are_made() {
    let around = tempfile::tempdir().unwrap();
    let store = around.path().join("a/b/store");
    drop(open(&store).unwrap());
    assert!(store.join("perennial.state").exists());
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing() {
    let around = tempfile::tempdir().unwrap();
    let link = around.path().join("link");
    std::os::unix::fs::symlink(around.path().join("nothing"), &link).unwrap();
    let before = fs::read_link(&link).unwrap();
    let error = match open(&link) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    };
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
    insta::assert_snapshot!(without_place(around.path(), &error.to_string()));
    assert_eq!(fs::read_link(&link).unwrap(), before);
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use crate::support::mount::Mounted;
    use crate::support::process::{Role, tell, variable};

    const FOLDER: &str = "PERENNIAL_TEST_FOLDER";

    #[test]
    fn a_file_system_that_is_read_only() {
        let Some(mounted) = Mounted::ext4(16) else {
            return;
        };
        let around = mounted.path();
        drop(open(&around.join("closed")).unwrap());
        mounted.make_read_only();
        let texts = [
            refusal(&around, &around.join("new")),
            refusal(&around, &around.join("closed")),
        ];
        insta::assert_snapshot!(texts.join("\n---\n"));
        mounted.make_writable();
        open(&around.join("closed")).unwrap();
    }

    /// What the opening says to somebody who may do nothing in particular.
    fn refusal_for_nobody(around: &Path, folder: &Path) -> Option<String> {
        let before = contents(around);
        let process = Role::new("linux::opens")
            .with(FOLDER, folder)
            .by_nobody()
            .try_start();
        let process = match process {
            Ok(process) => process,
            Err(error) => {
                println!("left out, since no process of another user can be started: {error}");
                return None;
            }
        };
        let ended = process.ended();
        let Some(said) = ended.lines.first() else {
            println!("left out, since nobody may run it: {}", ended.last_words());
            return None;
        };
        assert_eq!(contents(around), before, "something was changed");
        Some(without_place(around, said))
    }

    #[test]
    #[ignore = "only makes sense as another process"]
    fn opens() {
        match open(Path::new(&variable(FOLDER))) {
            Ok(_) => tell("it was opened"),
            Err(OpenError::Io {
                folder,
                what,
                error,
            }) => tell(format!("{}: {what}: {error}", folder.display())),
            Err(error) => tell(format!("something else: {error}").replace('\n', " ")),
        }
    }

    #[test]
    fn a_folder_without_permission() {
        use std::os::unix::fs::PermissionsExt as _;

        // Where anybody may look, down to the folders in question.
        let around = tempfile::tempdir_in("/tmp").unwrap();
        let allow = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        allow(around.path(), 0o755);
        let closed = around.path().join("closed");
        drop(open(&closed).unwrap());
        allow(&closed, 0o755);
        let locked = around.path().join("locked");
        fs::create_dir(&locked).unwrap();
        allow(&locked, 0o700);
        let folders = [
            around.path().join("new"),
            closed.clone(),
            locked.clone(),
            locked.join("store"),
        ];
        let said: Option<Vec<_>> = folders
            .iter()
            .map(|folder| refusal_for_nobody(around.path(), folder))
            .collect();
        let Some(said) = said else { return };
        insta::assert_snapshot!(said.join("\n"));
        open(&closed).unwrap();
    }
}
