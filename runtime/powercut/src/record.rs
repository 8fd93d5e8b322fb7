//! What is recorded: the files as they were, and everything that happened to them, in its order.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A file or folder, as long as it lives: whatever is made later under its name, or in its place on the
/// device, has another number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Inode(pub(crate) usize);

impl Inode {
    /// The folder that is recorded.
    pub(crate) const ROOT: Self = Self(0);
}

/// What a file or folder was when it was first seen.
#[derive(Debug)]
pub(crate) enum Origin {
    File(Arc<Vec<u8>>),
    Folder(BTreeMap<OsString, Inode>),
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    pub(crate) folder: Inode,
    pub(crate) name: OsString,
}

/// Something that happened to the names of files.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Add(Name, Inode),
    Remove(Name),
    Move(Name, Name),
    Exchange(Name, Name),
}

impl Entry {
    pub(crate) fn names(&self) -> impl Iterator<Item = &Name> {
        let (one, other) = match self {
            Self::Add(name, _) | Self::Remove(name) => (name, None),
            Self::Move(from, to) | Self::Exchange(from, to) => (from, Some(to)),
        };
        std::iter::once(one).chain(other)
    }

    pub(crate) fn is_move(&self) -> bool {
        matches!(self, Self::Move(..) | Self::Exchange(..))
    }
}

/// What becomes of a file's size.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resize {
    To(u64),
    AtLeast(u64),
}

impl Resize {
    pub(crate) fn of(self, size: u64) -> u64 {
        match self {
            Self::To(to) => to,
            Self::AtLeast(least) => size.max(least),
        }
    }
}

impl fmt::Display for Resize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::To(size) => write!(f, "setting to {size} bytes the size of"),
            Self::AtLeast(size) => write!(f, "giving room for {size} bytes to"),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Data {
    Bytes(Box<[u8]>),
    /// A hole was made.
    Zeros(u64),
}

impl Data {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Zeros(length) => *length,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) inode: Inode,
    pub(crate) offset: u64,
    pub(crate) data: Data,
    /// How many of its bytes were written; 0: it failed.
    pub(crate) written: u64,
    /// It is on the device when it has returned.
    pub(crate) durable: bool,
    /// The file became longer by it.
    pub(crate) grows: bool,
}

impl Write {
    /// The range of the file that was written.
    pub(crate) fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.written
    }
}

#[derive(Debug)]
pub(crate) struct Sync {
    pub(crate) inode: Inode,
    /// The position of its beginning.
    pub(crate) begun: usize,
    pub(crate) succeeded: bool,
}

#[derive(Debug)]
pub(crate) enum Event {
    WriteBegins(usize),
    WriteEnds(usize),
    Resize {
        inode: Inode,
        resize: Resize,
        /// It was on the device when it was done.
        durable: bool,
    },
    Entry {
        entry: Entry,
        /// As above.
        durable: bool,
    },
    SyncBegins(usize),
    SyncEnds(usize),
    /// `sync_file_range`: makes nothing durable, but somebody may think so.
    RangeSync(Inode),
}

#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) inodes: Vec<Origin>,
    pub(crate) events: Vec<Event>,
    pub(crate) writes: Vec<Write>,
    pub(crate) syncs: Vec<Sync>,
}
