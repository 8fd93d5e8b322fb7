//! The record while it is made. Calls of all threads come here, each before and after it goes to the system,
//! and one lock gives them their order.
//!
//! Files are told by device and inode, not by descriptor or path: so it does not matter how a descriptor was
//! come by. The lock is not held while a write or a sync is in the system, so that they overlap as they do
//! without a recorder.

use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::raw::{self, Key, Kind, Stat};
use crate::record::{Data, Entry, Event, Inode, Origin, Record, Resize, Sync, Write};

/// How many tapes and faults there are. While there are none, a hook does nothing but its call.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);
static PROCESS: AtomicI32 = AtomicI32::new(0);
static TAPES: RwLock<Vec<Arc<Tape>>> = RwLock::new(Vec::new());

/// Whether a hook has to look at its call at all.
pub(crate) fn watched() -> bool {
    WATCHERS.load(Ordering::Acquire) != 0 && PROCESS.load(Ordering::Relaxed) == raw::process()
}

/// As long as it lives, hooks look at their calls.
#[derive(Debug)]
pub(crate) struct Watcher(());

impl Watcher {
    pub(crate) fn new() -> Self {
        PROCESS.store(raw::process(), Ordering::Relaxed);
        WATCHERS.fetch_add(1, Ordering::Release);
        Self(())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        WATCHERS.fetch_sub(1, Ordering::Release);
    }
}

/// Where a write goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// To where the descriptor stands.
    Cursor,
    At(u64),
}

#[derive(Debug, Default)]
pub(crate) struct Tape {
    state: Mutex<State>,
}

/// A file or folder on a tape.
#[derive(Clone, Debug)]
pub(crate) struct OnTape {
    pub(crate) tape: Arc<Tape>,
    pub(crate) inode: Inode,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Nothing is recorded any more.
    pub(crate) over: bool,
    pub(crate) record: Record,
    /// Calls that have begun and not ended.
    pub(crate) in_flight: usize,
    /// Mapped into memory for writing: what is written there is not seen.
    pub(crate) mapped: Vec<Inode>,
    inodes: BTreeMap<Key, Inode>,
    live: Vec<Live>,
}

/// What is known of a file at this moment.
#[derive(Debug, Default)]
struct Live {
    size: u64,
    in_flight: usize,
    /// Held by a write that goes to where its descriptor stands, until it is known where that was.
    cursor: Arc<Mutex<()>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tape {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// From now on hooks find it.
    pub(crate) fn insert(self: &Arc<Self>) {
        let mut tapes = TAPES.write().unwrap_or_else(PoisonError::into_inner);
        tapes.push(Arc::clone(self));
    }

    pub(crate) fn remove(self: &Arc<Self>) {
        let mut tapes = TAPES.write().unwrap_or_else(PoisonError::into_inner);
        tapes.retain(|tape| !Arc::ptr_eq(tape, self));
    }
}

/// The tape on which a file or folder is.
pub(crate) fn find(key: Key) -> Option<OnTape> {
    let tapes = TAPES.read().unwrap_or_else(PoisonError::into_inner).clone();
    tapes.into_iter().find_map(|tape| {
        let inode = tape.lock().inode(key)?;
        Some(OnTape { tape, inode })
    })
}

/// The file that a descriptor has open, if it is on a tape.
pub(crate) fn file(fd: RawFd) -> Option<OnTape> {
    let stat = Stat::of(fd).filter(|stat| stat.kind == Kind::File)?;
    find(stat.key)
}

/// The same for a file or folder.
pub(crate) fn file_or_folder(fd: RawFd) -> Option<OnTape> {
    let stat = Stat::of(fd).filter(|stat| stat.kind != Kind::Other)?;
    find(stat.key)
}

impl State {
    /// `None`: it is not on this tape, or nothing is recorded any more.
    pub(crate) fn inode(&self, key: Key) -> Option<Inode> {
        (!self.over)
            .then(|| self.inodes.get(&key).copied())
            .flatten()
    }

    /// A file or folder that was not seen before.
    pub(crate) fn add(&mut self, stat: &Stat, origin: Origin) -> Inode {
        let inode = Inode(self.record.inodes.len());
        self.record.inodes.push(origin);
        self.live.push(Live {
            size: stat.size,
            ..Live::default()
        });
        self.inodes.insert(stat.key, inode);
        inode
    }

    /// It has no name any more, so its place on the device may become that of another file.
    pub(crate) fn forget(&mut self, stat: &Stat) {
        if stat.kind == Kind::Folder || stat.links <= 1 {
            self.inodes.remove(&stat.key);
        }
    }

    pub(crate) fn entry(&mut self, entry: Entry, durable: bool) {
        self.record.events.push(Event::Entry { entry, durable });
    }

    fn live(&mut self, inode: Inode) -> Option<&mut Live> {
        self.live.get_mut(inode.0)
    }

    pub(crate) fn resize(&mut self, inode: Inode, resize: Resize, durable: bool) {
        if let Some(live) = self.live(inode) {
            live.size = resize.of(live.size);
            self.record.events.push(Event::Resize {
                inode,
                resize,
                durable,
            });
        }
    }

    /// The size may have been changed by a call that does not pass here, as `fallocate` by rustix. It is
    /// seen at the next call that does.
    fn notice_size(&mut self, inode: Inode, fd: RawFd) {
        let Some(live) = self.live(inode).filter(|live| live.in_flight == 0) else {
            return;
        };
        let known = live.size;
        if let Some(stat) =
            Stat::of(fd).filter(|stat| stat.kind == Kind::File && stat.size != known)
        {
            self.resize(inode, Resize::To(stat.size), false);
        }
    }

