//! The store's folder: what is in it, its synchronous attribute, and the copy that is made of a store that
//! was not closed.
//!
//! | path | what |
//! |---|---|
//! | `perennial.lock` | held while the store is open |
//! | `perennial.state` | what we know of the store without asking sled |
//! | `control.socket` | where a program is asked, if it lets itself be asked; made in `control.new/` |
//! | `journal/` | what was acknowledged and sled may not have yet |
//! | `sled/` | sled's files, each with the synchronous attribute where the file system has it |
//! | `db.under-recovery` | copy of `sled/db`, made by an opening that has not succeeded yet |
//! | `db.before-recovery` | the copy made by the last opening after a stop without closing |

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{journal, state};

/// A copy is made of a `db` of at most so many bytes.
pub(super) const MAX_COPY: u64 = 1 << 30;
/// And only if so many bytes stay free.
pub(super) const SPARE: u64 = 64 << 20;

pub(super) fn sled(store: &Path) -> PathBuf {
    store.join("sled")
}

pub(super) fn db(store: &Path) -> PathBuf {
    store.join("sled").join("db")
}

pub(super) fn under_recovery(store: &Path) -> PathBuf {
    store.join("db.under-recovery")
}

pub(super) fn before_recovery(store: &Path) -> PathBuf {
    store.join("db.before-recovery")
}

/// Whether there is a store in a folder, or what is left of one.
pub(crate) fn is_store(store: &Path) -> bool {
    let parts = [
        state::path(store),
        db(store),
        journal::folder(store),
        under_recovery(store),
        before_recovery(store),
    ];
    parts.iter().any(|part| part.exists())
}

/// Whether all that is in a folder is of the names that a store has there.
pub(super) fn holds_nothing_else(folder: &Path) -> bool {
    const NAMES: &[&str] = &[
        "control.new",
        "control.socket",
        "perennial.lock",
        "perennial.state",
        "perennial.state.new",
        "journal",
        "sled",
    ];
    let ours = |name: &str| NAMES.contains(&name) || name.starts_with("db.");
    fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(ours)))
    })
}

/// Makes the entries of a folder durable.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}

/// Makes a folder and those above it, durably. Says whether it was not there.
pub(super) fn create(folder: &Path) -> io::Result<bool> {
    if folder.is_dir() {
        return Ok(false);
    }
    if let Some(above) = folder
        .parent()
        .filter(|above| !above.as_os_str().is_empty())
    {
        create(above)?;
    }
    match fs::create_dir(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {
            return Ok(false);
        }
        Err(error) => return Err(error),
    }
    match folder
        .parent()
        .filter(|above| !above.as_os_str().is_empty())
    {
        Some(above) => sync(above)?,
        None => sync(Path::new("."))?,
    }
    Ok(true)
}

/// A folder and everything in it.
fn everything(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(everything(&entry.path())?);
        } else {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Makes a folder and everything in it durable.
pub(super) fn sync_all(folder: &Path) -> io::Result<()> {
    for path in everything(folder)? {
        if path.is_dir() {
            sync(&path)?
        } else {
            File::open(&path)?.sync_all()?
        }
    }
    Ok(())
}

/// Deletes what a crash while sled wrote a snapshot leaves behind, and what later openings would refuse.
pub(super) fn remove_half_snapshots(sled: &Path) -> io::Result<()> {
    for entry in fs::read_dir(sled)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Deletes the settings that sled has written for a database that it did not come to make: half of them is
/// what it would refuse.
pub(super) fn remove_half_made(store: &Path) -> io::Result<()> {
    if db(store).exists() {
        return Ok(());
    }
    match fs::remove_file(sled(store).join("conf")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies `db` before sled changes it, if its size and the space allow. One from an opening that did not
/// succeed is kept: it is the better one. `Ok(false)`: no copy was made.
pub(super) fn copy_aside(store: &Path, max: u64) -> io::Result<bool> {
    let (from, to) = (db(store), under_recovery(store));
    if to.exists() {
        return Ok(true);
    }
    let size = fs::metadata(&from)?.len();
    if size > max || !has_room(store, size.saturating_add(SPARE)) {
        return Ok(false);
    }
    let new = store.join("db.under-recovery.new");
    fs::copy(&from, &new)?;
    File::open(&new)?.sync_all()?;
    fs::rename(&new, &to)?;
    sync(store)?;
    Ok(true)
}

/// Sees to it that what is read of a file from now on is what the device has: a write that failed may look
/// well in the memory of the system.
pub(super) fn forget(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}

/// The opening succeeded: its copy takes the place of that of the recovery before.
pub(super) fn keep_copy(store: &Path) -> io::Result<()> {
    match fs::rename(under_recovery(store), before_recovery(store)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn has_room(folder: &Path, bytes: u64) -> bool {
    // Where systems do not tell, it is tried.
    room(folder).is_none_or(|room| room >= bytes)
}

/// How many bytes are free where a folder is; `None` where the system does not tell.
#[cfg(unix)]
pub(super) fn room(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
pub(super) fn room(_folder: &Path) -> Option<u64> {
    None
}

/// How many bytes a file, or a folder with everything in it, takes on the disk.
pub(super) fn on_disk(path: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    let paths = match fs::metadata(path) {
        Ok(found) if found.is_dir() => everything(path)?,
        Ok(_) => vec![path.to_owned()],
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    for path in paths {
        match fs::metadata(&path) {
            Ok(found) => bytes += taken(&found),
            // sled deletes old snapshots while it runs.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

#[cfg(unix)]
fn taken(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(found).saturating_mul(512)
}

#[cfg(not(unix))]
fn taken(found: &fs::Metadata) -> u64 {
    found.len()
}

/// Why the synchronous attribute cannot be had.
#[derive(Debug)]
pub(super) struct NoSync {
    pub(super) path: PathBuf,
    pub(super) reason: String,
}

/// Sees to it that the folder and everything in it has the synchronous attribute: each write is then on the
/// device when it returns. What is new in the folder inherits it. What did not have it is synced once.
#[cfg(target_os = "linux")]
pub(super) fn make_synchronous(folder: &Path) -> Result<(), NoSync> {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

    let list = everything(folder).map_err(|error| NoSync {
        path: folder.into(),
        reason: error.to_string(),
    })?;
    for path in list {
        let refused = |error: io::Error| NoSync {
            path: path.clone(),
            reason: error.to_string(),
        };
        let file = match File::open(&path) {
            Ok(file) => file,
            // sled deletes old snapshots while it runs.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(refused(error)),
        };
        let flags = ioctl_getflags(&file).map_err(|error| refused(error.into()))?;
        if flags.contains(IFlags::SYNC) {
            continue;
        }
        ioctl_setflags(&file, flags | IFlags::SYNC).map_err(|error| refused(error.into()))?;
        let now = ioctl_getflags(&file).map_err(|error| refused(error.into()))?;
        if !now.contains(IFlags::SYNC) {
            return Err(NoSync {
                path,
                reason: "it was set, and is not there".into(),
            });
        }
        file.sync_all().map_err(refused)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn make_synchronous(folder: &Path) -> Result<(), NoSync> {
    Err(NoSync {
        path: folder.into(),
        reason: "this system has none; Linux does".into(),
    })
}
