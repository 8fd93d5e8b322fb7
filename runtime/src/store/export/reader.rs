//! Reading the lines, strictly: what is cut short, changed, out of place or not understood is an error with
//! its line, and what is read is a run that is whole or one that says that it is not.

use std::io::{BufRead, Read as _};

use perennial::RunKey;
use sha2::{Digest as _, Sha256};

use super::error::Unreadable;
use super::format::{Begin, Content, Counts, FORMAT, First, FirstOfAny, Read};
use super::writer::{digits, sum};
use crate::store::{Head, ProgramRecord};

/// The longest line, in bytes: the longest unit, and what it may take to write it as text.
const MAX_LINE: u64 = 128 << 20;

/// Reads an export.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    name: String,
    begin: Begin,
    /// How many lines were read.
    line: u64,
    /// Of all lines that were read.
    digest: Sha256,
    /// The line up to which the checksum is known to fit.
    summed: u64,
    counts: Counts,
    /// The artifact of the last program.
    program: Option<String>,
    open: Option<Open>,
    /// The last run that was begun, and what became of it.
    before: Option<(RunKey, Before)>,
    /// A line that was read and belongs to what comes next.
    pending: Option<Read>,
    buffer: Vec<u8>,
}

/// The run whose lines are read.
#[derive(Debug)]
struct Open {
    run: RunKey,
    counts: Counts,
    /// Of a run that is whole: how far its histories are.
    whole: Option<Whole>,
}

#[derive(Debug)]
struct Whole {
    head: Box<Head>,
    generation: u64,
    /// The number of the next event.
    next: u64,
    /// Lines of histories have begun.
    histories: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Whole,
    Partial,
    Withdrawn,
}

/// What comes next in an export.
#[derive(Debug)]
pub(crate) enum Step {
    /// A program that has had the store open.
    Program(Box<ProgramRecord>),
    /// A line of a run.
    Line(RunKey, Content),
    /// The run is complete.
    Done,
    /// So is the export.
    End,
}

impl<R: BufRead> Reader<R> {
    /// Begins to read. `name` is what errors call it.
    ///
    /// # Errors
    ///
    /// [`Unreadable`]: it is no export, or one of newer software.
    pub fn new(input: R, name: impl Into<String>) -> Result<Self, Unreadable> {
        let begin = Begin {
            format: 0,
            producer: String::new(),
            at: perennial::Timestamp::default(),
        };
        let mut reader = Self {
            input,
            name: name.into(),
            begin,
            line: 0,
            digest: Sha256::new(),
            summed: 0,
            counts: Counts::default(),
            program: None,
            open: None,
            before: None,
            pending: None,
            buffer: Vec::new(),
        };
        let name = || reader.name.clone();
        let not = Unreadable::NotAnExport { name: name() };
        match reader.read_line() {
            Ok(true) => {}
            Err(error @ Unreadable::Io { .. }) => return Err(error),
            Ok(false) | Err(_) => return Err(not),
        }
        let Ok(first) = serde_json::from_slice::<FirstOfAny>(&reader.buffer) else {
            return Err(not);
        };
        let format = first.export.format;
        if format > FORMAT {
            return Err(Unreadable::Newer {
                name: reader.name,
                format,
                understood: FORMAT,
            });
        }
        match serde_json::from_slice::<First>(&reader.buffer) {
            Ok(first) if format > 0 => reader.begin = first.export,
            Ok(_) => return Err(reader.wrong("there is no format 0")),
            Err(error) => return Err(reader.not_understood(&error)),
        }
        reader.digest.update(&reader.buffer);
        Ok(reader)
    }

    /// What the first line says.
    pub fn begin(&self) -> &Begin {
        &self.begin
    }

    /// What was read so far; at the end, what is in the export.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Reads to the end.
    ///
    /// # Errors
    ///
    /// [`Unreadable`].
    pub fn check(&mut self) -> Result<(), Unreadable> {
        while !matches!(self.step()?, Step::End) {}
        Ok(())
    }

    /// Reads on.
    pub(crate) fn step(&mut self) -> Result<Step, Unreadable> {
        let mut read = match self.pending.take() {
            Some(read) => read,
            None => {
                if !self.read_line()? {
                    return Err(self.truncated());
                }
                let read = serde_json::from_slice(&self.buffer);
                read.map_err(|error| self.not_understood(&error))?
            }
        };
        if read.end.is_none() && read.sum.is_none() {
            let step = self.content(read)?;
            self.digest.update(&self.buffer);
            return Ok(step);
        }
        if let Some(open) = self.open.take() {
            self.pending = Some(read);
            return self.close(open);
        }
        if let Some(end) = read.end.take() {
            return self.end(&end, read.sha256.as_deref());
        }
        let step = self.begin_run(read)?;
        self.digest.update(&self.buffer);
        self.summed = self.line;
        Ok(step)
    }

