//! What is written to a store, run by run and step by step: the same each time, so that the state that a run
//! has to be in after so many steps can be had from a store in memory. Now and then the run is moved to a new one,
//! which the steps after that go on with. A peer of it is told something by some of its commits: both are as after so
//! many steps, or neither.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::mpsc::channel;

use perennial::history::{Decision, Migrated, Observation, RecordSource, Told, Unit};
use perennial::value::Value;
use perennial::{ActivityOptions, Class, RunKey, Timestamp};
use perennial_runtime::store::{
    Ack, Changes, Commit, Create, Deliver, Fence, KeyRecord, Loaded, MemoryStore, Migrate, Offer,
    OfferChange, Owner, SendKey, Slot, SlotEffect, Store, StoreError, Task, TaskChange,
    TimerChange,
};

/// One write.
pub(crate) enum Step {
    Create(Box<Create>),
    Commit(Box<Commit>),
    Deliver(Box<Deliver>),
    Migrate(Box<Migrate>),
}

impl Step {
    /// Hands it over; `ack` is called when it is answered.
    pub(crate) fn hand_over(self, store: &dyn Store, ack: Ack<()>) {
        match self {
            Self::Create(create) => {
                store.create(*create, Box::new(|made| ack(made.map(drop))));
            }
            Self::Commit(commit) => {
                store.commit(*commit, Box::new(|made| ack(made.map(drop))));
            }
            Self::Deliver(deliver) => {
                store.deliver(*deliver, Box::new(|arrival| ack(arrival.map(drop))));
            }
            Self::Migrate(migrate) => {
                store.migrate(*migrate, Box::new(|made| ack(made.map(drop))));
            }
        }
    }

    pub(crate) fn wait(self, store: &dyn Store) -> Result<(), StoreError> {
        let (answer, answered) = channel();
        self.hand_over(store, Box::new(move |result| drop(answer.send(result))));
        answered.recv().unwrap()
    }
}

/// The writes of one run, and of those that it is moved to.
pub(crate) struct Script {
    /// The run that the steps are of now.
    pub(crate) run: RunKey,
    /// Those that it was before.
    moved: Vec<RunKey>,
    /// The run that it tells something.
    peer: RunKey,
    next: u64,
    sequence: u64,
    arrivals: u64,
    rows: Vec<u64>,
    timers: BTreeMap<u64, Timestamp>,
    /// The last operation that waits for somebody outside.
    offered: Option<u64>,
}

/// The run of a script that was moved so often.
fn key(run: usize, moves: usize) -> RunKey {
    let id = match moves {
        0 => format!("run-{run}"),
        moves => format!("run-{run}-{moves}"),
    };
    RunKey::new("default".parse().unwrap(), id.parse().unwrap())
}

fn peer(run: usize) -> RunKey {
    RunKey::new(
        "default".parse().unwrap(),
        format!("peer-{run}").parse().unwrap(),
    )
}

fn text(bytes: usize, letter: u64) -> Value {
    let letter = char::from(b'a' + u8::try_from(letter % 26).unwrap());
    Value::from_json(format!("\"{}\"", String::from(letter).repeat(bytes))).unwrap()
}

impl Script {
    pub(crate) fn new(run: usize) -> Self {
        Self {
            run: key(run, 0),
            moved: Vec::new(),
            peer: peer(run),
            next: 0,
            sequence: 0,
            arrivals: 0,
            rows: Vec::new(),
            timers: BTreeMap::new(),
            offered: None,
        }
    }

