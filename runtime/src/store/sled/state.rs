//! `perennial.state`: what we know of the store without asking sled. When sled has lost something it opens
//! without a word; this file is how it is found out.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use perennial::wire::{RecordError, RecordWriter, open};

use super::folder;
use super::tally::Tallies;

/// The layout of stores that this program writes, and the highest that it understands.
pub(super) const FORMAT: u64 = 3;
const STATE_VERSION: u8 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The layout of the store.
    pub(super) format: u64,
    /// A commit that has been acknowledged. There may be later ones: this is written now and then.
    pub(super) commit: u64,
    /// Whether the store was closed, and everything reached the disk.
    pub(super) clean: bool,
    /// Whether acknowledged writes need not be on the device ([`Durability::Os`](super::Durability::Os)).
    pub(super) os: bool,
    /// Names the start of the system that wrote this; empty where systems do not tell. What was only in a
    /// system's memory is gone with it.
    pub(super) boot: String,
    /// The last commit that sled may have anything of.
    pub(super) taken: u64,
    /// What sled must hold when it has that commit.
    pub(super) tallies: Tallies,
    /// A commit up to which the journal was on the device, also with `os`.
    pub(super) synced: u64,
}

/// The name of this start of the system. Where it cannot be read (no `/proc`), what a power cut took with
/// [`Durability::Os`](super::Durability::Os) counts as damage: it cannot be told from one.
pub(super) fn boot() -> String {
    let read = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.map(|text| text.trim().to_owned()).unwrap_or_default()
}

#[derive(Debug)]
pub(super) enum Unreadable {
    Record(RecordError),
    Io(io::Error),
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Record(problem) => problem.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

pub(super) fn path(store: &Path) -> PathBuf {
    store.join("perennial.state")
}

impl State {
    /// `None` when there is no such file.
    pub(super) fn read(store: &Path) -> Result<Option<Self>, Unreadable> {
        match fs::read(path(store)) {
            Ok(bytes) => Self::decode(&bytes).map(Some).map_err(Unreadable::Record),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Unreadable::Io(error)),
        }
    }

    fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let (_, mut fields) = open(bytes, STATE_VERSION)?;
        let (mut format, mut commit, mut clean) = (None, None, None);
        let (mut os, mut boot) = (false, String::new());
        let (mut taken, mut tallies, mut synced) = (None, Tallies::default(), 0);
        while let Some((field, content)) = fields.next_field()? {
            match field {
                1 => format = Some(content.number("format")?),
                2 => commit = Some(content.number("commit")?),
                3 => clean = Some(content.number("clean")? != 0),
                4 => os = content.number("os")? != 0,
                5 => content.text("boot")?.clone_into(&mut boot),
                6 => taken = Some(content.number("taken")?),
                7 => tallies.read(content.fields("tallies")?)?,
                8 => synced = content.number("synced")?,
                _ => {}
            }
        }
        Ok(Self {
            format: format.ok_or(RecordError::Malformed { field: "format" })?,
            commit: commit.ok_or(RecordError::Malformed { field: "commit" })?,
            clean: clean.ok_or(RecordError::Malformed { field: "clean" })?,
            os,
            boot,
            // Not in layouts that are refused.
            taken: taken.unwrap_or_default(),
            tallies,
            synced,
        })
    }

    /// Takes the place of the state before, or leaves it; it is on the device afterwards.
    pub(super) fn write(&self, store: &Path) -> io::Result<()> {
        let mut record = RecordWriter::new(STATE_VERSION);
        let mut fields = record.fields();
        fields.number(1, self.format);
        fields.number(2, self.commit);
        fields.number(3, self.clean.into());
        fields.number(4, self.os.into());
        fields.text(5, &self.boot);
        fields.number(6, self.taken);
        self.tallies.write(7, &mut fields);
        fields.number(8, self.synced);
        let new = store.join("perennial.state.new");
        let mut file = File::create(&new)?;
        file.write_all(&record.finish())?;
        file.sync_all()?;
        drop(file);
        fs::rename(&new, path(store))?;
        folder::sync(store)
    }
}