    /// Reads a whole line. `false`: there is none.
    fn read_line(&mut self) -> Result<bool, Unreadable> {
        self.buffer.clear();
        self.buffer.shrink_to(1 << 20);
        let mut limited = (&mut self.input).take(MAX_LINE + 1);
        let read = limited.read_until(b'\n', &mut self.buffer);
        read.map_err(|error| Unreadable::Io {
            name: self.name.clone(),
            error: error.to_string(),
        })?;
        if self.buffer.len() as u64 > MAX_LINE {
            self.line += 1;
            return Err(self.wrong("it is longer than any line of an export"));
        }
        if self.buffer.last() != Some(&b'\n') {
            return Ok(false);
        }
        self.line += 1;
        Ok(true)
    }

    fn begin_run(&mut self, mut read: Read) -> Result<Step, Unreadable> {
        if read.sum.as_deref() != Some(&sum(&self.digest)) {
            return Err(self.changed());
        }
        let Some(run) = read.run.take() else {
            return Err(self.wrong("it does not say of which run it is"));
        };
        let run = run.0;
        let (content, before) = match read.content() {
            Some(content @ Content::Head(_)) => (content, Before::Whole),
            Some(content @ Content::Partial(_)) => (content, Before::Partial),
            _ => return Err(self.wrong("it does not begin a run as lines with a `sum` do")),
        };
        let follows = self.before.as_ref().is_none_or(|(last, state)| {
            *last < run
                || *last == run
                    && (*state == Before::Withdrawn
                        || (*state, before) == (Before::Whole, Before::Partial))
        });
        if !follows {
            return Err(self.wrong(format!("run {run} stands here and before, or out of order")));
        }
        let whole = match &content {
            Content::Head(head) => Some(Whole {
                head: head.clone(),
                generation: head.kept_from,
                next: 1,
                histories: false,
            }),
            _ => None,
        };
        let counts = match &whole {
            Some(Whole { head, .. }) => Counts {
                runs: 1,
                generations: head
                    .generation
                    .saturating_add(1)
                    .saturating_sub(head.kept_from),
                ..Counts::default()
            },
            None => Counts {
                partial: 1,
                ..Counts::default()
            },
        };
        self.before = Some((run.clone(), before));
        self.open = Some(Open {
            run: run.clone(),
            counts,
            whole,
        });
        Ok(Step::Line(run, content))
    }

    /// Programs come before the runs, in the order of their artifacts.
    fn program(&mut self, mut read: Read, program: ProgramRecord) -> Result<Step, Unreadable> {
        if read.run.is_some() || read.content().is_some() {
            return Err(self.wrong("it is of a program and of a run"));
        }
        if self.before.is_some() {
            return Err(self.wrong("it is of a program, and belongs before the runs"));
        }
        if self
            .program
            .as_ref()
            .is_some_and(|last| *last >= program.artifact)
        {
            return Err(self.wrong(format!(
                "program {} stands here and before, or out of order",
                program.artifact.escape_debug()
            )));
        }
        self.program = Some(program.artifact.clone());
        self.counts.programs += 1;
        Ok(Step::Program(Box::new(program)))
    }

    fn content(&mut self, mut read: Read) -> Result<Step, Unreadable> {
        if let Some(program) = read.program.take() {
            return self.program(read, program);
        }
        let Some(mut open) = self.open.take() else {
            return Err(self.wrong("no run has begun that it could belong to"));
        };
        if read.run.as_ref().is_none_or(|run| run.0 != open.run) {
            return Err(self.wrong(format!("it stands among the lines of run {}", open.run)));
        }
        let Some(content) = read.content() else {
            return Err(self.wrong(
                "it is of a kind that is not known here; newer software may have written it",
            ));
        };
        let run = open.run.clone();
        if let Content::Withdrawn = content {
            self.before = Some((run.clone(), Before::Withdrawn));
            self.counts.withdrawn += 1;
            return Ok(Step::Line(run, content));
        }
        if let Some(whole) = &mut open.whole
            && let Err(problem) = whole.follow(&content)
        {
            return Err(self.wrong(problem));
        }
        open.count(&content);
        self.open = Some(open);
        Ok(Step::Line(run, content))
    }

