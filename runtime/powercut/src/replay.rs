//! Goes along a record and builds images at any place of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::choice::{Choice, Fate};
use crate::file::File;
use crate::image::{Content, Image};
use crate::record::{Entry, Event, Inode, Name, Origin, Record};
use crate::tree::{Folders, Tree};

/// Goes along a record. What is on the device is kept from one place to the next, so images are cheap when
/// the cuts are visited in their order; going back begins anew.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    record: &'a Record,
    at: usize,
    files: Vec<Option<File>>,
    tree: Tree,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(record: &'a Record) -> Self {
        let mut folders = Folders::new();
        let mut files = Vec::new();
        for (number, origin) in record.inodes.iter().enumerate() {
            match origin {
                Origin::File(content) => files.push(Some(File::new(Arc::clone(content)))),
                Origin::Folder(entries) => {
                    folders.insert(Inode(number), entries.clone());
                    files.push(None);
                }
            }
        }
        Self {
            record,
            at: 0,
            files,
            tree: Tree::new(folders),
        }
    }

    /// Goes to a cut: a number of events of the record that have happened. Beyond the end is the end.
    pub fn seek(&mut self, cut: usize) {
        if cut < self.at {
            *self = Self::new(self.record);
        }
        while self.at < cut
            && let Some(event) = self.record.events.get(self.at)
        {
            self.step(event);
            self.at += 1;
        }
    }

    fn step(&mut self, event: &Event) {
        let (at, writes) = (self.at, &self.record.writes);
        match event {
            Event::WriteBegins(number) => {
                let write = &writes[*number];
                if let Some(file) = &mut self.files[write.inode.0] {
                    file.begin(at, *number, write);
                }
            }
            Event::WriteEnds(number) => {
                if let Some(file) = &mut self.files[writes[*number].inode.0] {
                    file.end(at, *number, writes);
                }
            }
            Event::Resize {
                inode,
                resize,
                durable,
            } => {
                if let Some(file) = &mut self.files[inode.0] {
                    file.resize(at, *resize, *durable, writes);
                }
            }
            Event::Entry { entry, durable } => self.tree.change(at, entry.clone(), *durable),
            Event::SyncEnds(number) => {
                let sync = &self.record.syncs[*number];
                match &mut self.files[sync.inode.0] {
                    Some(file) => file.sync(sync.begun, sync.succeeded, writes),
                    None => self.tree.sync(sync.inode, sync.begun, sync.succeeded),
                }
            }
            Event::SyncBegins(_) | Event::RangeSync(_) => {}
        }
    }

    /// Positions at which that began which is not on the device.
    fn pending(&self) -> Vec<usize> {
        let files = self.files.iter().flatten().flat_map(File::pending);
        let mut pending: Vec<_> = files.chain(self.tree.pending()).collect();
        pending.sort_unstable();
        pending
    }

    /// How many writes, changes of sizes and changes of entries have begun and are not on the device.
    #[must_use]
    pub fn at_risk(&self) -> usize {
        self.pending().len()
    }

    /// Where a file is when nothing is lost.
    pub(crate) fn path(&self, inode: Inode) -> Option<PathBuf> {
        let mut fate = Fate::new(Choice::All, &[]);
        let folders = self.tree.image(&mut fate);
        let (mut names, mut inode) = (Vec::new(), inode);
        while inode != Inode::ROOT {
            let (folder, name) = folders.iter().find_map(|(folder, entries)| {
                let (name, _) = entries.iter().find(|(_, found)| **found == inode)?;
                Some((*folder, name))
            })?;
            names.push(name);
            inode = folder;
        }
        Some(names.into_iter().rev().collect())
    }

    /// Says what an event is.
    pub(crate) fn tell(&self, event: &Event) -> String {
        let path = |inode| {
            let path = self.path(inode).unwrap_or_else(|| "a removed file".into());
            format!("`{}`", path.display())
        };
        let name = |Name { folder, name }: &Name| {
            let folder = self.path(*folder).unwrap_or_default();
            format!("`{}`", folder.join(name).display())
        };
        let write = |number: &usize| {
            let write = &self.record.writes[*number];
            let (bytes, offset) = (write.written, write.offset);
            format!("of {bytes} bytes to {} at {offset}", path(write.inode))
        };
        let sync = |number: &usize| path(self.record.syncs[*number].inode);
        match event {
            Event::WriteBegins(number) => format!("the beginning of the write {}", write(number)),
            Event::WriteEnds(number) => format!("the end of the write {}", write(number)),
            Event::Resize { inode, resize, .. } => format!("{resize} {}", path(*inode)),
            Event::Entry { entry, .. } => match entry {
                Entry::Add(at, _) => format!("making {}", name(at)),
                Entry::Remove(at) => format!("removing {}", name(at)),
                Entry::Move(from, to) => format!("renaming {} to {}", name(from), name(to)),
                Entry::Exchange(one, two) => format!("exchanging {} and {}", name(one), name(two)),
            },
            Event::SyncBegins(number) => format!("the beginning of the sync of {}", sync(number)),
            Event::SyncEnds(number) => format!("the end of the sync of {}", sync(number)),
            Event::RangeSync(inode) => format!("the sync of a range of {}", path(*inode)),
        }
    }

    /// What the folder may be after a power cut here.
    #[must_use]
    pub fn image(&self, choice: Choice) -> Image {
        let mut fate = Fate::new(choice, &self.pending());
        let folders = self.tree.image(&mut fate);
        let mut walk = Walk {
            replay: self,
            folders: &folders,
            fate: &mut fate,
            files: BTreeMap::new(),
            found: BTreeMap::new(),
        };
        walk.folder(Inode::ROOT, &PathBuf::new());
        Image::new(walk.found)
    }
}

struct Walk<'a> {
    replay: &'a Replay<'a>,
    folders: &'a Folders,
    fate: &'a mut Fate,
    /// A file may have several names.
    files: BTreeMap<Inode, Arc<Vec<u8>>>,
    found: BTreeMap<PathBuf, Content>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: Inode, path: &std::path::Path) {
        for (name, inode) in self.folders.get(&folder).into_iter().flatten() {
            let path = path.join(name);
            let content = match &self.replay.files[inode.0] {
                None => {
                    self.folder(*inode, &path);
                    Content::Folder
                }
                Some(file) => {
                    let (fate, writes) = (&mut *self.fate, &self.replay.record.writes);
                    let image = || file.image(fate, writes);
                    Content::File(Arc::clone(self.files.entry(*inode).or_insert_with(image)))
                }
            };
            self.found.insert(path, content);
        }
    }
}
