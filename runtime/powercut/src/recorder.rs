//! Starting and ending a record.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::choice::Choice;
use crate::error::RecordError;
use crate::hooks;
use crate::image::Content;
use crate::raw::{Kind, Stat};
use crate::record::{Inode, Origin};
use crate::replay::Replay;
use crate::tape::{State, Tape, Watcher, lock};
use crate::trace::Trace;

/// How long calls may take that have begun when the record ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// Records what this process writes below a folder, by all its threads, with marks `M`. What is there when
/// it starts counts as on the device.
///
/// Not recorded are permissions, times and attributes, which images do not have either, and calls that do
/// not go through the C library. Whether something was missed is looked at in the end.
#[derive(Debug)]
pub struct Recorder<M> {
    folder: PathBuf,
    tape: Arc<Tape>,
    marks: Mutex<Vec<(usize, M)>>,
    _watcher: Watcher,
}

impl<M> Recorder<M> {
    /// Starts.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read, holds something that is neither file nor folder, or when calls do not
    /// come here in this program.
    pub fn start(folder: impl AsRef<Path>) -> Result<Self, RecordError> {
        if let Some((name, _)) = hooks::replaced().find(|(_, taken)| !taken) {
            return Err(RecordError::NotLinked { name });
        }
        let folder = folder.as_ref();
        let folder = folder.canonicalize().map_err(RecordError::io(folder))?;
        let tape = Arc::new(Tape::default());
        let watcher = Watcher::new();
        {
            // Whoever writes meanwhile waits, and is recorded.
            let mut state = tape.lock();
            tape.insert();
            if let Err(error) = read(&folder, &mut state) {
                tape.remove();
                return Err(error);
            }
        }
        Ok(Self {
            folder,
            tape,
            marks: Mutex::default(),
            _watcher: watcher,
        })
    }

    /// Sets a mark: all that has ended is before it. What a mark promises has to hold at each cut from here
    /// on.
    pub fn mark(&self, mark: M) {
        let mut marks = lock(&self.marks);
        marks.push((self.tape.lock().record.events.len(), mark));
    }

    /// Ends the record. Whoever still writes does so unseen.
    ///
    /// # Errors
    ///
    /// When the folder is not what the record says, so that something happened that was not seen; when a
    /// file was mapped into memory for writing; when calls that have begun do not end.
    pub fn finish(self) -> Result<Trace<M>, RecordError> {
        let record = {
            let start = Instant::now();
            let mut state = self.tape.lock();
            while state.in_flight > 0 {
                drop(state);
                if start.elapsed() > PATIENCE {
                    return Err(RecordError::Busy {
                        folder: self.folder.clone(),
                    });
                }
                std::thread::yield_now();
                state = self.tape.lock();
            }
            self.complete(&state)?;
            state.over = true;
            std::mem::take(&mut state.record)
        };
        Ok(Trace::new(record, std::mem::take(&mut lock(&self.marks))))
    }

    /// Compares the folder with what the record makes of it.
    fn complete(&self, state: &State) -> Result<(), RecordError> {
        let mut replay = Replay::new(&state.record);
        replay.seek(usize::MAX);
        let image = replay.image(Choice::All);
        let unseen = |path: &Path, what| {
            Err(RecordError::Unseen {
                path: self.folder.join(path),
                what,
            })
        };
        if let Some(inode) = state.mapped.first() {
            let path = replay.path(*inode).unwrap_or_default();
            return unseen(&path, "it was mapped into memory for writing");
        }
        let mut found = BTreeMap::new();
        walk(&self.folder, Path::new(""), &mut found)?;
        for (path, content) in image.contents() {
            match (content, found.remove(path)) {
                (Content::Folder, Some(stat)) if stat.kind == Kind::Folder => {}
                (Content::File(content), Some(stat)) if stat.kind == Kind::File => {
                    let path_there = self.folder.join(path);
                    let there = fs::read(&path_there).map_err(RecordError::io(&path_there))?;
                    if there != **content {
                        return unseen(path, "it has another content than was recorded");
                    }
                }
                _ => return unseen(path, "it is not there any more"),
            }
        }
        match found.first_key_value() {
            Some((path, _)) => unseen(path, "nobody was seen to make it"),
            None => Ok(()),
        }
    }
}

impl<M> Drop for Recorder<M> {
    fn drop(&mut self) {
        self.tape.lock().over = true;
        self.tape.remove();
    }
}

/// Everything below a folder, without following links.
fn walk(
    folder: &Path,
    below: &Path,
    found: &mut BTreeMap<PathBuf, Stat>,
) -> Result<(), RecordError> {
    let place = folder.join(below);
    let entries = fs::read_dir(&place).map_err(RecordError::io(&place))?;
    for entry in entries {
        let entry = entry.map_err(RecordError::io(&place))?;
        let path = below.join(entry.file_name());
        let stat = stat(&folder.join(&path))?;
        if stat.kind == Kind::Folder {
            walk(folder, &path, found)?;
        }
        found.insert(path, stat);
    }
    Ok(())
}

fn stat(path: &Path) -> Result<Stat, RecordError> {
    Stat::of_path(path).map_err(RecordError::io(path))
}

/// Reads the folder as it is.
fn read(folder: &Path, state: &mut State) -> Result<(), RecordError> {
    let mut found = BTreeMap::new();
    walk(folder, Path::new(""), &mut found)?;
    found.insert(PathBuf::new(), stat(folder)?);
    let mut inodes: BTreeMap<PathBuf, Inode> = BTreeMap::new();
    // Folders come before what is in them.
    for (path, stat) in &found {
        let there = folder.join(path);
        let inode = match (state.inode(stat.key), stat.kind) {
            // Another name of a file that was met already.
            (Some(inode), _) => inode,
            (None, Kind::Folder) => state.add(stat, Origin::Folder(BTreeMap::new())),
            (None, Kind::File) => {
                let content = fs::read(&there).map_err(RecordError::io(&there))?;
                state.add(stat, Origin::File(Arc::new(content)))
            }
            (None, Kind::Other) => return Err(RecordError::Unsupported { path: there }),
        };
        inodes.insert(path.clone(), inode);
        let parent = path.parent().and_then(|parent| inodes.get(parent));
        if let (Some(parent), Some(name)) = (parent, path.file_name())
            && let Some(Origin::Folder(entries)) = state.record.inodes.get_mut(parent.0)
        {
            entries.insert(name.to_owned(), inode);
        }
    }
    Ok(())
}
