//! The folders of the target.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use perennial::prelude::*;

use super::disk::{OWN, look, replace_file, sync_folders};
use super::manifest::records_folder;
use super::place::MARK;
use super::{Folder, Plan, Problem, StoredPath};

/// What the owner needs to put something into a folder.
const WRITABLE: u32 = 0o700;

/// Makes the target, says in it whose mirror it is, and clears what an earlier run has noted for its
/// manifest.
///
/// `idempotent`: nothing else has begun when it is called, so the second time finds all of it done.
#[activity(idempotent, blocking)]
pub fn prepare(acx: &ActivityCx, plan: Plan) -> Result<(), Problem> {
    let target = plan.target.to_path();
    let own = target.join(OWN);
    let records = records_folder(acx, &plan);
    let problem =
        |path: &Path, error: &io::Error| Problem::writing("making the folder", path, None, error);
    fs::create_dir_all(&target).map_err(|error| problem(&target, &error))?;
    if let Some(there) = look(&own).map_err(|error| problem(&own, &error))?
        && !there.is_dir()
    {
        let (found, wanted) = ("file".into(), "folder".into());
        return Err(Problem::InTheWay {
            path: StoredPath::of(&own),
            found,
            wanted,
        });
    }
    match fs::remove_dir_all(&records) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(problem(&records, &error));
        }
        _ => {}
    }
    fs::create_dir_all(&records).map_err(|error| problem(&records, &error))?;
    replace_file(&own.join(MARK), &acx.idempotency_key(), |out| {
        writeln!(out, "{}", plan.source.as_str())
    })?;
    // Whatever of the way to the target is new. Where it may not be read it was there before.
    for folder in target.ancestors().skip(1) {
        if let Ok(folder) = fs::File::open(folder) {
            folder
                .sync_all()
                .map_err(|error| problem(&target, &error))?;
        }
    }
    sync_folders(&BTreeSet::from([target, own]))
}

/// Makes folders in the target, writable until everything is in them.
///
/// `idempotent`: a folder that is there is taken as it is.
#[activity(idempotent, blocking)]
pub fn make_folders(_acx: &ActivityCx, plan: Plan, folders: Vec<Folder>) -> Result<(), Problem> {
    let target = plan.target.to_path();
    let mut changed = BTreeSet::new();
    for folder in folders {
        let path = folder.path.under(&target);
        make(&path, folder.mode | WRITABLE)?;
        changed.extend(path.parent().map(Path::to_owned));
    }
    sync_folders(&changed)
}

fn make(path: &Path, mode: u32) -> Result<(), Problem> {
    let problem = |error: &io::Error| Problem::writing("making the folder", path, None, error);
    let in_the_way = |found: &str| Problem::InTheWay {
        path: StoredPath::of(path),
        found: found.into(),
        wanted: "folder".into(),
    };
    match look(path).map_err(|error| problem(&error))? {
        None => fs::DirBuilder::new()
            .mode(mode)
            .create(path)
            .map_err(|error| problem(&error)),
        // Through a link everything would be written to wherever it points.
        Some(there) if there.is_symlink() => Err(in_the_way("symbolic link")),
        Some(there) if !there.is_dir() => Err(in_the_way("file")),
        Some(there) if there.mode() & WRITABLE == WRITABLE => Ok(()),
        Some(_) => {
            fs::set_permissions(path, Permissions::from_mode(mode)).map_err(|error| problem(&error))
        }
    }
}

/// Gives folders the modes and times that they have in the source. The last thing that is done to them,
/// since a mode may forbid to write, and writing changes the time.
///
/// `idempotent`: the second time sets the same.
#[activity(idempotent, blocking)]
pub fn settle_folders(_acx: &ActivityCx, plan: Plan, folders: Vec<Folder>) -> Result<(), Problem> {
    let target = plan.target.to_path();
    // What is deeper first: afterwards the way to it may be closed.
    for folder in folders.iter().rev() {
        let path = folder.path.under(&target);
        let settle = || {
            fs::File::open(&path)?.set_times(folder.modified.times())?;
            fs::set_permissions(&path, Permissions::from_mode(folder.mode))
        };
        settle()
            .map_err(|error| Problem::writing("setting mode and time of", &path, None, &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_folder_is_not_made_through_a_link() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("link");
        std::os::unix::fs::symlink(root.path(), &path).unwrap();
        assert!(matches!(make(&path, 0o755), Err(Problem::InTheWay { .. })));
        fs::write(root.path().join("file"), "").unwrap();
        assert!(matches!(
            make(&root.path().join("file"), 0o755),
            Err(Problem::InTheWay { .. })
        ));
        make(&root.path().join("new"), 0o755).unwrap();
        make(&root.path().join("new"), 0o755).unwrap();
    }
}
