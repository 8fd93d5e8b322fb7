//! The text of a history, as snapshots and people read it: an event a line, decisions indented under the
//! observation that led to them. Without options it is stable: no times, no ids, no lines of source, the
//! members of objects sorted.

use std::collections::HashMap;

use super::layout::{self, Shown};
use super::site;
use crate::history::{
    ActivityFailure, Channel, Close, Decision, Migrated, Observation, OpenOperation, RecordSource,
    SlotResult, Started, Told, Unit,
};
use crate::{FulfilFailure, Receipt, RunEnd, SendFailure};

/// What the text of a history shows.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Render {
    /// The stamp of each unit, and the deadlines of timers.
    pub times: bool,
    /// `file:line:column` in place of the file alone.
    pub lines: bool,
    /// No numbers of events, and operations numbered among those of their name (`charge_card#2`): a step more
    /// does not change the lines after it.
    pub unnumbered: bool,
    /// Operations have the numbers that their [references](crate::OperationId) have, which are counted on over the
    /// generations of a run, and not those that are counted from the generation's first.
    pub references: bool,
}

/// The column at which call sites begin, where the text before is not longer.
const SITE_COLUMN: usize = 64;

/// The text of `units`.
///
/// A line is an event: its number, what it is, the operation and its name, the input, result or error, and
/// the file and function that decided it. Values of more than 100 characters stand below, broken into their
/// parts; of one that has more than 100 lines even so, the first 100 and a digest of the whole.
#[must_use]
pub fn render(units: &[Unit], options: Render) -> String {
    let mut text = Text {
        options,
        width: units.last().map_or(1, Unit::last).to_string().len().max(2),
        first_operation: 1,
        names: HashMap::new(),
        count: HashMap::new(),
        out: String::new(),
    };
    for unit in units {
        text.unit(unit);
    }
    text.out
}

struct Text {
    options: Render,
    /// Of the numbers of events.
    width: usize,
    first_operation: u64,
    /// Of operations, since completions show what completed.
    names: HashMap<u64, String>,
    /// How many operations of a name there were.
    count: HashMap<String, u64>,
    out: String,
}

/// An event: what it is, its value, what else there is to say.
struct Line {
    what: String,
    value: Option<Shown>,
    more: String,
}

impl Line {
    fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            value: None,
            more: String::new(),
        }
    }

    fn value(self, value: Shown) -> Self {
        Self {
            value: Some(value),
            ..self
        }
    }

    fn more(self, more: String) -> Self {
        Self { more, ..self }
    }
}

/// Why something was not sent, without times: the run's id stands where it was to be sent.
fn why(failure: &SendFailure) -> String {
    match failure {
        SendFailure::RunNotFound { .. } => "there is no such run".to_owned(),
        SendFailure::RunFinished { end, .. } => match end {
            RunEnd::Completed => "the run has completed".to_owned(),
            RunEnd::Failed => "the run has failed".to_owned(),
            RunEnd::Migrated { to } => format!("the run was migrated to {to}"),
        },
        SendFailure::InboxFull { .. } => "its inbox is full".to_owned(),
        SendFailure::NoSuchMessage { workflow, .. } => {
            format!("`{}` waits for no such thing", workflow.escape_debug())
        }
        SendFailure::Conflict { .. } => "it has got another one from here".to_owned(),
        SendFailure::Unreadable { problem, .. } => {
            format!("it cannot be read: {}", problem.escape_debug())
        }
        SendFailure::TooLarge { size, limit } => format!("{size} bytes of at most {limit}"),
    }
}