    fn begin_write(&mut self, write: Write) -> usize {
        let number = self.record.writes.len();
        self.in_flight += 1;
        if let Some(live) = self.live(write.inode) {
            live.in_flight += 1;
        }
        self.record.writes.push(write);
        self.record.events.push(Event::WriteBegins(number));
        number
    }

    fn end_write(&mut self, number: usize, offset: u64, written: u64) {
        let Some(write) = self.record.writes.get_mut(number) else {
            return;
        };
        (write.offset, write.written) = (offset, written.min(write.data.len()));
        let (inode, end) = (write.inode, write.range().end);
        if let Some(live) = self.live.get_mut(inode.0) {
            write.grows = written > 0 && end > live.size;
            if write.grows {
                live.size = end;
            }
            live.in_flight -= 1;
        }
        self.in_flight -= 1;
        self.record.events.push(Event::WriteEnds(number));
    }
}

impl OnTape {
    /// Makes and records a write of `data`. `real` gives what the system answers, and sets the error number.
    pub(crate) fn write(
        &self,
        fd: RawFd,
        place: Place,
        data: Box<[u8]>,
        real: impl FnOnce() -> isize,
    ) -> isize {
        let flags = raw::flags(fd);
        let appends = flags & libc::O_APPEND != 0;
        // Where that is, is known afterwards, if nobody comes between.
        let cursor = match place {
            Place::At(_) if !appends => None,
            _ => {
                let mut state = self.tape.lock();
                state.live(self.inode).map(|live| Arc::clone(&live.cursor))
            }
        };
        let _held = cursor.as_deref().map(lock);
        let offset = match place {
            Place::Cursor => raw::cursor(fd),
            Place::At(offset) => offset,
        };
        let durable = flags & libc::O_DSYNC != 0 || raw::is_synchronous(fd);
        let number = {
            let mut state = self.tape.lock();
            if state.over {
                drop(state);
                return real();
            }
            state.notice_size(self.inode, fd);
            state.begin_write(Write {
                inode: self.inode,
                offset,
                data: Data::Bytes(data),
                written: 0,
                durable,
                grows: false,
            })
        };
        let result = real();
        let errno = raw::errno();
        let written = u64::try_from(result).unwrap_or(0);
        let offset = match place {
            Place::Cursor => raw::cursor(fd).saturating_sub(written),
            // Linux does not look at the place then.
            Place::At(_) if appends => {
                Stat::of(fd).map_or(0, |stat| stat.size.saturating_sub(written))
            }
            Place::At(offset) => offset,
        };
        self.tape.lock().end_write(number, offset, written);
        raw::set_errno(errno);
        result
    }

    /// Records what was written by a call that is only known afterwards. It is never taken for durable.
    pub(crate) fn written(&self, offset: u64, data: Data) {
        let mut state = self.tape.lock();
        if state.over {
            return;
        }
        let written = data.len();
        let number = state.begin_write(Write {
            inode: self.inode,
            offset,
            data,
            written: 0,
            durable: false,
            grows: false,
        });
        state.end_write(number, offset, written);
    }

    /// Makes and records a sync.
    pub(crate) fn sync(&self, fd: RawFd, real: impl FnOnce() -> libc::c_int) -> libc::c_int {
        let number = {
            let mut state = self.tape.lock();
            if state.over {
                drop(state);
                return real();
            }
            state.notice_size(self.inode, fd);
            state.in_flight += 1;
            let begun = state.record.events.len();
            let number = state.record.syncs.len();
            state.record.events.push(Event::SyncBegins(number));
            state.record.syncs.push(Sync {
                inode: self.inode,
                begun,
                succeeded: false,
            });
            number
        };
        let result = real();
        let errno = raw::errno();
        let mut state = self.tape.lock();
        state.in_flight -= 1;
        if let Some(sync) = state.record.syncs.get_mut(number) {
            sync.succeeded = result == 0;
        }
        state.record.events.push(Event::SyncEnds(number));
        drop(state);
        raw::set_errno(errno);
        result
    }

    pub(crate) fn range_sync(&self) {
        let mut state = self.tape.lock();
        if !state.over {
            state.record.events.push(Event::RangeSync(self.inode));
        }
    }

    /// Makes a call that changes the size, and records it when it succeeds. The record stands still
    /// meanwhile.
    pub(crate) fn resize(
        &self,
        fd: Option<RawFd>,
        resize: Resize,
        real: impl FnOnce() -> libc::c_int,
    ) -> libc::c_int {
        let mut state = self.tape.lock();
        if state.over {
            drop(state);
            return real();
        }
        if let Some(fd) = fd {
            state.notice_size(self.inode, fd);
        }
        let result = real();
        if result == 0 {
            let errno = raw::errno();
            let before = state.live(self.inode).map_or(0, |live| live.size);
            // ext4 makes a file with the attribute shorter synchronously, but not longer.
            let durable = resize.of(before) < before && fd.is_some_and(raw::is_synchronous);
            state.resize(self.inode, resize, durable);
            raw::set_errno(errno);
        }
        result
    }

    /// It is mapped into memory for writing.
    pub(crate) fn map(&self) {
        let mut state = self.tape.lock();
        if !state.over {
            state.mapped.push(self.inode);
        }
    }
}
