//! What is stored before it is damaged: long histories, large values, every kind of record. Each write goes
//! into the store and into one in memory, which keeps what was acknowledged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use perennial::history::{Decision, Observation, RecordSource, Told, Unit};
use perennial::value::Value;
use perennial::{ActivityOptions, Class, OperationId, RunKey, Timestamp};
use perennial_runtime::store::sled::Options;
use perennial_runtime::store::{
    Ack, AttemptOutcome, AttemptRecord, BlockedChange, BlockedRecord, Changes, Commit, Create,
    Created, Deliver, Durability, Head, Keep, MemoryStore, OfferChange, Owner, Progress, Purge,
    Refusal, SendKey, SledStore, Slot, SlotEffect, Status, Store, StoreError, Task, TaskChange,
    TimerChange, ViewChange, ViewRecord,
};

use crate::support::seeded::Seeded;

/// Small segments, so that there are many of them, and sled is busy all the time. What is flipped here needs
/// no device.
pub(crate) fn options() -> Options {
    SledStore::options()
        .durability(Durability::Os)
        .segment(96 << 10)
        .gather(200 << 10)
}

pub(crate) struct Story {
    folder: PathBuf,
    store: SledStore,
    pub(crate) model: MemoryStore,
    owner: Owner,
    runs: BTreeMap<RunKey, Known>,
    chance: Seeded,
}

/// What is known of a run.
struct Known {
    head: Head,
    tasks: Vec<u64>,
    timers: Vec<(u64, Timestamp)>,
    rows: Vec<u64>,
    operation: u64,
}

fn wait<T: Send + 'static>(write: impl FnOnce(Ack<T>)) -> Result<T, StoreError> {
    let (answer, answered) = channel();
    write(Box::new(move |result| drop(answer.send(result))));
    answered.recv().unwrap()
}

