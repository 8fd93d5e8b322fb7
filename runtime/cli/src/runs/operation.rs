//! One operation of a run: what it is, how it stands, and the events that are about it.

use std::collections::BTreeMap;

use perennial::Timestamp;
use perennial::history::{Decision, Observation, Unit};
use perennial_runtime::OfferInfo;
use perennial_runtime::control::{Attempts, RunDetails};
use perennial_runtime::store::Task;
use serde::Serialize;
use serde_json::value::RawValue;

use super::inert::line;
use super::reference::reference;
use super::text::{count, table, time};
use super::timeline::{Timeline, kind, outcome};

/// An operation, as data.
#[derive(Debug, Serialize)]
pub(super) struct Operation<'a> {
    reference: String,
    /// Whether it has no result, and the run waits for one.
    open: bool,
    events: Vec<Event<'a>>,
    /// What is to be told to the run, and was not yet.
    queue: Vec<Queued<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a Task>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<&'a Attempts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offer: Option<&'a OfferInfo>,
}

/// An event of the history.
#[derive(Debug, Serialize)]
struct Event<'a> {
    event: u64,
    at: Timestamp,
    #[serde(flatten)]
    what: What<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum What<'a> {
    Observation(&'a Observation),
    Decision(&'a Decision),
}

/// A row of the queue.
#[derive(Debug, Serialize)]
struct Queued<'a> {
    at: Timestamp,
    observation: &'a Observation,
}

/// An operation that the history does not have, with the numbers that it has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotThere {
    pub(super) numbers: Option<(u64, u64)>,
}

impl<'a> Operation<'a> {
    pub(super) fn find(
        units: &'a [Unit],
        details: &'a RunDetails,
        timeline: &Timeline,
        number: u64,
    ) -> Result<Self, NotThere> {
        let mut events: Vec<_> = each(units)
            .filter(|event| event.what.operation() == Some(number))
            .collect();
        if events.is_empty() {
            let numbers = each(units).filter_map(|event| event.what.operation());
            let numbers = numbers.fold(None, |range, number| match range {
                None => Some((number, number)),
                Some((first, last)) => Some((number.min(first), number.max(last))),
            });
            return Err(NotThere { numbers });
        }
        // What it took came in an event of its own.
        let took = events.iter().find_map(|event| match event.what {
            What::Decision(Decision::Received {
                channel, number, ..
            }) => Some((*channel, *number)),
            _ => None,
        });
        if let Some(took) = took {
            events.extend(each(units).filter(|event| event.what.told() == Some(took)));
            events.sort_by_key(|event| event.event);
        }
        let queue = details.queue.iter();
        let queue = queue.filter(|row| row.observation.operation() == Some(number));
        let generation = details.info.generation;
        let tasks = &details.tasks;
        Ok(Self {
            reference: reference(&details.info.run, number),
            open: timeline.open.contains_key(&number) && details.info.finished.is_none(),
            events,
            queue: queue
                .map(|row| Queued {
                    at: row.at,
                    observation: &row.observation,
                })
                .collect(),
            task: tasks
                .iter()
                .find(|task| task.generation == generation && task.operation == number),
            attempts: details
                .attempts
                .iter()
                .find(|attempts| attempts.last.operation == number),
            offer: details
                .offers
                .iter()
                .find(|offer| offer.reference.number == number),
        })
    }

    /// For people.
    pub(super) fn text(&self, details: &RunDetails, timeline: &Timeline, number: u64) -> String {
        let info = &details.info;
        let stands = match (self.open, timeline.open.contains_key(&number)) {
            (true, _) if !self.queue.is_empty() => "over, and the run was not told yet",
            (true, _) => "open",
            (false, true) => "open when its run ended",
            (false, false) => "over",
        };
        let mut text = format!("{} · {} · {stands}\n", self.reference, line(&info.workflow));
        let lines = timeline.lines.iter();
        let lines = lines.filter(|line| line.operation == Some(number));
        let rows: Vec<_> = lines
            .map(|line| {
                vec![
                    format!("  {}", time(line.at)),
                    line.what.clone(),
                    line.said.clone(),
                ]
            })
            .collect();
        text += &table(&rows);
        let mut rows: Vec<_> = self.events.iter().map(Event::row).collect();
        rows.extend(self.queue.iter().map(|row| {
            let members = members(row.observation);
            vec![
                "  queue".to_owned(),
                time(row.at),
                kind(row.observation),
                members,
            ]
        }));
        if let Some(Attempts {
            count: tries, last, ..
        }) = self.attempts
        {
            let tries = count(*tries, "attempt");
            let said = format!("the last: {}", outcome(&last.outcome));
            let kind = "without a result".to_owned();
            rows.push(vec![format!("  {tries}"), time(last.at), kind, said]);
        }
        text + &table(&rows)
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }
}

fn each(units: &[Unit]) -> impl Iterator<Item = Event<'_>> {
    units.iter().flat_map(|unit| {
        let observation = Event {
            event: unit.number,
            at: unit.at,
            what: What::Observation(&unit.observation),
        };
        let decisions = (unit.number + 1..).zip(&unit.decisions);
        let decisions = decisions.map(|(event, decision)| Event {
            event,
            at: unit.at,
            what: What::Decision(decision),
        });
        std::iter::once(observation).chain(decisions)
    })
}

impl What<'_> {
    fn operation(&self) -> Option<u64> {
        match self {
            Self::Observation(observation) => observation.operation(),
            Self::Decision(decision) => decision.operation(),
        }
    }

    /// Which message or signal came.
    fn told(&self) -> Option<(perennial::history::Channel, u64)> {
        use perennial::history::Channel;
        match self {
            Self::Observation(Observation::MessageArrived(told)) => {
                Some((Channel::Message, told.number))
            }
            Self::Observation(Observation::SignalArrived(told)) => {
                Some((Channel::Signal, told.number))
            }
            _ => None,
        }
    }
}

impl Event<'_> {
    fn row(&self) -> Vec<String> {
        let (kind, members) = match self.what {
            What::Observation(observation) => (kind(observation), members(observation)),
            What::Decision(decision) => (kind(decision), members(decision)),
        };
        let members = match &self.what {
            What::Decision(decision) => members + &place(decision),
            What::Observation(_) => members,
        };
        vec![
            format!("  event {}", self.event),
            time(self.at),
            kind,
            members,
        ]
    }
}

/// Where in the source it was decided.
fn place(decision: &Decision) -> String {
    decision.site().map_or(String::new(), |site| {
        let (file, line, function) = (&site.file, site.line, &site.function);
        format!("  {}:{line} {}", self::line(file), self::line(function))
    })
}

/// What an event has beside the number of its operation, as it is kept.
fn members(what: &impl Serialize) -> String {
    let members = || -> Option<String> {
        let json = serde_json::to_string(what).ok()?;
        let kinds: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&json).ok()?;
        let members = kinds.into_values().next()?;
        let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(members.get()).ok()?;
        let shown = |name: &str| !matches!(name, "operation" | "site");
        let members = members.iter().filter(|(name, _)| shown(name));
        let members = members.map(|(name, value)| format!("{} {}", line(name), line(value.get())));
        Some(members.collect::<Vec<_>>().join(", "))
    };
    members().unwrap_or_default()
}
