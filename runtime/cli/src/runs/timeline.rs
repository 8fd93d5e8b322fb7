//! A run as a timeline: a line for each thing that it did or was told, with what has become of it.

use std::collections::BTreeMap;

use perennial::history::{
    ActivityFailure, Channel, Decision, ForkedFrom, Migrated, Observation, RecordSource,
    SlotResult, Told, Unit,
};
use perennial::{RunId, RunKey, Timestamp};
use perennial_runtime::control::{Attempts, RunDetails};
use perennial_runtime::store::{AttemptOutcome, Task};
use perennial_runtime::{RunInfo, RunState};
use serde::Serialize;

use super::open::{Open, named};
use super::reference::reference;
use super::text::{count, short, time, value};

/// A run, line by line, and what it waits for.
#[derive(Debug)]
pub(super) struct Timeline {
    pub(super) lines: Vec<Line>,
    /// What it has begun that has not ended, by the numbers of the operations.
    pub(super) open: BTreeMap<u64, Open>,
    /// When the last thing happened.
    pub(super) last: Timestamp,
}

/// A line of a timeline.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) at: Timestamp,
    pub(super) what: String,
    pub(super) said: String,
    /// The operation whose line it is.
    pub(super) operation: Option<u64>,
}

/// What a failure says, without what helps.
fn first(failure: &str) -> String {
    short(failure.split("\n\n").next().unwrap_or_default(), 200)
}

/// An operation, and where its line is.
struct Operation {
    what: Open,
    line: usize,
}

/// What came, and has not been taken.
struct Arrived {
    line: usize,
    at: Timestamp,
    /// The run had no wait for it then.
    early: bool,
    /// What it says.
    said: String,
}

impl Arrived {
    /// Its line, with what has become of it.
    fn said(&self, number: u64, fate: &str) -> String {
        format!("#{number}{fate}  {}", self.said)
    }
}

/// What has become of a message that no wait has taken.
fn not_taken(info: &RunInfo) -> &'static str {
    match (&info.state, info.finished) {
        // The new run may have been told what it says.
        (RunState::Migrated, _) => ", unread",
        (_, Some(_)) => ", unread: nobody took it",
        (_, None) => ", not taken yet",
    }
}

struct Maker<'a> {
    lines: Vec<Line>,
    operations: BTreeMap<u64, Operation>,
    /// By channel and number.
    arrived: BTreeMap<(Channel, u64), Arrived>,
    attempts: BTreeMap<u64, &'a Attempts>,
    last: Timestamp,
    run: &'a RunKey,
    /// Of which run the first units are, where it is a fork.
    forked_from: Option<ForkedFrom>,
}

/// The timeline of a run.
pub(super) fn timeline(units: &[Unit], details: &RunDetails) -> Timeline {
    let attempts = details.attempts.iter();
    let attempts = attempts
        .map(|attempts| (attempts.last.operation, attempts))
        .collect();
    let mut maker = Maker {
        lines: Vec::new(),
        operations: BTreeMap::new(),
        arrived: BTreeMap::new(),
        attempts,
        last: details.info.created,
        run: &details.info.run,
        forked_from: None,
    };
    for unit in units {
        let forked_from = maker.forked_from.as_ref();
        if forked_from.is_some_and(|from| from.last < unit.number) {
            maker.leave();
        }
        maker.observe(unit.at, &unit.observation);
        for decision in &unit.decisions {
            maker.decide(unit.at, decision);
        }
        maker.last = unit.at;
    }
    maker.leave();
    maker.stand(details);
    // What waits in the queue came before some of it.
    maker.lines.sort_by_key(|line| line.at);
    Timeline {
        open: maker
            .operations
            .into_iter()
            .map(|(number, operation)| (number, operation.what))
            .collect(),
        lines: maker.lines,
        last: maker.last,
    }
}

