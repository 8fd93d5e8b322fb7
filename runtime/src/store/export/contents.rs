//! What is in an export, read to its end.

use std::io::BufRead;

use perennial::RunKey;

use super::error::Unreadable;
use super::format::{Begin, Content, Counts};
use super::reader::{Reader, Step};
use crate::store::{Census, DueTimer, ProgramRecord};

/// What is in an export.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contents {
    /// Who wrote it, and when.
    pub begin: Begin,
    /// How many there are of each kind.
    pub counts: Counts,
    /// The programs that have had the store open, in the order of their artifacts.
    pub programs: Vec<ProgramRecord>,
    /// How the runs that are whole stand.
    pub census: Census,
    /// The runs that are not whole.
    pub partial: Vec<PartialRun>,
}

/// A run that is not whole: something of it was lost before a salvage.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartialRun {
    /// The run.
    pub run: RunKey,
    /// What is missing, in words.
    pub problems: Vec<String>,
}

impl Contents {
    /// Reads an export to its end, which checks all of it.
    ///
    /// # Errors
    ///
    /// [`Unreadable`].
    pub fn read<R: BufRead>(mut reader: Reader<R>) -> Result<Self, Unreadable> {
        let (mut census, mut partial) = (Census::default(), Vec::new());
        let mut programs = Vec::new();
        // What is withdrawn must not count, so a run counts at its end.
        let mut open = None;
        loop {
            match reader.step()? {
                Step::Program(program) => programs.push(*program),
                Step::Line(run, Content::Head(head)) => open = Some((run, head, Vec::new())),
                Step::Line(run, Content::Partial(found)) => partial.push(PartialRun {
                    run,
                    problems: found.problems,
                }),
                Step::Line(_, Content::Withdrawn) => open = None,
                Step::Line(_, Content::Timer(timer)) => {
                    if let Some((_, _, timers)) = &mut open {
                        timers.push(timer);
                    }
                }
                Step::Line(..) => {}
                Step::Done => {
                    if let Some((run, head, timers)) = open.take() {
                        census.count(&run, &head);
                        for timer in timers {
                            census.timer(DueTimer {
                                deadline: timer.deadline,
                                run: run.clone(),
                                operation: timer.operation,
                            });
                        }
                    }
                }
                Step::End => break,
            }
        }
        Ok(Self {
            begin: reader.begin().clone(),
            counts: reader.counts().clone(),
            programs,
            census,
            partial,
        })
    }
}
