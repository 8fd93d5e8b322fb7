//! Reading and writing so that nothing half-done is ever seen under its final name.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use super::Problem;

/// The folder in the target that a mirror keeps for itself.
pub(super) const OWN: &str = ".mirror";
/// How the names of files begin and end that are not whole yet.
const PART: (&str, &str) = (".mirror-", ".part");
/// How much is read at once.
const CHUNK: usize = 256 << 10;

/// Whether this is a name that mirrors use for themselves. [`OWN`] is one at the root only.
pub(super) fn is_reserved(name: &[u8], at_root: bool) -> bool {
    (at_root && name == OWN.as_bytes())
        || (name.starts_with(PART.0.as_bytes()) && name.ends_with(PART.1.as_bytes()))
}

/// Where something is written until it is whole: next to where it goes, so that a rename puts it there. The
/// name comes from the operation's idempotency key, so whoever does the work again finds what was left
/// behind, and no other operation has it.
pub(super) fn part_of(path: &Path, key: &str) -> PathBuf {
    let mut digest = Sha256::new();
    digest.update(key);
    digest.update([0]);
    digest.update(path.as_os_str().as_encoded_bytes());
    let name = hex(&digest.finalize()[..8]);
    path.with_file_name(format!("{}{name}{}", PART.0, PART.1))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Opens a file for reading, and nothing else: no link is followed, and a pipe does not hold the thread.
pub(super) fn open_file(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// Reads `file` in pieces until its end, or until more than `most` bytes have come: a file that grows as
/// fast as it is read has no end.
pub(super) fn read_pieces<E>(
    file: &mut File,
    most: u64,
    broken: impl Fn(io::Error) -> E,
    mut piece: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(u64, String), E> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    let mut size = 0;
    while size <= most {
        let count = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(broken(error)),
        };
        let bytes = &buffer[..count];
        digest.update(bytes);
        size += bytes.len() as u64;
        piece(bytes)?;
    }
    Ok((size, hex(&digest.finalize())))
}

/// The size and SHA-256 of a file of the target.
pub(super) fn digest_of(path: &Path) -> io::Result<(u64, String)> {
    let (mut file, metadata) = open_file(path)?;
    read_pieces(&mut file, metadata.len(), |error| error, |_| Ok(()))
}

/// What is at `path`, without following a link.
pub(super) fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes what is left of an attempt that did not end.
pub(super) fn remove_left_over(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the entries of these folders durable.
pub(super) fn sync_folders(folders: &BTreeSet<PathBuf>) -> Result<(), Problem> {
    for folder in folders {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| Problem::writing("syncing", folder, None, &error))?;
    }
    Ok(())
}

/// Puts a file of the mirror's own in place, whole and durable, instead of an earlier one.
pub(super) fn replace_file(
    path: &Path,
    key: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Problem> {
    let part = part_of(path, key);
    let put = || {
        remove_left_over(&part)?;
        let mut writer = BufWriter::new(
            OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&part)?,
        );
        write(&mut writer)?;
        writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        fs::rename(&part, path)
    };
    put().map_err(|error| {
        // What could not be finished must not take the room that is missing.
        let problem = Problem::writing("writing", path, None, &error);
        let _ = remove_left_over(&part);
        problem
    })?;
    sync_folders(&path.parent().map(Path::to_owned).into_iter().collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_part_has_its_own_name_for_each_operation_and_path() {
        let a = part_of(Path::new("/t/a"), "default/run~1");
        assert_eq!(a, part_of(Path::new("/t/a"), "default/run~1"));
        assert_ne!(a, part_of(Path::new("/t/a"), "default/run~2"));
        assert_ne!(a, part_of(Path::new("/t/b"), "default/run~1"));
        assert_eq!(a.parent(), Some(Path::new("/t")));
        assert!(is_reserved(
            a.file_name().unwrap().as_encoded_bytes(),
            false
        ));
    }

    #[test]
    fn reserved_names_are_few() {
        assert!(is_reserved(b".mirror", true));
        assert!(!is_reserved(b".mirror", false));
        assert!(!is_reserved(b".mirror-notes", true));
    }

    #[test]
    fn a_pipe_does_not_hold_the_reader() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        let (_, metadata) = open_file(&pipe).unwrap();
        assert!(!metadata.is_file());
    }

    #[test]
    fn reading_ends_also_where_the_file_does_not() {
        let (mut zeros, _) = open_file(Path::new("/dev/zero")).unwrap();
        let (size, _) = read_pieces(&mut zeros, 1_000, |error| error, |_| Ok(())).unwrap();
        assert!(size > 1_000);
    }
}
