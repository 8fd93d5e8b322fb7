//! An ext4 in a file. Of what is written to it, the file has what the file system has given to its loop
//! device: a copy of the file is what a power cut leaves.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{major, minor};

use super::mounts::{program, run};

/// With holes: it takes the space of what is in it.
const SIZE: u64 = 1 << 30;
/// The device comes to rest when those who write are stopped.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes an empty file system.
pub(super) fn make(image: &Path) {
    File::create(image)
        .and_then(|image| image.set_len(SIZE))
        .unwrap();
    run(program("mkfs.ext4").args(["-q", "-F"]).arg(image)).unwrap();
}

/// Copies a file with its holes.
pub(super) fn copy_file(from: &Path, to: &Path) {
    let how = ["--sparse=always", "--reflink=auto"];
    run(program("cp").args(how).args([from, to])).unwrap();
}

/// A file system that is mounted until this is dropped.
pub(super) struct Disk {
    image: PathBuf,
    place: PathBuf,
    /// Where the system tells about the device.
    device: PathBuf,
}

impl Disk {
    /// What the journal of the file system holds is carried over by this, as it is after a power cut.
    pub(super) fn mount(image: PathBuf, place: PathBuf, options: &str) -> Result<Self, String> {
        fs::create_dir(&place).unwrap();
        // Nothing is to be written but what is asked for.
        let options = format!("loop,noatime,noinit_itable,{options}");
        run(program("mount")
            .args(["-o", &options])
            .args([&image, &place]))?;
        let device = fs::metadata(&place).unwrap().dev();
        let device = format!("/sys/dev/block/{}:{}", major(device), minor(device));
        Ok(Self {
            image,
            place,
            device: device.into(),
        })
    }

    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// How many writes, and how many sectors, the device has seen; `None` while it is busy with some.
    fn writes(&self) -> Option<(u64, u64)> {
        let told = fs::read_to_string(self.device.join("stat")).unwrap();
        let told: Vec<u64> = told
            .split_whitespace()
            .map(|number| number.parse().unwrap())
            .collect();
        // Since it was mounted there was at least one.
        assert!(told[4] > 0, "the device does not count what it does");
        (told[8] == 0).then_some((told[4], told[6]))
    }

    /// Copies what the device has, all of one moment: when something was written meanwhile, once more.
    pub(super) fn copy_to(&self, copy: &Path) {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(before) = self.writes() {
                copy_file(&self.image, copy);
                if self.writes() == Some(before) {
                    return;
                }
            }
            std::thread::yield_now();
        }
        panic!("something keeps writing");
    }

    /// Ends the file system at this moment, in the midst of whatever it does: nothing more gets to the device,
    /// and calls fail.
    #[allow(unsafe_code)]
    pub(super) fn shut_down(&self) {
        use rustix::ioctl::{Opcode, Setter, ioctl, opcode};

        // `EXT4_IOC_SHUTDOWN`; `EXT4_GOING_FLAGS_NOLOGFLUSH`.
        const SHUTDOWN: Opcode = opcode::read::<u32>(b'X', 125);
        const AT_ONCE: u32 = 2;
        let root = File::open(&self.place).unwrap();
        // SAFETY: this call reads a number of 32 bits, and is given one.
        unsafe { ioctl(root, Setter::<SHUTDOWN, u32>::new(AT_ONCE)) }.unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Err(error) = run(program("umount").arg(&self.place)) {
            eprintln!("{error}");
            let _ = run(program("umount").arg("-l").arg(&self.place));
        }
        let _ = fs::remove_dir(&self.place);
    }
}