fn open(folder: &Path) -> SledStore {
    options()
        .open(folder)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn at(milliseconds: u64) -> Timestamp {
    Timestamp::from_millis(milliseconds)
}

fn key(number: u64) -> RunKey {
    let namespace = if number.is_multiple_of(5) {
        "other"
    } else {
        "default"
    };
    RunKey::new(
        namespace.parse().unwrap(),
        format!("order-{number}").parse().unwrap(),
    )
}

impl Story {
    pub(crate) fn begin(folder: &Path, seed: u64) -> Self {
        let (store, model) = (open(folder), MemoryStore::new());
        let owner = store.enroll().unwrap();
        assert_eq!(model.enroll().unwrap(), owner);
        Self {
            folder: folder.into(),
            store,
            model,
            owner,
            runs: BTreeMap::new(),
            chance: Seeded::new(seed),
        }
    }

    /// Closes the store and opens it again.
    pub(crate) fn reopen(self) -> Self {
        let Self { folder, store, .. } = self;
        store.close().unwrap();
        drop(store);
        let store = open(&folder);
        Self {
            folder,
            store,
            ..self
        }
    }

    pub(crate) fn close(self) {
        self.store.close().unwrap();
    }

    /// Writes so many times.
    pub(crate) fn go_on(&mut self, writes: u64) {
        for _ in 0..writes {
            let known = self.runs.len() as u64;
            let new = known < 3 || (known < 60 && self.chance.percent(8));
            if new {
                self.create(key(known), None);
                continue;
            }
            // Some are written to all the time, and some hardly ever again.
            let number = self.chance.within(0..known);
            let run = key(self.chance.within(0..number + 1));
            let head = &self.runs[&run].head;
            if head.status.is_finished() {
                let generation = head.generation;
                if self.chance.percent(30) && self.runs[&run].tasks.is_empty() {
                    self.purge(&run);
                } else {
                    self.create(run, Some(generation));
                }
            } else if self.chance.percent(12) {
                self.deliver(&run);
            } else if self.chance.percent(4) {
                self.claim(&run);
            } else {
                self.commit(&run);
            }
        }
    }

    fn create(&mut self, run: RunKey, after: Option<u64>) {
        let create = Create {
            run: run.clone(),
            workflow: "order".into(),
            input: Value::null().digest(),
            after,
            owner: self.owner,
            changes: Changes {
                units: vec![unit(1, 1, 200)],
                stamp: at(1),
                ..Changes::default()
            },
            keys: Vec::new(),
        };
        let created = wait(|ack| self.store.create(create.clone(), ack)).unwrap();
        assert_eq!(wait(|ack| self.model.create(create, ack)).unwrap(), created);
        let Created::New(head, _) = created else {
            panic!("{run} is there already")
        };
        let known = self.runs.entry(run).or_insert_with(|| Known {
            head: head.clone(),
            tasks: Vec::new(),
            timers: Vec::new(),
            rows: Vec::new(),
            operation: 0,
        });
        known.head = head;
    }

    /// Takes a finished run away. Its head stays, so it can begin anew.
    fn purge(&mut self, run: &RunKey) {
        let known = self.runs.get_mut(run).unwrap();
        let purge = Purge {
            run: run.clone(),
            generation: known.head.generation,
            sequence: known.head.sequence,
            keep: Keep::Head,
            at: at(6),
            limit: 20,
        };
        // How much goes in a slice is each store's own.
        while wait(|ack| self.store.purge(purge.clone(), ack)).unwrap() == Progress::More {}
        while wait(|ack| self.model.purge(purge.clone(), ack)).unwrap() == Progress::More {}
        (known.timers, known.rows) = (Vec::new(), Vec::new());
    }

    fn claim(&mut self, run: &RunKey) {
        let head = wait(|ack| self.store.claim(run.clone(), self.owner, ack)).unwrap();
        let same = wait(|ack| self.model.claim(run.clone(), self.owner, ack)).unwrap();
        assert_eq!(head, same);
        self.runs.get_mut(run).unwrap().head = head;
    }

    fn deliver(&mut self, run: &RunKey) {
        let bytes = self.chance.weighted(&[(8, 40), (2, 3_000), (1, 30_000)]);
        // Some keys come again, and with something else.
        let name = format!("key-{}", self.chance.within(0..40));
        let is_message = self.chance.percent(50);
        let is_value = !is_message && self.chance.percent(50);
        let result = value(bytes);
        let key = is_message.then(|| SendKey {
            key: name.clone(),
            at: at(2),
            digest: result.digest(),
        });
        let observation = if is_message {
            Observation::MessageArrived(Told {
                number: 0,
                name: "approval".into(),
                payload: result,
                key: Some(name),
            })
        } else if is_value {
            // For an offer, mostly; some have a value or were dropped.
            let last = self.runs[run].operation;
            Observation::StubFulfilled {
                operation: self.chance.within(0..last + 1),
                value: result,
                key: None,
            }
        } else {
            Observation::ActivityCompleted {
                operation: 1,
                result,
            }
        };
        let deliver = Deliver {
            run: run.clone(),
            observation,
            at: at(2),
            tasks: Vec::new(),
            key,
            stub: None,
        };
        let arrival = wait(|ack| self.store.deliver(deliver.clone(), ack));
        let same = wait(|ack| self.model.deliver(deliver, ack));
        assert_eq!(arrival, same);
        match arrival {
            Ok(arrival) if !arrival.duplicate => {
                self.runs.get_mut(run).unwrap().rows.push(arrival.arrival);
            }
            Ok(_) | Err(StoreError::Refused(Refusal::KeyConflict { .. })) => {}
            Err(StoreError::Refused(_)) if is_value => {}
            Err(error) => panic!("{error}"),
        }
    }

    fn commit(&mut self, run: &RunKey) {
        let to = key(self.chance.within(0..self.runs.len() as u64));
        let known = self.runs.get_mut(run).unwrap();
        let chance = &mut self.chance;
        let mut changes = Changes {
            stamp: at(3),
            ..Changes::default()
        };
        let mut sequence = known.head.sequence;
        let mut emitted = BTreeMap::new();
        for _ in 0..chance.weighted(&[(6, 1), (2, 3), (1, 0)]) {
            let bytes = chance.weighted(&[(60, 60), (8, 4_000), (2, 40_000), (1, 200_000)]);
            let mut unit = unit(sequence + 1, chance.within(0..3), bytes);
            if chance.percent(30) {
                let stream = *chance.one(&["output", "notes"]);
                let last = known.head.streams.iter().find(|known| known.name == stream);
                let last = emitted
                    .entry(stream)
                    .or_insert_with(|| last.map_or(0, |known| known.last));
                for _ in 0..chance.weighted(&[(4, 1_u64), (1, 3)]) {
                    *last += 1;
                    let bytes = chance.weighted(&[(9, 30), (1, 5_000)]);
                    unit.decisions.push(item(stream, *last, bytes));
                }
            }
            sequence = unit.last();
            changes.units.push(unit);
        }
        if chance.percent(50) {
            known.operation += 1;
            known.tasks.push(known.operation);
            let size = chance.weighted(&[(9, 10), (1, 3_000)]);
            changes
                .tasks
                .push(TaskChange::Put(task(known.operation, size)));
        }
        if known.tasks.len() > 4 {
            changes
                .tasks
                .push(TaskChange::Remove(known.tasks.remove(0)));
        }
        if chance.percent(20) {
            known.operation += 1;
            let deadline = at(chance.within(1_000..900_000));
            known.timers.push((known.operation, deadline));
            changes.timers.push(TimerChange::Put {
                operation: known.operation,
                deadline,
            });
        }
        if chance.percent(30) {
            known.operation += 1;
            changes.offers.push(OfferChange::Open {
                operation: known.operation,
                unit: known.head.sequence + 1,
                name: "review".into(),
                at: at(3),
            });
            if chance.percent(30) {
                let operation = chance.within(0..known.operation + 1);
                changes.offers.push(OfferChange::Close { operation });
            }
        }
        if chance.percent(15) {
            changes.views.push(ViewChange::Put(ViewRecord {
                name: (*chance.one(&["status", "total"])).into(),
                value: value(chance.weighted(&[(9, 20), (1, 4_000)])),
                data: "String".into(),
                artifact: "first".into(),
                at: at(3),
                event: sequence,
            }));
        }
        if chance.percent(15) {
            known.operation += 1;
            let to = to.id.clone();
            let effect = if chance.percent(50) {
                SlotEffect::Send {
                    run: to,
                    observation: Observation::MessageArrived(Told {
                        number: 0,
                        name: "approval".into(),
                        payload: value(40),
                        key: None,
                    }),
                }
            } else {
                SlotEffect::Fulfil {
                    reference: OperationId {
                        run: to,
                        number: chance.within(0..30),
                    },
                    stub: "review".into(),
                    value: value(40),
                }
            };
            changes.slots.push(Slot {
                operation: known.operation,
                at: at(3),
                effect,
            });
        }
        if known.timers.len() > 3 {
            let (operation, deadline) = known.timers.remove(0);
            changes.timers.push(TimerChange::Remove {
                operation,
                deadline,
            });
        }
        if !known.rows.is_empty() && chance.percent(30) {
            changes.taken.push(known.rows.remove(0));
        }
        if chance.percent(10) {
            changes.attempts.push(AttemptRecord {
                operation: known.operation,
                attempt: 1,
                outcome: AttemptOutcome::Failed {
                    error: "it is busy".into(),
                },
                at: at(4),
            });
        }
        if chance.percent(3) {
            changes.blocked = Some(BlockedChange::Put(BlockedRecord {
                artifact: "first".into(),
                unfit: chance.percent(50),
                code: "H202".into(),
                text: "it does not fit".repeat(20),
                details: Value::null(),
                at: at(5),
            }));
        } else if known.head.blocked && chance.percent(30) {
            changes.blocked = Some(BlockedChange::Clear);
        }
        if chance.percent(2) {
            changes.status = Some(Status::Completed);
            let open = std::mem::take(&mut known.tasks);
            changes
                .tasks
                .extend(open.into_iter().map(TaskChange::Remove));
        }
        let commit = Commit {
            run: run.clone(),
            fence: known.head.fence,
            generation: known.head.generation,
            sequence: known.head.sequence,
            changes,
        };
        let committed = wait(|ack| self.store.commit(commit.clone(), ack)).unwrap();
        let same = wait(|ack| self.model.commit(commit, ack)).unwrap();
        assert_eq!(committed, same);
        known.head = self.model.load(run).unwrap().unwrap().head;
    }
}

fn value(bytes: usize) -> Value {
    Value::from_json(format!("\"{}\"", "x".repeat(bytes))).unwrap()
}

/// A unit of so many decisions, the first of which has a value of so many bytes.
fn unit(number: u64, decisions: u64, bytes: usize) -> Unit {
    let recorded = |index| Decision::Recorded {
        source: RecordSource::Named(format!("value-{number}-{index}")),
        value: value(if index == 0 { bytes } else { 10 }),
        site: None,
    };
    Unit {
        number,
        at: at(number),
        observation: Observation::TimerFired { operation: number },
        decisions: (0..decisions).map(recorded).collect(),
    }
}

fn item(stream: &'static str, number: u64, bytes: usize) -> Decision {
    Decision::Emitted {
        stream: stream.into(),
        number,
        value: value(bytes),
        site: None,
    }
}

fn task(operation: u64, bytes: usize) -> Task {
    Task {
        operation,
        generation: 1,
        unit: 1,
        name: "charge".into(),
        options: ActivityOptions::new(Class::Idempotent),
        attempt: 1,
        lost: 0,
        started: None,
        not_before: at(1),
        scheduled: at(1),
        last_failure: Some("y".repeat(bytes)),
    }
}
