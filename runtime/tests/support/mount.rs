//! A small file system of its own, where mounting is permitted: one that gets full, and one that can be made
//! read-only.
#![allow(dead_code, clippy::unwrap_used, unreachable_pub)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// An ext4 in a file, mounted until it is dropped.
#[derive(Debug)]
pub struct Mounted {
    folder: tempfile::TempDir,
}

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let mut last = String::new();
    for program in [program.to_owned(), format!("/sbin/{program}")] {
        match Command::new(&program).args(arguments).output() {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let error = String::from_utf8_lossy(&output.stderr);
                return Err(format!("{program}: {}", error.trim()));
            }
            Err(error) => last = format!("{program}: {error}"),
        }
    }
    Err(last)
}

impl Mounted {
    /// `None` where that is not permitted, which is then told.
    pub fn ext4(megabytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let image = folder.path().join("image");
        std::fs::File::create(&image)
            .and_then(|file| file.set_len(megabytes << 20))
            .unwrap();
        let place = folder.path().join("mounted");
        std::fs::create_dir(&place).unwrap();
        let (image, place) = (image.to_str().unwrap(), place.to_str().unwrap());
        let made = run("mkfs.ext4", &["-q", "-F", "-m", "0", image])
            .and_then(|()| run("mount", &["-o", "loop", image, place]));
        match made {
            Ok(()) => Some(Self { folder }),
            Err(why) => {
                println!("left out, since no file system can be mounted here: {why}");
                None
            }
        }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    /// From now on nothing can be written.
    pub fn make_read_only(&self) {
        let path = self.path();
        let mut tries = 0;
        // What was closed just now may be busy for a moment yet.
        while let Err(error) = run("mount", &["-o", "remount,ro", path.to_str().unwrap()]) {
            tries += 1;
            assert!(tries < 200, "{error}");
        }
    }

    pub fn make_writable(&self) {
        let path = self.path();
        run("mount", &["-o", "remount,rw", path.to_str().unwrap()]).unwrap();
    }

    /// How many bytes are free.
    pub fn free(&self) -> u64 {
        free(&self.path())
    }
}

fn free(path: &Path) -> u64 {
    let found = rustix::fs::statvfs(path).unwrap();
    found.f_bavail * found.f_frsize
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let path = self.path();
        let path = path.to_str().unwrap_or_default();
        if run("umount", &[path]).is_err() {
            // Somebody still has a file open; it goes when they let go.
            let _ = run("umount", &["-l", path]);
        }
    }
}

/// A file that takes all space of a file system but so many bytes, until it is dropped.
#[derive(Debug)]
pub struct Ballast(PathBuf);

impl Ballast {
    pub fn leave(mounted: &Mounted, bytes: u64) -> Self {
        use rustix::fs::{FallocateFlags, fallocate};

        let path = mounted.path().join("ballast");
        let file = std::fs::File::create(&path).unwrap();
        let mut size = 0;
        // What a file system keeps of its files takes space too.
        loop {
            let more = mounted.free().saturating_sub(bytes);
            if more == 0 || fallocate(&file, FallocateFlags::empty(), size, more).is_err() {
                break;
            }
            size += more;
        }
        file.sync_all().unwrap();
        Self(path)
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