    /// All runs that it has been, and is, and its peer.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &RunKey> {
        self.moved.iter().chain([&self.run, &self.peer])
    }

    /// How many steps there were.
    pub(crate) fn steps(&self) -> u64 {
        self.next
    }

    /// Goes on until the history of this run, which it is now, has this event. `false`: it has it already.
    pub(crate) fn go_to(&mut self, run: &RunKey, sequence: u64) -> bool {
        let before = self.next;
        while self.run == *run && self.sequence < sequence {
            self.next();
        }
        self.next > before
    }

    pub(crate) fn next(&mut self) -> Step {
        let step = self.next;
        self.next += 1;
        match step {
            0 | 1 => Step::Create(Box::new(Create {
                run: [&self.run, &self.peer][usize::from(step == 1)].clone(),
                workflow: "order".into(),
                input: Value::null().digest(),
                after: None,
                owner: Owner(1),
                changes: Changes::default(),
                keys: Vec::new(),
            })),
            step if step % 23 == 22 => self.migrate(step),
            step if step % 4 == 3 => {
                self.arrivals += 1;
                self.rows.push(self.arrivals);
                Step::Deliver(Box::new(self.deliver(step)))
            }
            step => self.commit(step),
        }
    }

    /// A result, a message with a key, or a value for an offer.
    fn deliver(&mut self, step: u64) -> Deliver {
        let bytes = if step % 5 == 2 { 9_000 } else { 20 };
        let (payload, at) = (text(bytes, step), Timestamp::from_millis(step));
        let name = (step % 8 == 7).then(|| format!("key-{step}"));
        let key = name.clone().map(|key| SendKey {
            key,
            at,
            digest: payload.digest(),
        });
        let observation = match name {
            Some(_) => Observation::MessageArrived(Told {
                number: 0,
                name: "approval".into(),
                payload,
                key: name,
            }),
            None => match self.offered.take() {
                Some(operation) => Observation::StubFulfilled {
                    operation,
                    value: payload,
                    key: None,
                },
                None => Observation::ActivityCompleted {
                    operation: step,
                    result: payload,
                },
            },
        };
        Deliver {
            run: self.run.clone(),
            observation,
            at,
            tasks: Vec::new(),
            key,
            stub: None,
        }
    }

    fn commit(&mut self, step: u64) -> Step {
        let bytes = match step {
            _ if step % 67 == 8 => 50_000,
            _ if step % 5 == 1 => 7_000,
            _ => 100,
        };
        let number = self.sequence + 1;
        let decision = |letter| Decision::Recorded {
            source: RecordSource::Named("text".into()),
            value: text(bytes, letter),
            site: None,
        };
        let unit = Unit {
            number,
            at: Timestamp::from_millis(step),
            observation: Observation::TimerFired { operation: step },
            decisions: (0..step % 3).map(decision).collect(),
        };
        let sequence = std::mem::replace(&mut self.sequence, unit.last());
        let slots = if step % 4 == 2 {
            self.slots(step)
        } else {
            Vec::new()
        };
        let taken = if step % 8 == 5 {
            std::mem::take(&mut self.rows)
        } else {
            Vec::new()
        };
        Step::Commit(Box::new(Commit {
            run: self.run.clone(),
            fence: Fence(1),
            generation: 1,
            sequence,
            changes: Changes {
                units: vec![unit],
                taken,
                slots,
                tasks: vec![task(step), TaskChange::Remove(step.saturating_sub(6))],
                timers: self.timers(step),
                offers: self.offers(step, number),
                stamp: Timestamp::from_millis(step),
                next_operation: Some(step + 1),
                ..Changes::default()
            },
        }))
    }

    /// The peer is told something, and now and then the run itself, and nobody.
    fn slots(&mut self, step: u64) -> Vec<Slot> {
        let mut targets = vec![self.peer.id.clone()];
        if step % 8 == 2 {
            targets.extend([self.run.id.clone(), "nobody".parse().unwrap()]);
        }
        let bytes = if step % 5 == 2 { 9_000 } else { 20 };
        let slots = (0..).zip(targets).map(|(place, run)| {
            // What it comes to, and before that what it has told itself.
            let rows = 1 + u64::from(run == self.run.id);
            self.rows.extend(self.arrivals + 1..=self.arrivals + rows);
            self.arrivals += rows;
            Slot {
                operation: 1_000 * step + place,
                at: Timestamp::from_millis(step),
                effect: SlotEffect::Send {
                    run,
                    observation: Observation::MessageArrived(Told {
                        number: 0,
                        name: "approval".into(),
                        payload: text(bytes, step),
                        key: None,
                    }),
                },
            }
        });
        slots.collect()
    }

    /// One is made by each second commit, and an older one is dropped, whether somebody has given it a value or not.
    fn offers(&mut self, step: u64, unit: u64) -> Vec<OfferChange> {
        if step % 2 == 1 {
            return Vec::new();
        }
        self.offered = Some(step);
        let open = OfferChange::Open {
            operation: step,
            unit,
            name: "review".into(),
            at: Timestamp::from_millis(step),
        };
        let close = OfferChange::Close {
            operation: step.saturating_sub(8),
        };
        vec![open, close]
    }

    /// One is put, and one from before is removed.
    fn timers(&mut self, step: u64) -> Vec<TimerChange> {
        let deadline = Timestamp::from_millis(1_000 + step * 7 % 100);
        self.timers.insert(step, deadline);
        let put = TimerChange::Put {
            operation: step,
            deadline,
        };
        let before = step.saturating_sub(4);
        let remove = self.timers.remove(&before).map(|deadline| {
            let operation = before;
            TimerChange::Remove {
                operation,
                deadline,
            }
        });
        std::iter::once(put).chain(remove).collect()
    }

    /// The run ends, with its timers and its queue; what is under way of its tasks goes on. The new one has a row.
    fn migrate(&mut self, step: u64) -> Step {
        let moves = self.moved.len() + 1;
        let to = format!("{}-{moves}", self.moved.first().unwrap_or(&self.run).id);
        let to = RunKey::new(self.run.namespace.clone(), to.parse().unwrap());
        let old = std::mem::replace(&mut self.run, to.clone());
        self.moved.push(old.clone());
        let sequence = std::mem::take(&mut self.sequence);
        let timers = std::mem::take(&mut self.timers).into_iter();
        let at = Timestamp::from_millis(step);
        let unit = Unit {
            number: sequence + 1,
            at,
            observation: Observation::Migrated(Migrated {
                to: to.id.clone(),
                workflow: "order_v2".into(),
                migration: "to_v2".into(),
                artifact: "one".into(),
                kept: Vec::new(),
                stopped: Vec::new(),
                unstarted: None,
            }),
            decisions: Vec::new(),
        };
        let end = Changes {
            units: vec![unit],
            taken: std::mem::replace(&mut self.rows, vec![1]),
            timers: timers
                .map(|(operation, deadline)| TimerChange::Remove {
                    operation,
                    deadline,
                })
                .collect(),
            tasks: vec![TaskChange::Remove(step - 1)],
            stamp: at,
            ..Changes::default()
        };
        self.arrivals = 1;
        self.offered = None;
        let row = Observation::ActivityCompleted {
            operation: step,
            result: text(9_000, step),
        };
        Step::Migrate(Box::new(Migrate {
            end: Commit {
                run: old,
                fence: Fence(1),
                generation: 1,
                sequence,
                changes: end,
            },
            to: to.id,
            workflow: "order_v2".into(),
            input: text(20, step).digest(),
            owner: Owner(1),
            begin: Changes {
                enqueue: vec![row],
                stamp: at,
                ..Changes::default()
            },
        }))
    }
}

