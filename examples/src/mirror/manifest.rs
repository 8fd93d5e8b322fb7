//! The manifest: what is in the target.
//!
//! It may be far larger than a value of a history. So each activity that puts something in place notes it in
//! a file of its own, `.mirror/<run>/<operation>.json`, and the last but one makes the manifest of them.

use std::fs;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

use super::disk::{OWN, digest_of, replace_file};
use super::{HashedFile, Link, Plan, Problem, Skipped, StoredPath, Tally};

/// The manifest's name in the target's folder `.mirror`.
const NAME: &str = "manifest.json";

/// A line of the manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Record {
    File {
        path: StoredPath,
        size: u64,
        sha256: String,
    },
    Link(Link),
    Skipped(Skipped),
}

impl Record {
    pub(super) fn file(HashedFile { file, sha256 }: HashedFile) -> Self {
        Self::File {
            path: file.path,
            size: file.size,
            sha256,
        }
    }

    fn path(&self) -> &StoredPath {
        match self {
            Self::File { path, .. }
            | Self::Link(Link { path, .. })
            | Self::Skipped(Skipped { path, .. }) => path,
        }
    }
}

/// What the manifest must say in all, and what it said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The files in it.
    pub files: Tally,
    /// The symbolic links in it.
    pub links: u64,
    /// What is in it as skipped.
    pub skipped: u64,
}

pub(super) fn manifest_path(plan: &Plan) -> PathBuf {
    plan.target.to_path().join(OWN).join(NAME)
}

/// Where a run keeps its notes. A run's id is safe as a file name.
pub(super) fn records_folder(acx: &ActivityCx, plan: &Plan) -> PathBuf {
    plan.target.to_path().join(OWN).join(acx.run().id.as_str())
}

/// Notes what an operation has put in place. The second attempt replaces the note of the first.
pub(super) fn put_records(
    acx: &ActivityCx,
    plan: &Plan,
    records: &[Record],
) -> Result<(), Problem> {
    if records.is_empty() {
        return Ok(());
    }
    let path = records_folder(acx, plan).join(format!("{}.json", acx.operation().number));
    replace_file(&path, &acx.idempotency_key(), |out| {
        Ok(serde_json::to_writer(out, records)?)
    })
}

/// Notes what was skipped.
///
/// `idempotent`: the second time replaces the note.
#[activity(idempotent, blocking)]
pub fn note_skipped(acx: &ActivityCx, plan: Plan, skipped: Vec<Skipped>) -> Result<(), Problem> {
    let records: Vec<_> = skipped.into_iter().map(Record::Skipped).collect();
    put_records(acx, &plan, &records)
}

/// Makes the manifest of all notes, checks that it says what it must, and gives its SHA-256.
///
/// `idempotent`: it replaces the manifest whole, and leaves the notes for a second time.
#[activity(idempotent, blocking)]
pub fn write_manifest(acx: &ActivityCx, plan: Plan, expected: Manifest) -> Result<String, Problem> {
    let mut records = read_records(&records_folder(acx, &plan))?;
    records.sort_unstable_by(|a, b| a.path().cmp(b.path()).then_with(|| a.cmp(b)));
    let found = count(&records);
    if found != expected {
        let what = format!(
            "{} files, {} links and {} skipped entries were recorded, but there are notes of {}, {} and {}",
            expected.files.files,
            expected.links,
            expected.skipped,
            found.files.files,
            found.links,
            found.skipped
        );
        return Err(Problem::Altered { what });
    }
    let path = manifest_path(&plan);
    replace_file(&path, &acx.idempotency_key(), |out| {
        write(out, &plan, &found, &records)
    })?;
    let digest =
        digest_of(&path).map_err(|error| Problem::writing("reading", &path, None, &error))?;
    Ok(digest.1)
}

fn read_records(folder: &Path) -> Result<Vec<Record>, Problem> {
    let altered = |path: &Path, error: io::Error| Problem::Altered {
        what: format!("{} cannot be read: {error}", StoredPath::of(path)),
    };
    let mut records = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| altered(folder, error))? {
        let path = entry.map_err(|error| altered(folder, error))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let read = || -> io::Result<Vec<Record>> {
            Ok(serde_json::from_reader(BufReader::new(fs::File::open(
                &path,
            )?))?)
        };
        records.extend(read().map_err(|error| altered(&path, error))?);
    }
    Ok(records)
}

fn count(records: &[Record]) -> Manifest {
    let mut manifest = Manifest::default();
    for record in records {
        match record {
            Record::File { size, .. } => manifest.files.add(*size),
            Record::Link(_) => manifest.links += 1,
            Record::Skipped(_) => manifest.skipped += 1,
        }
    }
    manifest
}

/// A line for each entry, so that two manifests can be compared line by line.
fn write(out: &mut dyn Write, plan: &Plan, count: &Manifest, records: &[Record]) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let text = |path: &StoredPath| serde_json::to_string(path);
    writeln!(out, "{{")?;
    writeln!(
        out,
        "\"about\": \"paths have %XX for percent signs, control characters and bytes that are not UTF-8\","
    )?;
    writeln!(out, "\"source\": {},", text(&plan.source)?)?;
    writeln!(out, "\"target\": {},", text(&plan.target)?)?;
    writeln!(out, "\"count\": {},", serde_json::to_string(count)?)?;
    let mut lists = [
        ("files", Vec::new()),
        ("links", Vec::new()),
        ("skipped", Vec::new()),
    ];
    for record in records {
        let (list, line) = match record {
            Record::File { path, size, sha256 } => (
                0,
                format!(
                    "{{\"path\":{},\"size\":{size},\"sha256\":\"{sha256}\"}}",
                    text(path)?
                ),
            ),
            Record::Link(link) => (1, serde_json::to_string(link)?),
            Record::Skipped(skipped) => (2, serde_json::to_string(skipped)?),
        };
        lists[list].1.push(line);
    }
    for (at, (name, lines)) in lists.iter().enumerate() {
        let comma = if at == 2 { "" } else { "," };
        writeln!(out, "\"{name}\": [\n{}\n]{comma}", lines.join(",\n"))?;
    }
    writeln!(out, "}}")?;
    out.flush()
}

/// Removes the notes.
///
/// `idempotent`: what is gone is gone.
#[activity(idempotent, blocking)]
pub fn tidy(acx: &ActivityCx, plan: Plan) -> Result<(), Problem> {
    let folder = records_folder(acx, &plan);
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Problem::writing("removing", &folder, None, &error))
        }
        _ => Ok(()),
    }
}
