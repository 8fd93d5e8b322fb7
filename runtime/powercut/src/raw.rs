//! What the system says of a file, and its error number: asked past the functions whose place [`hooks`] takes.
//!
//! [`hooks`]: crate::hooks
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The ioctl that reads the attributes of a file, and those that make its writes synchronous.
const GET_ATTRIBUTES: libc::c_ulong = 0x8008_6601;
const SYNCHRONOUS: libc::c_int = 0x8;
const SYNCHRONOUS_ENTRIES: libc::c_int = 0x1_0000;

/// Which file, among all of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    device: u64,
    inode: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Other,
}

/// What the system says of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stat {
    pub(crate) key: Key,
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    pub(crate) links: u64,
}

impl Stat {
    fn new(stat: &libc::stat) -> Self {
        Self {
            key: Key {
                device: stat.st_dev,
                inode: stat.st_ino,
            },
            kind: match stat.st_mode & libc::S_IFMT {
                libc::S_IFREG => Kind::File,
                libc::S_IFDIR => Kind::Folder,
                _ => Kind::Other,
            },
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            // Not of the same type on each architecture.
            #[allow(clippy::useless_conversion)]
            links: stat.st_nlink.into(),
        }
    }

    pub(crate) fn of(fd: RawFd) -> Option<Self> {
        let mut stat = MaybeUninit::uninit();
        // SAFETY: `stat` is as large as the call expects, and is only read when the call has filled it.
        unsafe { (libc::fstat(fd, stat.as_mut_ptr()) == 0).then(|| Self::new(&stat.assume_init())) }
    }

    /// Of the file that a path names, without following a link.
    pub(crate) fn of_path(path: &Path) -> io::Result<Self> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        Self::at(libc::AT_FDCWD, &path, false).ok_or_else(io::Error::last_os_error)
    }

    /// The same, seen from the folder `at`; `follow`: a link is followed.
    pub(crate) fn at(at: RawFd, path: &CStr, follow: bool) -> Option<Self> {
        let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
        let mut stat = MaybeUninit::uninit();
        // SAFETY: as above; `path` ends in a zero byte.
        unsafe {
            (libc::fstatat(at, path.as_ptr(), stat.as_mut_ptr(), flags) == 0)
                .then(|| Self::new(&stat.assume_init()))
        }
    }
}

/// The flags that a descriptor was opened with.
pub(crate) fn flags(fd: RawFd) -> libc::c_int {
    // SAFETY: takes no pointer.
    unsafe { libc::fcntl(fd, libc::F_GETFL) }.max(0)
}

fn attributes(fd: RawFd) -> libc::c_int {
    // The call is said to fill a `long` and fills an `int`; there is room for both.
    let mut attributes: [libc::c_int; 2] = [0; 2];
    // SAFETY: see above.
    let done = unsafe { libc::ioctl(fd, GET_ATTRIBUTES, attributes.as_mut_ptr()) };
    if done == 0 { attributes[0] } else { 0 }
}

/// Whether a file has the synchronous attribute.
pub(crate) fn is_synchronous(fd: RawFd) -> bool {
    attributes(fd) & SYNCHRONOUS != 0
}

/// Whether what is created, renamed or removed in a folder is on the device when the call returns.
pub(crate) fn has_synchronous_entries(at: RawFd, folder: &CStr) -> bool {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: `folder` ends in a zero byte. The descriptor is nobody else's, and is closed once.
    unsafe {
        let fd = libc::syscall(libc::SYS_openat, at, folder.as_ptr(), flags);
        let Ok(fd) = RawFd::try_from(fd) else {
            return false;
        };
        if fd < 0 {
            return false;
        }
        let found = attributes(fd) & (SYNCHRONOUS | SYNCHRONOUS_ENTRIES) != 0;
        libc::close(fd);
        found
    }
}

/// Where the next write without a place of its own goes.
pub(crate) fn cursor(fd: RawFd) -> u64 {
    // SAFETY: takes no pointer.
    u64::try_from(unsafe { libc::lseek64(fd, 0, libc::SEEK_CUR) }).unwrap_or_default()
}

/// The bytes of a file in a range, or fewer where it ends before.
pub(crate) fn read(fd: RawFd, from: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let Ok(offset) = libc::off64_t::try_from(from + filled as u64) else {
            break;
        };
        // SAFETY: `rest` is as long as is said.
        let read = unsafe { libc::pread64(fd, rest.as_mut_ptr().cast(), rest.len(), offset) };
        match usize::try_from(read) {
            Ok(read) if read > 0 => filled += read,
            _ => break,
        }
    }
    bytes.truncate(filled);
    bytes
}

/// A file in memory with this content, open at its beginning.
pub(crate) fn file_of(content: &[u8]) -> Option<RawFd> {
    // SAFETY: the name ends in a zero byte, `content` is as long as is said, and the descriptor is nobody
    // else's.
    unsafe {
        let fd = libc::memfd_create(c"content".as_ptr(), libc::MFD_CLOEXEC);
        let (bytes, length) = (content.as_ptr(), content.len());
        let written = libc::syscall(libc::SYS_pwrite64, fd, bytes, length, 0);
        (fd >= 0 && usize::try_from(written) == Ok(length)).then_some(fd)
    }
}

/// The path of what a descriptor has open.
pub(crate) fn path_of(fd: RawFd) -> Option<PathBuf> {
    let link = CString::new(format!("/proc/self/fd/{fd}")).ok()?;
    let mut path = vec![0_u8; 4096];
    // SAFETY: `link` ends in a zero byte, `path` is as long as is said.
    let length = unsafe { libc::readlink(link.as_ptr(), path.as_mut_ptr().cast(), path.len()) };
    path.truncate(usize::try_from(length).ok()?);
    Some(OsString::from_vec(path).into())
}

/// The number of this process. A child that has not begun its own program yet shares our memory's contents,
/// but must not touch locks that another thread held when it was made.
pub(crate) fn process() -> libc::pid_t {
    // SAFETY: takes nothing.
    unsafe { libc::getpid() }
}

pub(crate) fn errno() -> libc::c_int {
    // SAFETY: the address of this thread's error number is always valid.
    unsafe { *libc::__errno_location() }
}

pub(crate) fn set_errno(number: libc::c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = number }
}