impl Maker<'_> {
    fn put(&mut self, at: Timestamp, what: impl Into<String>, said: impl Into<String>) -> usize {
        let (what, said) = (what.into(), said.into());
        let operation = None;
        self.lines.push(Line {
            at,
            what,
            said,
            operation,
        });
        self.lines.len() - 1
    }

    fn begin(&mut self, at: Timestamp, operation: u64, what: Open, name: String, said: String) {
        let line = self.put(at, name, said);
        self.lines[line].operation = Some(operation);
        self.operations.insert(operation, Operation { what, line });
    }

    /// Another run of the same namespace, as it can be given back.
    fn beside(&self, run: &RunId) -> RunKey {
        RunKey::new(self.run.namespace.clone(), run.clone())
    }

    /// Says on its line how an operation ended.
    fn end(&mut self, operation: u64, said: impl FnOnce(&Operation) -> String) {
        if let Some(ended) = self.operations.remove(&operation) {
            self.lines[ended.line].said = said(&ended);
        }
    }

    /// What was told to the run of which this is a fork, and not taken there, is not this one's.
    fn leave(&mut self) {
        let Some(from) = self.forked_from.take() else {
            return;
        };
        for ((channel, number), arrived) in std::mem::take(&mut self.arrived) {
            if channel == Channel::Message {
                let said = arrived.said(number, "");
                self.lines[arrived.line].said = format!("{said}, left to {}", from.run);
            }
        }
    }

    fn observe(&mut self, at: Timestamp, observation: &Observation) {
        match observation {
            Observation::Started(started) => {
                let from = started.migrated_from.as_ref();
                let mut from = from.map_or(String::new(), |from| {
                    format!(", migrated from {}", self.beside(from))
                });
                if let Some(fork) = started.forked_from.last() {
                    let run = self.beside(&fork.run);
                    from = format!(", forked from {run} after event {}", fork.last);
                    self.forked_from = Some(fork.clone());
                }
                self.put(at, "started", value(&started.input) + &from);
            }
            // How long it took nobody has written down: its stamps are those of what the run was told, which may have
            // waited for the run for a while.
            Observation::ActivityCompleted { operation, result } => {
                let tries = self.tries(*operation, 1);
                self.end(*operation, |_| {
                    format!("ok{tries}, at {}  {}", time(at), value(result))
                });
            }
            Observation::ActivityFailed { operation, failure } => {
                let said = self.failed(*operation, failure);
                self.end(*operation, |_| format!("{said}, at {}", time(at)));
            }
            Observation::StubFulfilled {
                operation,
                value: of,
                ..
            } => {
                let of = value(of);
                self.end(*operation, |_| format!("{of}, at {}", time(at)));
            }
            Observation::SlotFilled { operation, result } => self.filled(*operation, result),
            Observation::UpdateAccepted { name, input, .. } => {
                let said = format!("{}  {}", short(name, 80), value(input));
                self.put(at, "update", said);
            }
            Observation::TimerFired { operation } => self.end(*operation, |_| "over".to_owned()),
            Observation::MessageArrived(told) => self.told(at, Channel::Message, told),
            Observation::SignalArrived(told) => self.told(at, Channel::Signal, told),
            Observation::Migrated(Migrated { to, migration, .. }) => {
                self.put(
                    at,
                    "migrated",
                    format!("to {}, by {}", self.beside(to), short(migration, 80)),
                );
            }
            // Newer software may know more.
            other => {
                self.put(at, kind(other), String::new());
            }
        }
    }

    /// What has become of what the run sent.
    fn filled(&mut self, operation: u64, result: &SlotResult) {
        let Some(ended) = self.operations.remove(&operation) else {
            return;
        };
        let fate = match result {
            SlotResult::Sent(receipt) => format!(", is its #{}", receipt.number),
            SlotResult::NotSent(failure) => {
                format!(", was not sent: {}", first(&failure.to_string()))
            }
            SlotResult::Fulfilled(receipt) if receipt.duplicate => {
                ", which it had been before".to_owned()
            }
            SlotResult::Fulfilled(_) => ", done".to_owned(),
            SlotResult::NotFulfilled(failure) => {
                // Its reference stands on the line, with the namespace.
                let failure = failure.to_string();
                let what = match failure.split_once(' ') {
                    Some((reference, what)) if reference.contains('~') => what,
                    _ => &failure,
                };
                format!(", {}", first(what))
            }
            other => format!(", {}", kind(other)),
        };
        self.lines[ended.line].said += &fate;
    }

    /// How many attempts there were, where there was more than one.
    fn tries(&self, operation: u64, last: u64) -> String {
        let before = self.attempts.get(&operation);
        match before.map_or(0, |attempts| attempts.count) + last {
            0 | 1 => String::new(),
            tries => format!(", {tries} attempts"),
        }
    }

    fn failed(&self, operation: u64, failure: &ActivityFailure) -> String {
        let tries = self.tries(operation, 0);
        match failure {
            ActivityFailure::Rejected { value: why } => {
                format!("rejected {}{}", value(why), self.tries(operation, 1))
            }
            ActivityFailure::RetriesExhausted { last, attempts } => format!(
                "given up after {}: {}",
                count(u64::from(*attempts), "attempt"),
                short(last, 100)
            ),
            ActivityFailure::TimedOut => format!("took too long{tries}"),
            ActivityFailure::Cancelled => format!("cancelled{tries}"),
            ActivityFailure::TooLarge { size, limit } => {
                format!("of {size} bytes, which is more than {limit}{tries}")
            }
            other => kind(other) + &tries,
        }
    }

    /// Something came: before a wait for it, or to one.
    fn told(&mut self, at: Timestamp, channel: Channel, told: &Told) {
        let is_awaited = self.operations.values().any(|operation| {
            matches!(&operation.what, Open::Receive { channel: c, name } if *c == channel && *name == told.name)
        });
        let mut arrived = Arrived {
            line: 0,
            at,
            early: !is_awaited,
            said: value(&told.payload),
        };
        let said = arrived.said(told.number, "");
        arrived.line = self.put(at, named(channel, &told.name), said);
        self.arrived.insert((channel, told.number), arrived);
    }

    fn decide(&mut self, at: Timestamp, decision: &Decision) {
        match decision {
            Decision::ActivityScheduled {
                operation, name, ..
            } => {
                let shown = short(name, 80);
                let name = name.to_string();
                let what = Open::Activity { name };
                self.begin(at, *operation, what, shown, String::new());
            }
            Decision::TimerStarted {
                operation,
                deadline,
                ..
            } => {
                let deadline = *deadline;
                let said = format!("until {}", time(deadline));
                let what = Open::Timer { deadline };
                self.begin(at, *operation, what, "sleep".to_owned(), said);
            }
            Decision::ReceiveStarted {
                operation,
                channel,
                name,
                ..
            } => {
                let said = named(*channel, name);
                let what = Open::Receive {
                    channel: *channel,
                    name: name.to_string(),
                };
                self.begin(at, *operation, what, "waits for".to_owned(), said);
            }
            Decision::StubOffered {
                operation,
                name,
                input,
                ..
            } => {
                let reference = reference(self.run, *operation);
                let said = format!("{reference}  {}", value(input));
                let what = Open::Stub {
                    name: name.to_string(),
                    reference,
                };
                let shown = format!("stub {}", short(name, 80));
                self.begin(at, *operation, what, shown, said);
            }
            Decision::StubInvalid { operation, problem } => {
                let said = format!(
                    "{}: {}",
                    reference(self.run, *operation),
                    short(problem, 200)
                );
                self.put(at, "not of its type", said);
            }
            Decision::Emitted {
                stream,
                number,
                value: of,
                ..
            } => {
                let said = format!("{} #{number}  {}", short(stream, 80), value(of));
                self.put(at, "gives out", said);
            }
            Decision::UpdateAnswered { value: of, .. } => {
                self.put(at, "answers", value(of));
            }
            Decision::SetClosed { name, open, .. } => {
                let said = format!("{}, with {} open", short(name, 80), open.len());
                self.put(at, "set closed", said);
            }
            Decision::SendRequested {
                operation,
                run,
                channel,
                name,
                payload,
                ..
            } => {
                let to = self.beside(run);
                let said = format!("{} to {to}  {}", named(*channel, name), value(payload));
                let what = Open::Send {
                    channel: *channel,
                    name: name.to_string(),
                };
                self.begin(at, *operation, what, "sends".to_owned(), said);
            }
            Decision::FulfilRequested {
                operation,
                reference: fulfils,
                stub,
                value: given,
                ..
            } => {
                let reference = reference(&self.beside(&fulfils.run), fulfils.number);
                let said = format!("{} as {reference}  {}", short(stub, 80), value(given));
                let what = Open::Fulfil {
                    stub: stub.to_string(),
                    reference,
                };
                self.begin(at, *operation, what, "fulfils".to_owned(), said);
            }
            Decision::Received {
                operation,
                channel,
                number,
                invalid,
            } => self.received(at, *operation, *channel, *number, invalid.as_deref()),
            // The others are not the same twice, and tell nobody anything.
            Decision::Recorded {
                source, value: of, ..
            } => {
                if let RecordSource::Named(name) = source {
                    self.put(at, "recorded", format!("{} {}", short(name, 80), value(of)));
                }
            }
            Decision::Marker { id, version, .. } => {
                self.put(at, "marker", format!("{} {version}", short(id, 80)));
            }
            Decision::Dropped { operation } => {
                self.end(*operation, |dropped| match &dropped.what {
                    Open::Activity { .. } => "no longer waited for".to_owned(),
                    Open::Timer { deadline } => {
                        format!("until {}, stopped", time(*deadline))
                    }
                    Open::Stub { reference, .. } | Open::Fulfil { reference, .. } => {
                        format!("{reference}, no longer")
                    }
                    Open::Receive { channel, name } | Open::Send { channel, name } => {
                        format!("{}, no longer", named(*channel, name))
                    }
                })
            }
            Decision::Completed { value: result, .. } => {
                self.put(at, "completed", value(result));
            }
            Decision::Failed { error, .. } => {
                self.put(at, "failed", value(error));
            }
            // Newer software may know more.
            other => {
                self.put(at, kind(other), String::new());
            }
        }
    }

    fn received(
        &mut self,
        at: Timestamp,
        operation: u64,
        channel: Channel,
        number: u64,
        invalid: Option<&str>,
    ) {
        let problem = invalid.map_or(String::new(), |problem| {
            format!(", not of its type: {}", short(problem, 100))
        });
        self.end(operation, |waited| {
            format!("{}, took #{number}{problem}", waited.what.name())
        });
        if let Some(arrived) = self.arrived.remove(&(channel, number)) {
            let early = if arrived.early {
                ", before a wait for it"
            } else {
                ""
            };
            let mut said = arrived.said(number, early);
            if arrived.at < at {
                said += &format!(", taken {}", time(at));
            }
            self.lines[arrived.line].said = said;
        }
    }

    /// What is open, and what waits to be told to it.
    fn stand(&mut self, details: &RunDetails) {
        let tasks: BTreeMap<u64, &Task> = details
            .tasks
            .iter()
            .filter(|task| task.generation == details.info.generation)
            .map(|task| (task.operation, task))
            .collect();
        let offers = details.offers.iter();
        let deadlines: BTreeMap<_, _> = offers
            .filter_map(|offer| Some((offer.reference.number, offer.deadline?)))
            .collect();
        let queue = details.queue.iter();
        let given: BTreeMap<_, _> = queue
            .filter_map(|row| match &row.observation {
                Observation::StubFulfilled {
                    operation, value, ..
                } => Some((*operation, (value, row.at))),
                _ => None,
            })
            .collect();
        for (number, operation) in &self.operations {
            if let Some(deadline) = deadlines.get(number) {
                let line = &mut self.lines[operation.line];
                line.said = format!("{}, until {}", line.said, time(*deadline));
            }
            let said = match (&operation.what, tasks.get(number)) {
                (Open::Activity { .. }, Some(task)) => {
                    self.attempt(task, self.attempts.get(number).copied(), details.at)
                }
                (Open::Activity { .. }, None) => {
                    "has ended, and the run was not told yet".to_owned()
                }
                (Open::Stub { .. }, _) => match given.get(number) {
                    Some((of, at)) => {
                        let (of, at) = (value(of), time(*at));
                        format!("{of}, at {at}, of which the run was not told yet")
                    }
                    None => continue,
                },
                (
                    Open::Timer { .. }
                    | Open::Receive { .. }
                    | Open::Send { .. }
                    | Open::Fulfil { .. },
                    _,
                ) => continue,
            };
            self.lines[operation.line].said = said;
        }
        let ended = details.info.finished.is_some();
        for ((channel, number), arrived) in &self.arrived {
            let fate = match channel {
                Channel::Message => not_taken(&details.info),
                // It is kept for nobody.
                Channel::Signal if arrived.early => ", when nobody waited for it",
                Channel::Signal => "",
            };
            self.lines[arrived.line].said = arrived.said(*number, fate);
        }
        for row in &details.queue {
            let (channel, told, fate) = match &row.observation {
                Observation::MessageArrived(told) => {
                    (Channel::Message, told, not_taken(&details.info))
                }
                Observation::SignalArrived(told) if ended => {
                    (Channel::Signal, told, ", of which the run was not told")
                }
                Observation::SignalArrived(told) => {
                    (Channel::Signal, told, ", of which the run was not told yet")
                }
                // It stands on the line of its operation.
                _ => continue,
            };
            let said = format!("#{}{fate}  {}", told.number, value(&told.payload));
            self.put(row.at, named(channel, &told.name), said);
        }
        if details.more_queue > 0 {
            let more = count(details.more_queue, "row");
            self.put(details.at, "…", format!("and {more} more in the queue"));
        }
    }

    /// How an attempt of an activity stands.
    fn attempt(&self, task: &Task, before: Option<&Attempts>, now: Timestamp) -> String {
        let number = task.attempt;
        let stands = match task.started {
            Some(_) => format!("attempt {number} is under way"),
            None if task.not_before > now => {
                format!("attempt {number} begins {}", time(task.not_before))
            }
            None => format!("attempt {number} is to begin"),
        };
        match before {
            Some(before) => format!(
                "{stands}; the one before: {}",
                outcome(&before.last.outcome)
            ),
            None => stands,
        }
    }
}

pub(super) fn outcome(outcome: &AttemptOutcome) -> String {
    match outcome {
        AttemptOutcome::Failed { error } => short(error, 100),
        AttemptOutcome::Panicked { message } => format!("panicked: {}", short(message, 100)),
        AttemptOutcome::DeadlineExceeded => "took too long".to_owned(),
        AttemptOutcome::Lost => "lost with its process".to_owned(),
        AttemptOutcome::Late { .. } => "came too late".to_owned(),
        other => kind(other),
    }
}

/// What something is that is not known here, by the name that it has as data.
pub(super) fn kind(what: &impl Serialize) -> String {
    let name = match serde_json::to_value(what) {
        Ok(serde_json::Value::Object(members)) => members.into_iter().next().map(|(name, _)| name),
        Ok(serde_json::Value::String(name)) => Some(name),
        _ => None,
    };
    short(&name.unwrap_or_default().replace('_', " "), 80)
}
