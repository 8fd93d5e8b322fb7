//! Calls that make, rename and remove files and folders. The record stands still while one of them is in the
//! system: what is seen of the names before and after it belongs to it.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use crate::raw::{self, Key, Kind, Stat};
use crate::record::{Entry, Name, Origin, Resize};
use crate::tape::{self, OnTape, State};

/// A path as it is given to a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'a> {
    /// The folder from which it is seen.
    pub(crate) at: RawFd,
    pub(crate) path: &'a CStr,
}

impl Path<'_> {
    fn stat(self) -> Option<Stat> {
        Stat::at(self.at, self.path, false)
    }

    /// The folder that the path's last name is in.
    fn place(self) -> Option<Place> {
        let bytes = self.path.to_bytes();
        let end = bytes.iter().rposition(|byte| *byte != b'/')? + 1;
        let path = bytes.get(..end)?;
        let (folder, name) = match path.iter().rposition(|byte| *byte == b'/') {
            None => (&b"."[..], path),
            Some(0) => (&b"/"[..], path.get(1..)?),
            Some(slash) => (path.get(..slash)?, path.get(slash + 1..)?),
        };
        if name == b"." || name == b".." {
            return None;
        }
        let folder = CString::new(folder).ok()?;
        let stat = Stat::at(self.at, &folder, true)?;
        Some(Place {
            at: self.at,
            key: stat.key,
            folder,
            name: OsStr::from_bytes(name).to_owned(),
        })
    }
}

struct Place {
    at: RawFd,
    folder: CString,
    key: Key,
    name: OsString,
}

impl Place {
    fn name(&self, state: &State) -> Option<Name> {
        Some(Name {
            folder: state.inode(self.key)?,
            name: self.name.clone(),
        })
    }

    fn is_durable(&self) -> bool {
        raw::has_synchronous_entries(self.at, &self.folder)
    }
}

/// Makes a call on a name. When the name is in a folder on a tape, and the call succeeded, `record` gets
/// the tape, the name, what had that name before, and whether the change is durable already.
fn call(
    path: Path<'_>,
    real: impl FnOnce() -> libc::c_int,
    record: impl FnOnce(&mut State, Name, Option<Stat>, bool, libc::c_int),
) -> libc::c_int {
    let Some(place) = path.place() else {
        return real();
    };
    let Some(OnTape { tape, .. }) = tape::find(place.key) else {
        return real();
    };
    let mut state = tape.lock();
    let before = path.stat();
    let result = real();
    if result >= 0
        && let Some(name) = place.name(&state)
    {
        let errno = raw::errno();
        record(&mut state, name, before, place.is_durable(), result);
        raw::set_errno(errno);
    }
    result
}

fn new_file() -> Origin {
    Origin::File(Arc::default())
}

/// `open` that may make a file or make it empty.
pub(crate) fn open(
    path: Path<'_>,
    truncates: bool,
    real: impl FnOnce() -> libc::c_int,
) -> libc::c_int {
    call(path, real, |state, name, before, durable, fd| {
        let Some(stat) = Stat::of(fd).filter(|stat| stat.kind == Kind::File) else {
            return;
        };
        if before.is_none() {
            let inode = state.add(&stat, new_file());
            state.entry(Entry::Add(name, inode), durable);
        } else if truncates && let Some(inode) = state.inode(stat.key) {
            state.resize(inode, Resize::To(0), raw::is_synchronous(fd));
        }
    })
}

/// `open` that makes a file without a name in a folder.
pub(crate) fn open_unnamed(path: Path<'_>, real: impl FnOnce() -> libc::c_int) -> libc::c_int {
    let found = Stat::at(path.at, path.path, true).and_then(|stat| tape::find(stat.key));
    let Some(OnTape { tape, .. }) = found else {
        return real();
    };
    let mut state = tape.lock();
    let fd = real();
    let errno = raw::errno();
    if !state.over
        && let Some(stat) = Stat::of(fd)
    {
        state.add(&stat, new_file());
    }
    raw::set_errno(errno);
    fd
}

pub(crate) fn make_folder(path: Path<'_>, real: impl FnOnce() -> libc::c_int) -> libc::c_int {
    call(path, real, |state, name, _, durable, _| {
        if let Some(stat) = path.stat() {
            let inode = state.add(&stat, Origin::Folder(BTreeMap::new()));
            state.entry(Entry::Add(name, inode), durable);
        }
    })
}

/// Removes a file or a folder.
pub(crate) fn remove(path: Path<'_>, real: impl FnOnce() -> libc::c_int) -> libc::c_int {
    call(path, real, |state, name, before, durable, _| {
        state.entry(Entry::Remove(name), durable);
        if let Some(stat) = before {
            state.forget(&stat);
        }
    })
}

/// Gives a file another name. `path` is the new one.
pub(crate) fn link(path: Path<'_>, real: impl FnOnce() -> libc::c_int) -> libc::c_int {
    call(path, real, |state, name, _, durable, _| {
        let inode = path.stat().and_then(|stat| state.inode(stat.key));
        if let Some(inode) = inode {
            state.entry(Entry::Add(name, inode), durable);
        }
    })
}

/// Renames within what one tape records. What comes from outside or goes there is not followed; the
/// recorder says in the end that it has missed something.
pub(crate) fn rename(
    from: Path<'_>,
    to: Path<'_>,
    exchange: bool,
    real: impl FnOnce() -> libc::c_int,
) -> libc::c_int {
    let Some(place) = from.place() else {
        return real();
    };
    let moved = from.stat();
    call(to, real, |state, name, replaced, durable, _| {
        let Some(old) = place.name(state) else { return };
        let durable = durable || place.is_durable();
        if exchange {
            state.entry(Entry::Exchange(old, name), durable);
            return;
        }
        if let (Some(moved), Some(replaced)) = (moved, replaced)
            && moved.key == replaced.key
        {
            // Two names of one file: the call did nothing.
            return;
        }
        state.entry(Entry::Move(old, name), durable);
        if let Some(replaced) = replaced {
            state.forget(&replaced);
        }
    })
}
