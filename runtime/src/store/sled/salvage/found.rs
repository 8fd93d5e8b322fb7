//! What there is of one run, read leniently: what must be there and is not is noted in words.

use std::collections::BTreeMap;

use perennial::history::{Decision, Observation, Unit, decode_unit};
use perennial::wire::RecordError;
use perennial::{RunKey, Timestamp};

use crate::store::sled::keys;
use crate::store::sled::overlay::View;
use crate::store::sled::records::{
    ATTEMPT_VERSION, BLOCKED_VERSION, NUMBER_VERSION, OFFER_VERSION, SEND_VERSION,
    UNIT_VALUE_VERSION, read_attempt, read_blocked, read_number, read_offer, read_row, read_send,
    read_task,
};
use crate::store::sled::run::{Kind, RUN_VERSION, RunRecord};
use crate::store::sled::value;
use crate::store::sled::views;
use crate::store::{AttemptRecord, Head, KeyRecord, Loaded, Offer, StoreError, stream};

/// An error without what there is to do about it: that is being done.
pub(super) fn text(error: &StoreError) -> String {
    match error {
        StoreError::Damaged { place, problem } => format!("{place}: {problem}"),
        error => error.to_string(),
    }
}
/// How far a history can be read.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// The last event before something is missing.
    pub(super) last: u64,
    /// What is missing there.
    pub(super) broken: Option<String>,
    /// It ends as runs do.
    pub(super) ended: bool,
    /// The number of the first item that it has of each stream.
    pub(super) streams: BTreeMap<String, u64>,
}

/// What there is of a run.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) record: Option<RunRecord>,
    /// All that is beside the histories; without a head in it that means something.
    pub(super) beside: Option<Loaded>,
    pub(super) histories: BTreeMap<u64, Reach>,
    pub(super) attempts: BTreeMap<u64, Vec<AttemptRecord>>,
    /// The sends that it knows by their keys, by arrival.
    pub(super) keys: BTreeMap<u64, KeyRecord>,
    /// Its offers, by operation.
    pub(super) offers: BTreeMap<u64, Offer>,
    /// What must be there, and is not.
    pub(super) missing: Vec<String>,
    /// What is lost, and nothing depends on.
    pub(super) lost: Vec<String>,
}

impl Found {
    pub(super) fn read(view: &View<'_>, run: &RunKey) -> Result<Self, StoreError> {
        let mut found = Self::default();
        let place = || format!("the head of run {run}");
        if let Some(stored) = view.get(&RunRecord::key(run))? {
            match value::read(view, &stored, RUN_VERSION, place, RunRecord::read) {
                Ok(record) => found.record = Some(record),
                Err(error) => found.missing.push(text(&error)),
            }
        }
        found.read_histories(view, run)?;
        found.read_attempts(view, run)?;
        if let Some(record) = found.record.clone() {
            found.read_keys(view, run, &record.head)?;
            found.read_offers(view, run, &record.head)?;
            found.read_beside(view, run, record)?;
        }
        Ok(found)
    }

    fn read_histories(&mut self, view: &View<'_>, run: &RunKey) -> Result<(), StoreError> {
        for entry in view.prefix(&keys::all(keys::UNIT, run)) {
            let (key, stored) = entry?;
            let Some((generation, number)) = numbers(&key) else {
                continue;
            };
            let reach = self.histories.entry(generation).or_default();
            if reach.broken.is_some() {
                continue;
            }
            let expected = reach.last + 1;
            if number != expected {
                reach.broken = Some(format!(
                    "event {expected} of generation {generation} is missing; event {number} comes next"
                ));
                continue;
            }
            match unit(view, run, generation, number, &stored) {
                Ok(unit) => {
                    reach.last = unit.last();
                    reach.ended = unit.decisions.iter().any(Decision::is_end);
                    for (name, first) in stream::entries(&unit) {
                        reach.streams.entry(name.to_owned()).or_insert(first);
                    }
                }
                Err(error) => reach.broken = Some(text(&error)),
            }
        }
        Ok(())
    }

    fn read_attempts(&mut self, view: &View<'_>, run: &RunKey) -> Result<(), StoreError> {
        for entry in view.prefix(&keys::all(keys::ATTEMPT, run)) {
            let (key, stored) = entry?;
            let generation = keys::run_and_rest(&key).and_then(|(_, rest)| keys::number(rest));
            let generation = generation.unwrap_or_default();
            let place = || format!("an attempt of generation {generation}");
            match value::read(view, &stored, ATTEMPT_VERSION, place, read_attempt) {
                Ok(attempt) => self.attempts.entry(generation).or_default().push(attempt),
                Err(error) => self.lost.push(text(&error)),
            }
        }
        Ok(())
    }

