//! The journal in front of sled. A drain is durable when its frame is: one write and one `fdatasync` into a
//! file that has its size already. sled learns of it later, in the background, and a segment goes when sled
//! has everything that is in it.
//!
//! There is never more than one frame that is not on the device. So a broken frame with nothing behind it is
//! one that was never acknowledged, and a broken frame with a later one behind it, or with the mark that it
//! was acknowledged, is damage.

mod frame;
mod recover;
mod rescue;
mod segment;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::PathBuf;

pub(super) use recover::{Broken, Recovered, recover};
pub(super) use rescue::{Rescued, rescue};
pub(super) use segment::{folder, sync_all};

use super::effects::Changed;
use frame::Link;
use segment::{FRAMES, Header};

/// How large a segment is at most, in bytes, unless one frame is larger.
pub(super) const SEGMENT: u64 = 16 << 20;
/// The first one is smaller, and each is twice the one before.
const FIRST_SEGMENT: u64 = 1 << 20;
/// What is lost at once, at most. What is written ends at the end of one: a page of a file used again would
/// otherwise be read first.
const PAGE: u64 = 4_096;

/// How a journal is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) segment: u64,
    /// Whether a frame is on the device before it counts.
    pub(super) sync: bool,
}

/// The journal, as its one writer has it.
#[derive(Debug)]
pub(super) struct Journal {
    folder: PathBuf,
    settings: Settings,
    file: File,
    size: u64,
    /// Where the next frame stands.
    at: u64,
    sequence: u64,
    epoch: u64,
    last: Link,
    buffer: Vec<u8>,
    /// How many bytes were appended since that was last asked.
    written: u64,
    /// The last frame has no mark yet.
    unmarked: bool,
    /// Segments that are full: sequence, and last commit.
    full: VecDeque<(u64, u64)>,
}

impl Journal {
    /// Goes on after what was recovered, in a segment of its own.
    pub(super) fn start(
        folder: PathBuf,
        settings: Settings,
        recovered: &Recovered,
    ) -> io::Result<Self> {
        let sequence = recovered
            .full
            .back()
            .map_or(1, |(sequence, _)| sequence + 1);
        let header = Header {
            sequence,
            epoch: epoch()?,
            before: recovered.last,
            checksum: recovered.checksum,
            size: settings.segment.min(FIRST_SEGMENT),
        };
        let (file, size) = segment::create(&folder, header)?;
        recovered.end(&folder)?;
        Ok(Self {
            folder,
            settings,
            file,
            size,
            at: FRAMES as u64,
            sequence,
            epoch: header.epoch,
            last: Link {
                commit: header.before,
                before: header.checksum,
            },
            buffer: Vec::new(),
            written: 0,
            unmarked: false,
            full: recovered.full.clone(),
        })
    }

    /// Makes a commit durable.
    pub(super) fn append(&mut self, commit: u64, changed: &Changed) -> io::Result<()> {
        let link = Link {
            commit,
            before: self.last.before,
        };
        self.buffer.clear();
        let mut checksum = frame::encode(&mut self.buffer, self.epoch, link, changed);
        if mark_after(self.at + self.buffer.len() as u64) + PAGE > self.size {
            self.next_segment()?;
            self.buffer.clear();
            checksum = frame::encode(&mut self.buffer, self.epoch, link, changed);
        }
        let length = self.buffer.len() as u64;
        if u32::try_from(length).is_err() {
            return Err(io::Error::other("a commit of more than 4 GiB"));
        }
        self.write(self.at)?;
        if self.settings.sync {
            self.file.sync_data()?;
        }
        self.at += length;
        self.written += length;
        self.unmarked = true;
        self.last = Link {
            commit,
            before: checksum,
        };
        // One large commit must not hold its memory for ever.
        self.buffer.shrink_to(1 << 20);
        Ok(())
    }

    /// Says that the last commit was acknowledged. When this fails or is lost, damage to the frame of that
    /// commit may pass for a frame that was never finished, until the next is written.
    pub(super) fn mark(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.unmarked) {
            return Ok(());
        }
        self.buffer.clear();
        frame::encode_mark(&mut self.buffer, self.epoch, self.last);
        self.write(mark_after(self.at))
    }

    fn write(&mut self, at: u64) -> io::Result<()> {
        let end = (at + self.buffer.len() as u64)
            .next_multiple_of(PAGE)
            .min(self.size);
        self.buffer.resize(
            usize::try_from(end - at)
                .unwrap_or(0)
                .max(self.buffer.len()),
            0,
        );
        segment::write_at(&self.file, &self.buffer, at)
    }

    /// The frame in the buffer does not fit any more.
    fn next_segment(&mut self) -> io::Result<()> {
        let size = mark_after(FRAMES as u64 + self.buffer.len() as u64) + PAGE;
        let header = Header {
            sequence: self.sequence + 1,
            epoch: epoch()?,
            before: self.last.commit,
            checksum: self.last.before,
            size: size.max(self.settings.segment.min(self.size * 2)),
        };
        let (file, size) = segment::create(&self.folder, header)?;
        end(&self.file, self.at, self.epoch, self.last)?;
        self.full.push_back((self.sequence, self.last.commit));
        (self.file, self.size, self.at) = (file, size, FRAMES as u64);
        (self.sequence, self.epoch) = (header.sequence, header.epoch);
        Ok(())
    }

    /// How many bytes were appended since this was last asked.
    pub(super) fn take_written(&mut self) -> u64 {
        std::mem::take(&mut self.written)
    }

    /// Lets go of the segments whose commits are all in sled.
    pub(super) fn recycle(&mut self, applied: u64) -> io::Result<()> {
        while let Some(&(sequence, _)) = self.full.front().filter(|(_, last)| *last <= applied) {
            // Not twice: after a failure the store is opened anew.
            self.full.pop_front();
            segment::recycle(&self.folder, sequence, self.settings.segment)?;
        }
        Ok(())
    }

    /// Makes everything durable, whatever the settings.
    pub(super) fn sync(&self) -> io::Result<()> {
        sync_all(&self.folder)
    }
}

/// Says in a segment that another one follows, which is there already: without this nobody would miss it.
fn end(file: &File, at: u64, epoch: u64, last: Link) -> io::Result<()> {
    let mut buffer = Vec::new();
    frame::encode_end(&mut buffer, epoch, last);
    segment::write_at(file, &buffer, at)?;
    file.sync_data()
}

/// Where the mark stands of a frame that ends here: in a page in which nothing of the frame is, so that a page
/// that is lost does not take both.
fn mark_after(end: u64) -> u64 {
    end.next_multiple_of(PAGE)
}

fn epoch() -> io::Result<u64> {
    getrandom::u64().map_err(|error| io::Error::other(error.to_string()))
}
