//! Copying the files of the source.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

use super::disk::{
    digest_of, look, open_file, part_of, read_pieces, remove_left_over, sync_folders,
};
use super::manifest::{Record, put_records};
use super::progress::Flow;
use super::{File, HashedFile, Modified, Pace, Plan, Problem, Progress, Reason, Skipped, Tally};

/// What became of the files of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    /// Files that were copied.
    pub copied: Tally,
    /// Files that were in the target already, with the same content.
    pub in_place: Tally,
    /// Files that are not any more what was hashed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<File>,
    /// Files that cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// Copies the files of a batch, and notes them for the manifest.
///
/// `idempotent`: each file is written to a part next to its place, whose name comes from the idempotency
/// key; it is made durable, read back and compared with the digest, and only then renamed into place. An
/// attempt that was killed leaves at most such a part, which the next one replaces; what it had put in place
/// the next one finds there. The folders are made durable before the batch is reported as done.
#[activity(idempotent, blocking)]
pub fn copy_files(acx: &ActivityCx, plan: Plan, files: Vec<HashedFile>) -> Result<Copied, Problem> {
    let progress = acx.state::<Arc<Progress>>();
    let turn = acx.state::<Pace>().turn();
    let mut batch = Batch {
        source: plan.source.to_path(),
        target: plan.target.to_path(),
        key: acx.idempotency_key(),
        flow: progress.flow(acx),
        folders: BTreeSet::new(),
    };
    let mut done = Copied::default();
    let mut records = Vec::new();
    for hashed in files {
        progress.step(acx, "copying", &hashed.file.path);
        let tally = match batch.copy(&hashed) {
            Ok(Done::Copied) => {
                progress.copied(acx, &hashed.file.path);
                turn.rest(acx);
                &mut done.copied
            }
            Ok(Done::InPlace) => {
                progress.step(acx, "in place", &hashed.file.path);
                &mut done.in_place
            }
            Err(Undone::Changed) => {
                progress.step(acx, "changed while it was copied:", &hashed.file.path);
                done.changed.push(hashed.file);
                continue;
            }
            Err(Undone::Skipped(reason)) => {
                progress.step(acx, "skipped", &hashed.file.path);
                done.skipped.push(Skipped {
                    path: hashed.file.path,
                    reason,
                });
                continue;
            }
            Err(Undone::Problem(problem)) => return Err(problem),
        };
        tally.add(hashed.file.size);
        records.push(Record::file(hashed));
    }
    sync_folders(&batch.folders)?;
    put_records(acx, &plan, &records)?;
    batch.flow.settle(done.copied, done.in_place);
    Ok(done)
}

struct Batch<'a> {
    source: PathBuf,
    target: PathBuf,
    key: String,
    flow: Flow<'a>,
    /// Folders of the target with new entries.
    folders: BTreeSet<PathBuf>,
}

/// How a file came to be in the target.
enum Done {
    Copied,
    InPlace,
}

/// Why a file is not in the target.
#[derive(Debug)]
enum Undone {
    /// It is not what was hashed.
    Changed,
    /// It cannot be read.
    Skipped(Reason),
    /// The target cannot take it, nor what comes after it.
    Problem(Problem),
}

impl From<Problem> for Undone {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl Batch<'_> {
    fn copy(&mut self, hashed: &HashedFile) -> Result<Done, Undone> {
        let HashedFile { file, sha256 } = hashed;
        let to = file.path.under(&self.target);
        let part = part_of(&to, &self.key);
        let problem = |doing| {
            let to = &to;
            move |error: std::io::Error| {
                Undone::Problem(Problem::writing(doing, to, Some(file.size), &error))
            }
        };
        remove_left_over(&part).map_err(problem("removing what was left of"))?;
        match look(&to).map_err(problem("looking at"))? {
            Some(there) if there.is_dir() => {
                let (found, wanted) = ("folder".into(), "file".into());
                return Err(Problem::InTheWay {
                    path: super::StoredPath::of(&to),
                    found,
                    wanted,
                }
                .into());
            }
            Some(there)
                if there.is_file()
                    && there.len() == file.size
                    && digest_of(&to).is_ok_and(|(_, found)| found == *sha256) =>
            {
                settle(&to, file).map_err(problem("setting mode and time of"))?;
                // It may be there since a moment ago, by an attempt that was killed before the sync.
                self.folders.extend(to.parent().map(Path::to_owned));
                self.flow.add(file.size);
                return Ok(Done::InPlace);
            }
            // A file with other content, a link or something special: the rename takes its place.
            _ => {}
        }
        let written = self.write_part(hashed, &to, &part);
        if written.is_err() {
            // What could not be finished must not take the room that is missing.
            let _ = remove_left_over(&part);
        }
        written?;
        fs::rename(&part, &to).map_err(problem("putting in place"))?;
        self.folders.extend(to.parent().map(Path::to_owned));
        Ok(Done::Copied)
    }

    fn write_part(&mut self, hashed: &HashedFile, to: &Path, part: &Path) -> Result<(), Undone> {
        let HashedFile { file, sha256 } = hashed;
        let unreadable = |error| Undone::Skipped(Reason::of(&error));
        let problem =
            |error| Undone::Problem(Problem::writing("writing", to, Some(file.size), &error));
        let (mut from, metadata) = open_file(&file.path.under(&self.source)).map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(Undone::Skipped(Reason::Replaced));
        }
        if File::new(file.path.clone(), &metadata) != *file {
            return Err(Undone::Changed);
        }
        let mut out = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(part)
            .map_err(problem)?;
        let (size, digest) = read_pieces(&mut from, file.size, unreadable, |bytes| {
            self.flow.add(bytes.len() as u64);
            out.write_all(bytes).map_err(problem)
        })?;
        if size != file.size || digest != *sha256 {
            return Err(Undone::Changed);
        }
        out.set_permissions(Permissions::from_mode(file.mode))
            .map_err(problem)?;
        out.set_times(file.modified.times()).map_err(problem)?;
        out.sync_all().map_err(problem)?;
        drop(out);
        if digest_of_part(part).map_err(problem)? != (file.size, sha256.clone()) {
            return Err(Problem::NotAsWritten {
                path: super::StoredPath::of(to),
            }
            .into());
        }
        Ok(())
    }
}

/// The part has the mode of the file, which may forbid to read it.
fn digest_of_part(part: &Path) -> std::io::Result<(u64, String)> {
    digest_of(part).or_else(|error| {
        if error.kind() != std::io::ErrorKind::PermissionDenied {
            return Err(error);
        }
        let mode = fs::metadata(part)?.permissions();
        fs::set_permissions(part, Permissions::from_mode(0o600))?;
        let digest = digest_of(part);
        fs::set_permissions(part, mode)?;
        digest
    })
}

/// Gives a file that has the right content the right mode and time too.
fn settle(path: &Path, file: &File) -> std::io::Result<()> {
    let (there, metadata) = open_file(path)?;
    if metadata.mode() & 0o7777 == file.mode && Modified::of(&metadata) == file.modified {
        return Ok(());
    }
    there.set_permissions(Permissions::from_mode(file.mode))?;
    there.set_times(file.modified.times())?;
    there.sync_all()
}