/// The same of an offer that was not fulfilled.
fn why_not_fulfilled(failure: &FulfilFailure) -> String {
    match failure {
        FulfilFailure::RunNotFound { .. } => "there is no such run".to_owned(),
        FulfilFailure::Purged { .. } => "the run was purged".to_owned(),
        FulfilFailure::NoSuchOperation { .. } => "the run has not come to it".to_owned(),
        FulfilFailure::NotAStub { .. } => "it is not a stub".to_owned(),
        FulfilFailure::OtherStub { is, .. } => format!("it is `{}`", is.escape_debug()),
        FulfilFailure::Conflict { .. } => "it has another value".to_owned(),
        FulfilFailure::Closed { end, .. } => match end {
            Some(RunEnd::Completed) => "the run has completed".to_owned(),
            Some(RunEnd::Failed) => "the run has failed".to_owned(),
            Some(RunEnd::Migrated { to }) => format!("the run was migrated to {to}"),
            None => "it is closed".to_owned(),
        },
        FulfilFailure::Unreadable { problem, .. } => {
            format!("it cannot be read: {}", problem.escape_debug())
        }
        FulfilFailure::TooLarge { size, limit } => format!("{size} bytes of at most {limit}"),
    }
}

impl Text {
    fn unit(&mut self, unit: &Unit) {
        if let Observation::Started(started) = &unit.observation {
            self.first_operation = started.first_operation;
        }
        let mut line = self.observation(&unit.observation);
        if self.options.times {
            line.more += &format!("   {}", unit.at);
        }
        self.line(unit.number, line, None);
        for (at, decision) in (1..).zip(&unit.decisions) {
            let line = self.decision(decision);
            let place = decision
                .site()
                .map(|place| site::show(place, self.options.lines));
            self.line(unit.number.saturating_add(at), line, place);
        }
    }

    fn observation(&self, observation: &Observation) -> Line {
        match observation {
            Observation::Started(Started {
                workflow, input, ..
            }) => Line::new(format!("started      {}", workflow.escape_debug()))
                .value(layout::value(input)),
            Observation::ActivityCompleted { operation, result } => {
                Line::new(format!("completed    {}", self.operation(*operation)))
                    .value(layout::value(result))
            }
            Observation::ActivityFailed { operation, failure } => {
                let what = format!("failed       {}", self.operation(*operation));
                match failure {
                    ActivityFailure::Rejected { value } => {
                        Line::new(format!("{what} rejected")).value(layout::value(value))
                    }
                    ActivityFailure::RetriesExhausted { last, attempts } => {
                        Line::new(format!("{what} retries exhausted after {attempts}:"))
                            .value(layout::text(last))
                    }
                    ActivityFailure::TimedOut => Line::new(format!("{what} timed out")),
                    ActivityFailure::Cancelled => Line::new(format!("{what} cancelled")),
                    ActivityFailure::TooLarge { size, limit } => {
                        Line::new(format!("{what} too large: {size} bytes of at most {limit}"))
                    }
                }
            }
            Observation::TimerFired { operation } => {
                Line::new(format!("fired        {}", self.known(*operation, "sleep")))
            }
            Observation::SlotFilled { operation, result } => self.filled(*operation, result),
            Observation::MessageArrived(told) => self.told("message", told),
            Observation::SignalArrived(told) => self.told("signal", told),
            Observation::StubFulfilled {
                operation, value, ..
            } => Line::new(format!("fulfilled    {}", self.operation(*operation)))
                .value(layout::value(value)),
            Observation::UpdateAccepted { name, input, .. } => {
                Line::new(format!("update       {}", name.escape_debug()))
                    .value(layout::value(input))
            }
            Observation::Migrated(migrated) => self.migrated(migrated),
        }
    }

    fn told(&self, kind: &str, told: &Told) -> Line {
        let Told {
            number,
            name,
            payload,
            ..
        } = told;
        let name = name.escape_debug();
        Line::new(match self.options.unnumbered {
            true => format!("{kind:<12} {name}"),
            false => format!("{kind:<12} #{number} {name}"),
        })
        .value(layout::value(payload))
    }

    /// Without the new run's id: ids are not the same in two tests.
    fn migrated(&self, migrated: &Migrated) -> Line {
        let Migrated {
            workflow,
            migration,
            kept,
            stopped,
            unstarted,
            ..
        } = migrated;
        let line = Line::new(format!(
            "migrated     to {} by {}",
            workflow.escape_debug(),
            migration.escape_debug()
        ));
        let mut more = self.left(kept);
        if !stopped.is_empty() {
            let list: Vec<_> = stopped
                .iter()
                .map(|timer| self.known(*timer, "sleep"))
                .collect();
            more += &format!("   stopped: {}", list.join(", "));
        }
        match unstarted {
            Some(started) => line
                .value(layout::value(&started.input))
                .more(format!("{more}   not begun")),
            None => line.more(more),
        }
    }