fn task(step: u64) -> TaskChange {
    TaskChange::Put(Task {
        operation: step,
        unit: 1,
        name: "charge".into(),
        options: ActivityOptions::new(Class::Idempotent),
        attempt: 1,
        generation: 1,
        lost: 0,
        started: None,
        not_before: Timestamp::from_millis(1),
        scheduled: Timestamp::from_millis(1),
        last_failure: None,
    })
}

/// All that a store shows of a run.
type ShownRun = (Loaded, Vec<KeyRecord>, Vec<Offer>, Vec<Unit>);

fn shown(store: &dyn Store, run: &RunKey) -> Result<Option<ShownRun>, StoreError> {
    let Some(loaded) = store.load(run)? else {
        return Ok(None);
    };
    let keys = store.keys(run, 0, usize::MAX)?;
    let offers = store.offers(run, 0, usize::MAX)?;
    let units = store.history(run, 1, 1, usize::MAX)?;
    Ok(Some((loaded, keys, offers, units)))
}

/// All that a store shows of the runs of a script: its peer, if that is there, and then the first one first, up to one
/// that is not there.
fn shown_all(store: &dyn Store, run: usize) -> Result<Vec<ShownRun>, StoreError> {
    let peer = shown(store, &peer(run)).transpose().into_iter();
    let runs = (0..).map(|moves| shown(store, &key(run, moves)).transpose());
    peer.chain(runs.map_while(|shown| shown)).collect()
}

/// Looks whether the run, with those that it was moved to, is as it has to be after so many steps, and gives its
/// script there.
pub(crate) fn find(
    store: &dyn Store,
    run: usize,
    steps: RangeInclusive<u64>,
) -> Result<Script, String> {
    let memory = MemoryStore::new();
    let mut script = Script::new(run);
    let found = shown_all(store, run).map_err(|error| error.to_string())?;
    let last = found.last().map(|(loaded, ..)| loaded);
    while script.steps() <= *steps.end() {
        // A long history is not looked at for each of its steps.
        if steps.contains(&script.steps())
            && memory.load(&script.run).unwrap().as_ref() == last
            && shown_all(&memory, run).unwrap() == found
        {
            return Ok(script);
        }
        script.next().wait(&memory).unwrap();
    }
    let told = match found.last() {
        None => "it is not there".into(),
        Some((loaded, keys, offers, units)) => {
            let (sequence, rows) = (loaded.head.sequence, loaded.queue.len());
            let others = found.len() - 1;
            let (units, keys, offers) = (units.len(), keys.len(), offers.len());
            format!(
                "{others} others, event {sequence}, {units} units, {rows} rows, {keys} keys, {offers} offers"
            )
        }
    };
    Err(format!(
        "{} is not as after {steps:?} steps: {told}",
        key(run, 0)
    ))
}
