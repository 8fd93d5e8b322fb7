//! How large a store is, and what it is made of.

use std::ops::Bound;
use std::path::Path;

use super::overlay::View;
use super::{SledStore, check, folder, journal, keys};
use crate::store::{Census, StoreError};

/// How large a store is, and what it is made of. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stat {
    /// How its runs stand.
    pub census: Census,
    /// The last commit that was acknowledged.
    pub commit: u64,
    /// The last commit that sled has taken over from the journal.
    pub applied: u64,
    /// What its records are, those of the same kind together.
    pub kinds: Vec<KindSize>,
    /// What its files take on the disk.
    pub disk: Disk,
}

/// The records of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KindSize {
    /// What they are, in the plural.
    pub kind: &'static str,
    /// How many there are.
    pub records: u64,
    /// How large they are together, with their keys.
    pub bytes: u64,
}

/// What the files of a store take on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disk {
    /// The journal, which has its size before anything is written into it.
    pub journal: u64,
    /// sled's files, which do not get smaller.
    pub sled: u64,
    /// Copies of sled's file, made at openings after a stop without closing.
    pub copies: u64,
    /// Everything.
    pub total: u64,
}

impl Stat {
    /// What is alive: all records with their keys.
    #[must_use]
    pub fn live(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.bytes).sum()
    }
}

impl Disk {
    pub(super) fn of(store: &Path) -> std::io::Result<Self> {
        Ok(Self {
            journal: folder::on_disk(&journal::folder(store))?,
            sled: folder::on_disk(&folder::sled(store))?,
            copies: folder::on_disk(&folder::under_recovery(store))?
                + folder::on_disk(&folder::before_recovery(store))?,
            total: folder::on_disk(store)?,
        })
    }
}

/// All kinds of records, by the first byte of their keys.
const KINDS: &[u8] = &[
    keys::RUN,
    keys::UNIT,
    keys::END,
    keys::ATTEMPT,
    keys::TASK,
    keys::ROW,
    keys::TIMER,
    keys::BLOCKED,
    keys::WORK,
    keys::DUE,
    keys::FINISHED,
    keys::SEND,
    keys::SEND_ORDER,
    keys::ITEM,
    keys::VIEW,
    keys::OFFER,
    keys::OPEN_OFFER,
    keys::RESTORING,
    keys::PROGRAM,
    keys::CHUNK,
    keys::OWN,
];

impl SledStore {
    /// Counts what is in the store, record by record. Writes go on meanwhile.
    ///
    /// # Errors
    ///
    /// When the store is closed, something that is stored cannot be read, or the system does not tell the
    /// sizes of the files.
    pub fn stat(&self) -> Result<Stat, StoreError> {
        let mut kinds = Vec::new();
        for &first in KINDS {
            let mut size = KindSize {
                kind: check::kind_name(first),
                records: 0,
                bytes: 0,
            };
            let mut from = Some(vec![first]);
            while let Some(start) = from.take() {
                from = self
                    .shared
                    .overlay
                    .read(|view| measure(view, start, first, &mut size))?;
            }
            if size.records > 0 {
                kinds.push(size);
            }
        }
        let disk = Disk::of(&self.folder).map_err(|error| StoreError::Io {
            what: format!("looking at the files in {}", self.folder.display()),
            error: error.to_string(),
        })?;
        let (commit, applied) = self.shared.progress.commits();
        Ok(Stat {
            census: Census::of(self)?,
            commit,
            applied,
            kinds,
            disk,
        })
    }
}

/// Measures some records of a kind, and says where to go on.
fn measure(
    view: &View<'_>,
    from: keys::Key,
    first: u8,
    size: &mut KindSize,
) -> Result<Option<keys::Key>, StoreError> {
    const SLICE: usize = 1_000;
    let end = Bound::Excluded(vec![first + 1]);
    for (seen, entry) in view.range(Bound::Included(from), end).enumerate() {
        let (key, value) = entry?;
        if seen == SLICE {
            return Ok(Some(key.to_vec()));
        }
        size.records += 1;
        size.bytes += (key.len() + value.len()) as u64;
    }
    Ok(None)
}