    fn decision(&mut self, decision: &Decision) -> Line {
        match decision {
            Decision::ActivityScheduled {
                operation,
                name,
                input,
                ..
            } => {
                self.begin(*operation, name);
                Line::new(format!("  activity   {}", self.operation(*operation)))
                    .value(layout::value(input))
            }
            Decision::TimerStarted {
                operation,
                deadline,
                ..
            } => {
                self.begin(*operation, "sleep");
                let line = Line::new(match self.options.unnumbered {
                    true => format!("  {}", self.operation(*operation)),
                    false => format!("  sleep      {}", self.number(*operation)),
                });
                if self.options.times {
                    line.more(format!("   until {deadline}"))
                } else {
                    line
                }
            }
            Decision::Recorded { source, value, .. } => match source {
                // Not the same twice, so not in a text that is.
                RecordSource::Random => Line::new("  random"),
                RecordSource::Uuid => Line::new("  uuid"),
                RecordSource::Named(name) => {
                    Line::new(format!("  recorded   {}", name.escape_debug()))
                        .value(layout::value(value))
                }
            },
            Decision::Emitted {
                stream,
                number,
                value,
                ..
            } => {
                let stream = stream.escape_debug();
                Line::new(match self.options.unnumbered {
                    true => format!("  emitted    {stream}"),
                    false => format!("  emitted    {stream} #{number}"),
                })
                .value(layout::value(value))
            }
            Decision::UpdateAnswered { value, .. } => {
                Line::new("  answered   ").value(layout::value(value))
            }
            Decision::Marker { id, version, .. } => {
                Line::new(format!("  marker     {} {version}", id.escape_debug()))
            }
            Decision::ReceiveStarted {
                operation,
                channel,
                name,
                ..
            } => {
                self.begin(*operation, name);
                let what = match channel {
                    Channel::Message => "receive",
                    Channel::Signal => "wait for",
                };
                Line::new(format!("  {what:<10} {}", self.operation(*operation)))
            }
            Decision::SendRequested {
                operation,
                run,
                channel,
                name,
                payload,
                ..
            } => {
                self.begin(*operation, name);
                let what = match channel {
                    Channel::Message => "send",
                    Channel::Signal => "signal",
                };
                let what = format!("  {what:<10} {}", self.operation(*operation));
                Line::new(format!("{what} to {run}")).value(layout::value(payload))
            }
            Decision::FulfilRequested {
                operation,
                reference,
                stub,
                value,
                ..
            } => {
                self.begin(*operation, stub);
                let what = format!("  fulfil     {}", self.operation(*operation));
                // Numbers of operations count what else the other run does.
                Line::new(match self.options.unnumbered {
                    true => format!("{what} of {}", reference.run),
                    false => format!("{what} as {reference}"),
                })
                .value(layout::value(value))
            }
            Decision::Received {
                operation,
                number,
                invalid,
                ..
            } => {
                let took = format!("  took       {}", self.operation(*operation));
                let line = Line::new(match self.options.unnumbered {
                    true => took,
                    false => format!("{took} #{number}"),
                });
                match invalid {
                    Some(problem) => line.more(format!("   invalid: {}", problem.escape_debug())),
                    None => line,
                }
            }
            Decision::StubOffered {
                operation,
                name,
                input,
                ..
            } => {
                self.begin(*operation, name);
                Line::new(format!("  stub       {}", self.operation(*operation)))
                    .value(layout::value(input))
            }
            Decision::StubInvalid { operation, problem } => {
                Line::new(format!("  invalid    {}", self.operation(*operation)))
                    .more(format!("   {}", problem.escape_debug()))
            }
            Decision::SetClosed { name, close, open } => {
                let numbers: Vec<_> = open.iter().map(|member| format!("#{member}")).collect();
                let how = match close {
                    Close::Drop => "drops",
                    Close::Detach => "lets go on",
                };
                Line::new(format!(
                    "  closed     {}   {how} {}",
                    name.escape_debug(),
                    numbers.join(", ")
                ))
            }
            Decision::Dropped { operation } => {
                Line::new(format!("  dropped    {}", self.operation(*operation)))
            }
            Decision::Completed { value, open } => Line::new("completed   ")
                .value(layout::value(value))
                .more(self.left(open)),
            Decision::Failed { error, open } => Line::new("failed      ")
                .value(layout::value(error))
                .more(self.left(open)),
        }
    }

