//! What the disk can do: a preallocated file, framed records, one `fdatasync` for all that wait.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const SIZE: u64 = 64 << 20;
const RECORD: usize = 300;

pub struct Limit {
    file: File,
    at: AtomicU64,
}

impl Limit {
    pub fn new(folder: &Path) -> Self {
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(folder.join("limit"))
            .unwrap();
        let zeros = vec![0; 1 << 20];
        for at in 0..SIZE >> 20 {
            file.write_all_at(&zeros, at << 20).unwrap();
        }
        file.sync_all().unwrap();
        Self {
            file,
            at: AtomicU64::new(0),
        }
    }

    fn write(&self, records: usize) {
        let bytes = vec![7; RECORD * records];
        let mut at = self.at.load(Ordering::Relaxed);
        if at + bytes.len() as u64 > SIZE {
            at = 0;
        }
        self.file.write_all_at(&bytes, at).unwrap();
        self.at.store(at + bytes.len() as u64, Ordering::Relaxed);
        self.file.sync_data().unwrap();
    }

    pub fn sync_microseconds(&self) -> f64 {
        const TIMES: u32 = 200;
        let began = Instant::now();
        (0..TIMES).for_each(|_| self.write(1));
        began.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES)
    }

    /// Commits per second of `committers` threads, each of which waits for its commit before the next.
    pub fn commits(&self, committers: usize, time: Duration) -> f64 {
        let began = Instant::now();
        let mut count = 0_u64;
        if committers == 1 {
            while began.elapsed() < time {
                self.write(1);
                count += 1;
            }
            return count as f64 / began.elapsed().as_secs_f64();
        }
        let stop = AtomicBool::new(false);
        let (commit, commits): (Sender<Sender<()>>, Receiver<Sender<()>>) = channel();
        std::thread::scope(|scope| {
            for _ in 0..committers {
                let (commit, stop) = (commit.clone(), &stop);
                scope.spawn(move || {
                    let (done, dones) = channel();
                    while !stop.load(Ordering::Relaxed)
                        && commit.send(done.clone()).is_ok()
                        && dones.recv().is_ok()
                    {}
                });
            }
            drop(commit);
            while let Ok(first) = commits.recv() {
                let mut waiting = vec![first];
                waiting.extend(commits.try_iter());
                self.write(waiting.len());
                count += waiting.len() as u64;
                for done in waiting {
                    let _ = done.send(());
                }
                if began.elapsed() >= time {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        count as f64 / began.elapsed().as_secs_f64()
    }
}
