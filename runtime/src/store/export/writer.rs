//! Writing the lines, with what the reader holds them against.

use std::io::{self, Write};

use perennial::history::Unit;
use perennial::{RunKey, Timestamp};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::format::{
    Begin, Counts, FORMAT, First, HeadText, Last, Partial, RunText, Timer, Written, WrittenContent,
    WrittenProgram,
};
use super::inbox::KeyText;
use super::offers::OfferText;
use crate::store::{AttemptRecord, Head, KeyRecord, Loaded, Offer, ProgramRecord};

/// What an export came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// What is in it.
    pub counts: Counts,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// The checksum in its last line, in hexadecimal digits.
    pub sha256: String,
}

/// So many digits of a checksum stand in a line that begins a run.
pub(super) const SUM_DIGITS: usize = 16;

pub(super) fn digits(digest: Sha256) -> String {
    let mut text = String::with_capacity(64);
    for byte in digest.finalize() {
        use std::fmt::Write as _;
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The checksum of the lines so far, as it stands in a line that begins a run.
pub(super) fn sum(digest: &Sha256) -> String {
    let mut text = digits(digest.clone());
    text.truncate(SUM_DIGITS);
    text
}

/// Writes an export, line by line.
#[derive(Debug)]
pub(in crate::store) struct Writer<W> {
    out: W,
    digest: Sha256,
    counts: Counts,
    /// Of the run that is being written: what counts only when it is whole.
    run: Counts,
    bytes: u64,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub(in crate::store) fn begin(out: W, at: Timestamp) -> io::Result<Self> {
        let mut writer = Self {
            out,
            digest: Sha256::new(),
            counts: Counts::default(),
            run: Counts::default(),
            bytes: 0,
            line: Vec::new(),
        };
        let export = Begin {
            format: FORMAT,
            producer: format!("perennial {}", env!("CARGO_PKG_VERSION")),
            at,
        };
        writer.line(&First { export })?;
        Ok(writer)
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line)?;
        self.line.push(b'\n');
        self.digest.update(&self.line);
        self.out.write_all(&self.line)?;
        self.bytes += self.line.len() as u64;
        self.counts.lines += 1;
        // One large unit must not hold its memory for ever.
        self.line.shrink_to(1 << 20);
        Ok(())
    }

    fn content(
        &mut self,
        run: &RunKey,
        generation: Option<u64>,
        content: WrittenContent<'_>,
    ) -> io::Result<()> {
        let begins = matches!(
            content,
            WrittenContent::Head(_) | WrittenContent::Partial(_)
        );
        let sum = begins.then(|| sum(&self.digest));
        self.line(&Written {
            run: RunText(run.clone()),
            generation,
            content,
            sum,
        })
    }

    /// All programs; they come before the runs.
    pub(in crate::store) fn programs(
        &mut self,
        mut programs: Vec<ProgramRecord>,
    ) -> io::Result<()> {
        programs.sort_by(|one, other| one.artifact.cmp(&other.artifact));
        for program in &programs {
            self.counts.programs += 1;
            self.line(&WrittenProgram { program })?;
        }
        Ok(())
    }

    /// Begins a run that is whole.
    pub(in crate::store) fn head(&mut self, run: &RunKey, head: &Head) -> io::Result<()> {
        self.settle();
        self.run = Counts {
            runs: 1,
            generations: (head.generation + 1).saturating_sub(head.kept_from),
            ..Counts::default()
        };
        self.content(run, None, WrittenContent::Head(HeadText(head.clone())))
    }

    /// Begins a run that is not whole.
    pub(in crate::store) fn partial(
        &mut self,
        run: &RunKey,
        head: Option<&Head>,
        problems: Vec<String>,
    ) -> io::Result<()> {
        self.settle();
        self.run.partial = 1;
        let head = head.cloned().map(HeadText);
        self.content(
            run,
            None,
            WrittenContent::Partial(Partial { head, problems }),
        )
    }

    /// All that is beside the histories of the run that was begun.
    pub(in crate::store) fn beside(&mut self, run: &RunKey, loaded: &Loaded) -> io::Result<()> {
        for task in &loaded.tasks {
            self.run.tasks += 1;
            self.content(run, None, WrittenContent::Task(task))?;
        }
        for &(operation, deadline) in &loaded.timers {
            self.run.timers += 1;
            let timer = Timer {
                operation,
                deadline,
            };
            self.content(run, None, WrittenContent::Timer(timer))?;
        }
        for row in &loaded.queue {
            self.run.rows += 1;
            self.content(run, None, WrittenContent::Row(row))?;
        }
        for record in &loaded.blocked {
            self.run.blocked += 1;
            self.content(run, None, WrittenContent::Blocked(record))?;
        }
        for record in &loaded.views {
            self.run.views += 1;
            self.content(run, None, WrittenContent::View(record))?;
        }
        Ok(())
    }

    /// Sends that the run that was begun knows by their keys.
    pub(in crate::store) fn keys(&mut self, run: &RunKey, keys: &[KeyRecord]) -> io::Result<()> {
        for key in keys {
            self.run.keys += 1;
            self.content(run, None, WrittenContent::Key(KeyText(key.clone())))?;
        }
        Ok(())
    }

    /// Offers of the run that was begun.
    pub(in crate::store) fn offers(&mut self, run: &RunKey, offers: &[Offer]) -> io::Result<()> {
        for offer in offers {
            self.run.offers += 1;
            self.content(run, None, WrittenContent::Offer(OfferText(offer.clone())))?;
        }
        Ok(())
    }

    pub(in crate::store) fn unit(
        &mut self,
        run: &RunKey,
        generation: u64,
        unit: &Unit,
    ) -> io::Result<()> {
        self.run.units += 1;
        self.run.events += unit.last() + 1 - unit.number;
        self.content(run, Some(generation), WrittenContent::Unit(unit))
    }

    pub(in crate::store) fn attempt(
        &mut self,
        run: &RunKey,
        generation: u64,
        attempt: &AttemptRecord,
    ) -> io::Result<()> {
        self.run.attempts += 1;
        self.content(run, Some(generation), WrittenContent::Attempt(attempt))
    }

    /// Takes the run that was begun back.
    pub(in crate::store) fn withdraw(&mut self, run: &RunKey) -> io::Result<()> {
        self.run = Counts {
            withdrawn: 1,
            ..Counts::default()
        };
        let reason = "it was purged or changed while it was exported";
        self.content(run, None, WrittenContent::Withdrawn(reason))
    }

    /// Counts the run that was written. Of one that is not whole nothing else counts.
    fn settle(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.partial > 0 {
            self.counts.partial += 1;
        } else {
            self.counts.add(&run);
        }
    }

    /// Writes the last line and gives back what was written to.
    pub(in crate::store) fn end(mut self) -> io::Result<(W, Exported)> {
        self.settle();
        let counts = self.counts.clone();
        let sha256 = digits(self.digest.clone());
        self.line(&Last {
            end: &counts,
            sha256: sha256.clone(),
        })?;
        self.out.flush()?;
        let exported = Exported {
            counts,
            bytes: self.bytes,
            sha256,
        };
        Ok((self.out, exported))
    }
}

impl Counts {
    /// Adds what one run has.
    pub(super) fn add(&mut self, run: &Self) {
        let Self {
            runs,
            partial,
            generations,
            units,
            events,
            attempts,
            tasks,
            timers,
            rows,
            blocked,
            withdrawn,
            keys,
            views,
            offers,
            programs,
            lines,
        } = run;
        self.runs += runs;
        self.partial += partial;
        self.generations += generations;
        self.units += units;
        self.events += events;
        self.attempts += attempts;
        self.tasks += tasks;
        self.timers += timers;
        self.rows += rows;
        self.blocked += blocked;
        self.withdrawn += withdrawn;
        self.keys += keys;
        self.views += views;
        self.offers += offers;
        self.programs += programs;
        self.lines += lines;
    }
}
