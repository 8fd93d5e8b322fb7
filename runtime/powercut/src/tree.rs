//! The names of the files at some moment: what is on the device, and what is not.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use crate::choice::Fate;
use crate::record::{Entry, Inode, Name};

/// What is in each folder.
pub(crate) type Folders = BTreeMap<Inode, BTreeMap<OsString, Inode>>;

#[derive(Clone, Debug)]
pub(crate) struct Tree {
    durable: Folders,
    /// In their order.
    pending: Vec<Pending>,
}

#[derive(Clone, Debug)]
struct Pending {
    at: usize,
    /// A sync of it failed.
    given_up: bool,
    entry: Entry,
}

fn apply(folders: &mut Folders, entry: &Entry) {
    let mut take = |name: &Name| folders.get_mut(&name.folder)?.remove(&name.name);
    let changed = match entry {
        Entry::Add(name, inode) => vec![(name, Some(*inode))],
        Entry::Remove(name) => {
            take(name);
            Vec::new()
        }
        Entry::Move(from, to) => vec![(to, take(from))],
        Entry::Exchange(one, other) => vec![(one, take(other)), (other, take(one))],
    };
    for (name, inode) in changed {
        if let (Some(inode), Some(folder)) = (inode, folders.get_mut(&name.folder)) {
            folder.insert(name.name.clone(), inode);
        }
    }
}

impl Tree {
    pub(crate) fn new(durable: Folders) -> Self {
        Self {
            durable,
            pending: Vec::new(),
        }
    }

    /// Positions at which that was done which is not on the device.
    pub(crate) fn pending(&self) -> impl Iterator<Item = usize> {
        self.pending.iter().map(|pending| pending.at)
    }

    pub(crate) fn change(&mut self, at: usize, entry: Entry, durable: bool) {
        self.pending.push(Pending {
            at,
            given_up: false,
            entry,
        });
        if durable {
            self.settle(|pending| pending.at == at);
        }
    }

    /// A sync of a folder that began at `begun` has ended. What moved between two folders is on the device
    /// when one of them is synced, since it never is half.
    pub(crate) fn sync(&mut self, folder: Inode, begun: usize, succeeded: bool) {
        let concerns = |pending: &Pending| {
            pending.at < begun && pending.entry.names().any(|name| name.folder == folder)
        };
        if succeeded {
            self.settle(|pending| !pending.given_up && concerns(pending));
        } else {
            for pending in self.pending.iter_mut().filter(|pending| concerns(pending)) {
                pending.given_up = true;
            }
        }
    }

    /// Brings changes to the device, and with each those that it follows.
    fn settle(&mut self, settles: impl Fn(&Pending) -> bool) {
        let (mut needed, mut moves) = (BTreeSet::new(), false);
        let mut settled = vec![false; self.pending.len()];
        for (pending, settled) in self.pending.iter().zip(&mut settled).rev() {
            let followed = pending.entry.names().any(|name| needed.contains(name))
                || moves && pending.entry.is_move();
            if followed || settles(pending) {
                *settled = true;
                needed.extend(pending.entry.names().cloned());
                moves |= pending.entry.is_move();
            }
        }
        let mut settled = settled.into_iter();
        self.pending.retain(|pending| {
            let settled = settled.next().unwrap_or_default();
            if settled {
                apply(&mut self.durable, &pending.entry);
            }
            !settled
        });
    }

    /// The names as they are after the power cut.
    pub(crate) fn image(&self, fate: &mut Fate) -> Folders {
        let mut folders = self.durable.clone();
        let (mut lost, mut move_lost) = (BTreeSet::new(), false);
        for Pending { at, entry, .. } in &self.pending {
            let follows =
                entry.names().any(|name| lost.contains(name)) || move_lost && entry.is_move();
            if fate.entry(*at) && !follows {
                apply(&mut folders, entry);
            } else {
                lost.extend(entry.names());
                move_lost |= entry.is_move();
            }
        }
        folders
    }
}