    fn filled(&self, operation: u64, result: &SlotResult) -> Line {
        let operation = self.operation(operation);
        let receipt = |word: &str, receipt: &Receipt| {
            let done = format!("{word:<12} {operation}");
            Line::new(match self.options.unnumbered {
                true => done,
                false => format!("{done} #{}", receipt.number),
            })
            .more(match receipt.duplicate {
                true => "   a duplicate".to_owned(),
                false => String::new(),
            })
        };
        match result {
            SlotResult::Sent(sent) => receipt("sent", sent),
            SlotResult::Fulfilled(fulfilled) => receipt("delivered", fulfilled),
            SlotResult::NotFulfilled(failure) => Line::new(format!("refused      {operation}"))
                .more(format!("   {}", why_not_fulfilled(failure))),
            SlotResult::NotSent(failure) => {
                Line::new(format!("not sent     {operation}")).more(format!("   {}", why(failure)))
            }
        }
    }

    fn begin(&mut self, operation: u64, name: &str) {
        let name = name.escape_debug().to_string();
        let count = self.count.entry(name.clone()).or_default();
        *count += 1;
        let name = match (self.options.unnumbered, *count) {
            (true, 2..) => format!("{name}#{count}"),
            _ => name,
        };
        self.names.insert(operation, name);
    }

    /// An operation: its number, counted from the generation's first, and its name.
    fn operation(&self, operation: u64) -> String {
        self.known(operation, "?")
    }

    /// An operation that is called `otherwise` where its beginning is not among the units.
    fn known(&self, operation: u64, otherwise: &str) -> String {
        let name = self.names.get(&operation).map_or(otherwise, |name| name);
        if self.options.unnumbered {
            name.to_owned()
        } else {
            format!("{} {name}", self.number(operation))
        }
    }

    fn number(&self, operation: u64) -> String {
        if self.options.references {
            return format!("~{operation}");
        }
        let number = operation
            .saturating_sub(self.first_operation)
            .saturating_add(1);
        format!("~{number}")
    }

    fn left(&self, open: &[OpenOperation]) -> String {
        if open.is_empty() {
            return String::new();
        }
        let list: Vec<_> = open
            .iter()
            .map(|left| match self.options.unnumbered {
                true => self.operation(left.operation),
                false => format!(
                    "{} {}",
                    self.number(left.operation),
                    left.name.escape_debug()
                ),
            })
            .collect();
        format!("   left open: {}", list.join(", "))
    }

    fn line(&mut self, number: u64, line: Line, place: Option<String>) {
        let Line { what, value, more } = line;
        let (beside, below) = match value {
            None => (String::new(), Vec::new()),
            Some(Shown::Short(value)) => (format!(" {value}"), Vec::new()),
            Some(Shown::Long(lines)) => (String::new(), lines),
        };
        let (number, indent) = match self.options.unnumbered {
            true => (String::new(), 8),
            false => (format!("{number:>0$} ", self.width), self.width + 8),
        };
        let mut text = format!("{number}{what}{beside}{more}");
        if let Some(place) = place {
            text = format!("{text:<SITE_COLUMN$} {place}");
        }
        self.out += text.trim_end();
        self.out.push('\n');
        for line in below {
            self.out += &format!("{:indent$}{line}\n", "");
        }
    }
}
