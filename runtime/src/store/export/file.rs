//! The file: readable by its owner alone, and under its name only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::ExportError;

/// A file that gets its name when it is finished. One that is not is deleted.
#[derive(Debug)]
pub(in crate::store) struct NewFile {
    path: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
    finished: bool,
}

impl NewFile {
    pub(in crate::store) fn create(path: &Path) -> Result<Self, ExportError> {
        refuse_existing(path)?;
        let number = getrandom::u64().map_err(|error| ExportError::Io {
            what: "drawing a name".into(),
            error: error.to_string(),
        })?;
        let mut partial = path.as_os_str().to_owned();
        partial.push(format!(".partial-{number:016x}"));
        let partial = PathBuf::from(partial);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let file = options.open(&partial).map_err(|error| ExportError::Io {
            what: format!("creating {}", partial.display()),
            error: error.to_string(),
        })?;
        Ok(Self {
            path: path.to_owned(),
            partial,
            file: BufWriter::with_capacity(1 << 16, file),
            finished: false,
        })
    }

    /// Gives it its name. It is on the device afterwards.
    pub(in crate::store) fn finish(mut self) -> Result<(), ExportError> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        refuse_existing(&self.path)?;
        let named = fs::rename(&self.partial, &self.path).and_then(|()| sync_parent(&self.path));
        named.map_err(|error| ExportError::Io {
            what: format!("giving {} its name", self.path.display()),
            error: error.to_string(),
        })?;
        self.finished = true;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.partial);
        }
    }
}

fn refuse_existing(path: &Path) -> Result<(), ExportError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(ExportError::Exists { path: path.into() }),
        Err(_) => Ok(()),
    }
}

/// Makes a name durable.
fn sync_parent(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}