    /// The records alone: the entries in the order of arrival are made anew.
    fn read_keys(&mut self, view: &View<'_>, run: &RunKey, head: &Head) -> Result<(), StoreError> {
        if head.purged.is_some() {
            return Ok(());
        }
        for entry in view.prefix(&keys::all(keys::SEND, run)) {
            let place = || "the record of an idempotency key".to_owned();
            match value::read(view, &entry?.1, SEND_VERSION, place, read_send) {
                Ok(send) if (head.inbox.keys_after + 1..=head.arrivals).contains(&send.arrival) => {
                    self.keys.insert(send.arrival, send);
                }
                Ok(_) => {}
                Err(error) => self.lost.push(text(&error)),
            }
        }
        let found = self.keys.len() as u64;
        if found != head.inbox.keys {
            self.lost.push(format!(
                "it knew {} idempotency keys, and {found} are left; it takes no keys that old any more",
                head.inbox.keys
            ));
        }
        Ok(())
    }

    /// The records alone: the entries of those that are open are made anew. Of one that is open and lost nobody could
    /// complete the operation, and the run would wait for ever.
    fn read_offers(
        &mut self,
        view: &View<'_>,
        run: &RunKey,
        head: &Head,
    ) -> Result<(), StoreError> {
        if head.purged.is_some() {
            return Ok(());
        }
        for entry in view.prefix(&keys::all(keys::OFFER, run)) {
            let (key, stored) = entry?;
            let operation = keys::last_number(&key).unwrap_or_default();
            let place = || format!("the offer of operation {operation}");
            let read = value::read(view, &stored, OFFER_VERSION, place, |content| {
                let offer = read_offer(content)?;
                if offer.operation == operation {
                    Ok(offer)
                } else {
                    Err(RecordError::Malformed { field: "operation" })
                }
            });
            match read.map(|offer| offer.stood_at(head)) {
                Ok(Some(offer)) if offer.is_kept(head) => {
                    drop(self.offers.insert(operation, offer))
                }
                Ok(_) => {}
                Err(error) => self.lost.push(text(&error)),
            }
        }
        let open = self.offers.values().filter(|offer| offer.is_open()).count() as u64;
        if open != head.inbox.offers {
            self.missing.push(format!(
                "{} of its open offers {}",
                head.inbox.offers.abs_diff(open),
                if open < head.inbox.offers {
                    "are missing"
                } else {
                    "should be closed"
                }
            ));
        }
        Ok(())
    }

    fn read_beside(
        &mut self,
        view: &View<'_>,
        run: &RunKey,
        record: RunRecord,
    ) -> Result<(), StoreError> {
        let missing = &mut self.missing;
        let tasks = things(view, run, &record, Kind::Task, missing, |_, content| {
            read_task(content)
        })?;
        let timers = things(
            view,
            run,
            &record,
            Kind::Timer,
            missing,
            |number, content| Ok((number, Timestamp::from_millis(read_number(content)?))),
        )?;
        let generation = record.head.generation;
        let queue = things(view, run, &record, Kind::Row, missing, |_, content| {
            let row = read_row(content)?;
            is_of(&row.observation, run, generation)?;
            Ok(row)
        })?;
        let mut blocked = Vec::new();
        if record.head.blocked {
            for entry in view.prefix(&keys::all(keys::BLOCKED, run)) {
                let place = || "a blocked record".to_owned();
                match value::read(view, &entry?.1, BLOCKED_VERSION, place, read_blocked) {
                    Ok(record) => blocked.push(record),
                    Err(error) => self.lost.push(text(&error)),
                }
            }
            blocked.sort_by(|one, other| one.artifact.cmp(&other.artifact));
        }
        let mut views = Vec::new();
        for name in &record.head.views {
            match views::record(view, run, name) {
                Ok(record) => views.push(record),
                Err(error) => self.lost.push(text(&error)),
            }
        }
        self.beside = Some(Loaded {
            views,
            tasks,
            timers,
            queue,
            blocked,
            head: record.head,
        });
        Ok(())
    }