    fn close(&mut self, open: Open) -> Result<Step, Unreadable> {
        if let Some(problem) = open.whole.as_ref().and_then(Whole::missing) {
            // It is seen in the line after its last one.
            return Err(self.wrong(format!("run {} ends before it: {problem}", open.run)));
        }
        self.counts.add(&open.counts);
        Ok(Step::Done)
    }

    fn end(&mut self, end: &Counts, sha256: Option<&str>) -> Result<Step, Unreadable> {
        if sha256 != Some(&digits(self.digest.clone())) {
            return Err(self.changed());
        }
        self.counts.lines = self.line - 1;
        if *end != self.counts {
            return Err(self.wrong("it counts other lines than there are"));
        }
        let rest = self.input.fill_buf().map(|rest| !rest.is_empty());
        match rest {
            Ok(false) => Ok(Step::End),
            Ok(true) => {
                self.line += 1;
                Err(self.wrong("something follows after the last line"))
            }
            Err(error) => Err(Unreadable::Io {
                name: self.name.clone(),
                error: error.to_string(),
            }),
        }
    }

    fn wrong(&self, problem: impl Into<String>) -> Unreadable {
        Unreadable::Line {
            name: self.name.clone(),
            line: self.line,
            problem: problem.into(),
        }
    }

    fn not_understood(&self, error: &serde_json::Error) -> Unreadable {
        let text = error.to_string();
        let text = text
            .rsplit_once(" at line ")
            .map_or(&text[..], |(text, _)| text);
        self.wrong(match error.column() {
            0 => text.to_owned(),
            column => format!("byte {column}: {text}"),
        })
    }

    /// Somewhere between the last checksum that fitted and this one.
    fn changed(&self) -> Unreadable {
        Unreadable::Changed {
            name: self.name.clone(),
            from: self.summed.max(1),
            to: self.line,
        }
    }

    fn truncated(&self) -> Unreadable {
        Unreadable::Truncated {
            name: self.name.clone(),
            lines: self.line,
        }
    }
}

impl Open {
    fn count(&mut self, content: &Content) {
        if self.whole.is_none() {
            return;
        }
        let counts = &mut self.counts;
        match content {
            Content::Task(_) => counts.tasks += 1,
            Content::Timer(_) => counts.timers += 1,
            Content::Row(_) => counts.rows += 1,
            Content::Blocked(_) => counts.blocked += 1,
            Content::View(_) => counts.views += 1,
            Content::Key(_) => counts.keys += 1,
            Content::Offer(_) => counts.offers += 1,
            Content::Unit(_, unit) => {
                counts.units += 1;
                counts.events += unit.decisions.len() as u64 + 1;
            }
            Content::Attempt(..) => counts.attempts += 1,
            Content::Head(_) | Content::Partial(_) | Content::Withdrawn => {}
        }
    }
}

impl Whole {
    /// Whether a line may come here.
    fn follow(&mut self, content: &Content) -> Result<(), String> {
        match content {
            Content::Unit(generation, unit) => {
                self.reach(*generation)?;
                if unit.number != self.next {
                    return Err(format!(
                        "event {} of generation {generation} stands where event {} belongs",
                        unit.number, self.next
                    ));
                }
                self.next = unit.last().saturating_add(1);
            }
            Content::Attempt(generation, _) => self.reach(*generation)?,
            _ if self.histories => {
                return Err("it belongs before the history of its run".into());
            }
            _ => {}
        }
        Ok(())
    }

    fn reach(&mut self, generation: u64) -> Result<(), String> {
        self.histories = true;
        let next = self.generation.saturating_add(1);
        if generation == next && self.next > 1 {
            (self.generation, self.next) = (generation, 1);
        }
        if generation != self.generation || generation > self.head.generation {
            return Err(format!(
                "it is of generation {generation}, which does not belong here"
            ));
        }
        Ok(())
    }

    /// What is missing at the end of its lines.
    fn missing(&self) -> Option<String> {
        let Self {
            head,
            generation,
            next,
            ..
        } = self;
        let (generation, events) = (*generation, next - 1);
        let last = head.generation;
        let begun = events > 0 && generation.checked_add(1) == Some(last) && head.sequence == 0;
        let complete =
            head.kept_from > last || begun || (generation, events) == (last, head.sequence);
        (!complete).then(|| {
            format!(
                "its history goes to event {events} of generation {generation}, but its head says {} of {last}",
                head.sequence
            )
        })
    }
}
