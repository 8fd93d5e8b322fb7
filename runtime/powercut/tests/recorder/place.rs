//! A folder and a record of what happens in it.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use perennial_powercut::{Choice, Image, Recorder, Trace};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

/// A folder on a disk: the one for temporary files may be in memory.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// A new file, durable.
    pub(crate) fn put(&self, name: &str, content: &[u8]) {
        std::fs::write(self.file(name), content).unwrap();
    }

    pub(crate) fn create(&self, name: &str) -> File {
        File::create_new(self.file(name)).unwrap()
    }

    pub(crate) fn open(&self, name: &str) -> File {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(self.file(name))
            .unwrap()
    }

    pub(crate) fn sync(&self) {
        File::open(self.path()).unwrap().sync_all().unwrap();
    }

    pub(crate) fn record(&self, body: impl FnOnce()) -> Trace<&'static str> {
        self.record_with(|_| body())
    }

    pub(crate) fn record_with(
        &self,
        body: impl FnOnce(&Recorder<&'static str>),
    ) -> Trace<&'static str> {
        let recorder = Recorder::start(self.path()).unwrap();
        body(&recorder);
        recorder.finish().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Gives a file or folder the synchronous attribute. `false`: it cannot have it here.
pub(crate) fn make_synchronous(path: &Path) -> bool {
    let file = File::open(path).unwrap();
    let made = ioctl_getflags(&file).and_then(|flags| ioctl_setflags(&file, flags | IFlags::SYNC));
    if let Err(error) = made {
        eprintln!("passed over: no synchronous attribute here ({error})");
    }
    made.is_ok()
}

/// What is left at the end when everything or nothing of what is not durable is lost.
pub(crate) fn least(trace: &Trace<&'static str>) -> Image {
    trace.image(trace.len(), Choice::Nothing)
}

pub(crate) fn most(trace: &Trace<&'static str>) -> Image {
    trace.image(trace.len(), Choice::All)
}