    /// What is missing in the histories that a head speaks of, by generation.
    pub(super) fn problems_of_histories(
        &mut self,
        view: &View<'_>,
        run: &RunKey,
        head: &Head,
    ) -> Result<BTreeMap<u64, String>, StoreError> {
        let mut problems = BTreeMap::new();
        for generation in head.kept_from..=head.generation {
            let empty = Reach::default();
            let reach = self.histories.get(&generation).unwrap_or(&empty);
            let expected = if generation == head.generation {
                Some(head.sequence)
            } else {
                end(view, run, generation)?
            };
            let complete = match expected {
                Some(expected) => reach.last >= expected,
                // The record of its end is lost, but it can be seen.
                None => reach.ended && reach.broken.is_none(),
            };
            if !complete {
                let broken = reach.broken.clone().unwrap_or_else(|| {
                    format!(
                        "event {} of generation {generation} is missing; nothing comes after it",
                        reach.last + 1
                    )
                });
                problems.insert(generation, broken);
            } else if generation == head.generation && reach.last > head.sequence {
                self.lost.push(format!(
                    "it has gone on after event {}, but its newer head is lost",
                    head.sequence
                ));
            }
        }
        Ok(problems)
    }
}

/// Generation and number in the key of a unit.
fn numbers(key: &[u8]) -> Option<(u64, u64)> {
    let (_, rest) = keys::run_and_rest(key)?;
    Some((keys::number(rest)?, keys::number(rest.get(8..)?)?))
}

/// Reads a unit, which must be of this run.
pub(super) fn unit(
    view: &View<'_>,
    run: &RunKey,
    generation: u64,
    number: u64,
    stored: &[u8],
) -> Result<Unit, StoreError> {
    let place = || format!("event {number} of generation {generation}");
    value::read(view, stored, UNIT_VALUE_VERSION, place, |record| {
        let unit = decode_unit(record)?;
        if unit.number != number {
            return Err(RecordError::Malformed { field: "number" });
        }
        is_of(&unit.observation, run, generation)?;
        Ok(unit)
    })
}

/// A page of sled's that has lost its newest base may give a record the wrong key. Where one says of which
/// run it is, it is believed.
fn is_of(observation: &Observation, run: &RunKey, generation: u64) -> Result<(), RecordError> {
    match observation {
        Observation::Started(started)
            if (&started.namespace, &started.run, started.generation)
                != (&run.namespace, &run.id, generation) =>
        {
            Err(RecordError::Malformed { field: "run" })
        }
        _ => Ok(()),
    }
}

/// The last event of a generation that others follow, if the record of it can be read.
fn end(view: &View<'_>, run: &RunKey, generation: u64) -> Result<Option<u64>, StoreError> {
    let Some(stored) = view.get(&keys::numbered(keys::END, run, generation))? else {
        return Ok(None);
    };
    let read = value::read(view, &stored, NUMBER_VERSION, String::new, read_number);
    Ok(read.ok())
}

/// The things of a kind that can be read, by number, and what is missing of them.
fn things<T>(
    view: &View<'_>,
    run: &RunKey,
    record: &RunRecord,
    kind: Kind,
    missing: &mut Vec<String>,
    decode: impl Fn(u64, &[u8]) -> Result<T, RecordError>,
) -> Result<Vec<T>, StoreError> {
    let place = |number: u64| format!("{} {number}", kind.name());
    let mut found = BTreeMap::new();
    let things = record.things(kind);
    for (number, content) in &things.beside {
        match decode(*number, content) {
            Ok(thing) => drop(found.insert(*number, thing)),
            Err(problem) => missing.push(format!("{}: {problem}", place(*number))),
        }
    }
    let mut apart = 0;
    for entry in view.prefix(&keys::all(kind.key(), run)) {
        let (key, stored): (_, _) = entry?;
        let number = keys::last_number(&key).unwrap_or_default();
        apart += 1;
        let read = value::read(
            view,
            &stored,
            kind.version(),
            || place(number),
            |content| decode(number, content),
        );
        match read {
            Ok(thing) => drop(found.insert(number, thing)),
            Err(error) => missing.push(text(&error)),
        }
    }
    if apart != things.apart {
        missing.push(format!(
            "{} of its {}s {}",
            things.apart.abs_diff(apart),
            kind.name(),
            if apart < things.apart {
                "are missing"
            } else {
                "should be gone"
            }
        ));
    }
    Ok(found.into_values().collect())
}
