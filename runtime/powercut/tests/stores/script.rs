//! What is written to a store, run by run and step by step: the same each time, so that the state that a run
//! has to be in after so many steps can be had from a store in memory.

use std::ops::RangeInclusive;
use std::sync::mpsc::channel;

use perennial::history::{Decision, Observation, RecordSource, Told, Unit};
use perennial::value::Value;
use perennial::{ActivityOptions, Class, RunKey, Timestamp};
use perennial_runtime::store::{
    Ack, Changes, Commit, Create, Deliver, Fence, KeyRecord, Loaded, MemoryStore, Owner, SendKey,
    Store, StoreError, Task, TaskChange, TimerChange,
};

/// One write.
pub(crate) enum Step {
    Create(Box<Create>),
    Commit(Box<Commit>),
    Deliver(Box<Deliver>),
}

impl Step {
    /// Hands it over; `ack` is called when it is answered.
    pub(crate) fn hand_over(self, store: &dyn Store, ack: Ack<()>) {
        match self {
            Self::Create(create) => {
                store.create(*create, Box::new(|made| ack(made.map(drop))));
            }
            Self::Commit(commit) => store.commit(*commit, ack),
            Self::Deliver(deliver) => {
                store.deliver(*deliver, Box::new(|arrival| ack(arrival.map(drop))));
            }
        }
    }

    pub(crate) fn wait(self, store: &dyn Store) -> Result<(), StoreError> {
        let (answer, answered) = channel();
        self.hand_over(store, Box::new(move |result| drop(answer.send(result))));
        answered.recv().unwrap()
    }
}

/// The writes of one run.
pub(crate) struct Script {
    pub(crate) run: RunKey,
    next: u64,
    sequence: u64,
    arrivals: u64,
    rows: Vec<u64>,
}

fn text(bytes: usize, letter: u64) -> Value {
    let letter = char::from(b'a' + u8::try_from(letter % 26).unwrap());
    Value::from_json(format!("\"{}\"", String::from(letter).repeat(bytes))).unwrap()
}

impl Script {
    pub(crate) fn new(run: usize) -> Self {
        Self {
            run: RunKey::new(
                "default".parse().unwrap(),
                format!("run-{run}").parse().unwrap(),
            ),
            next: 0,
            sequence: 0,
            arrivals: 0,
            rows: Vec::new(),
        }
    }

    /// How many steps there were.
    pub(crate) fn steps(&self) -> u64 {
        self.next
    }

    /// Goes on until the history has this event. `false`: it has it already.
    pub(crate) fn go_to(&mut self, sequence: u64) -> bool {
        let before = self.next;
        while self.sequence < sequence {
            self.next();
        }
        self.next > before
    }

    pub(crate) fn next(&mut self) -> Step {
        let step = self.next;
        self.next += 1;
        match step {
            0 => Step::Create(Box::new(Create {
                run: self.run.clone(),
                workflow: "order".into(),
                input: Value::null().digest(),
                after: None,
                owner: Owner(1),
                changes: Changes::default(),
            })),
            step if step % 4 == 3 => {
                self.arrivals += 1;
                self.rows.push(self.arrivals);
                Step::Deliver(Box::new(self.deliver(step)))
            }
            step => self.commit(step),
        }
    }

    /// A result, or a message with a key.
    fn deliver(&self, step: u64) -> Deliver {
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
            None => Observation::ActivityCompleted {
                operation: step,
                result: payload,
            },
        };
        Deliver {
            run: self.run.clone(),
            observation,
            at,
            tasks: Vec::new(),
            key,
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
                tasks: vec![task(step), TaskChange::Remove(step.saturating_sub(6))],
                timers: timers(step),
                stamp: Timestamp::from_millis(step),
                next_operation: Some(step + 1),
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

/// One is put, and one from before is removed.
fn timers(step: u64) -> Vec<TimerChange> {
    let deadline = |step| Timestamp::from_millis(1_000 + step * 7 % 100);
    let put = TimerChange::Put {
        operation: step,
        deadline: deadline(step),
    };
    let before = step
        .checked_sub(4)
        .filter(|before| *before > 0 && before % 4 != 3);
    let remove = before.map(|operation| TimerChange::Remove {
        operation,
        deadline: deadline(operation),
    });
    std::iter::once(put).chain(remove).collect()
}

/// All that a store shows of a run.
pub(crate) type Shown = Option<(Loaded, Vec<KeyRecord>, Vec<Unit>)>;

pub(crate) fn shown(store: &dyn Store, run: &RunKey) -> Result<Shown, StoreError> {
    let Some(loaded) = store.load(run)? else {
        return Ok(None);
    };
    let keys = store.keys(run, 0, usize::MAX)?;
    let units = store.history(run, 1, 1, usize::MAX)?;
    Ok(Some((loaded, keys, units)))
}

/// Looks whether the run is as it has to be after so many steps, and gives its script there.
pub(crate) fn find(
    store: &dyn Store,
    run: usize,
    steps: RangeInclusive<u64>,
) -> Result<Script, String> {
    let memory = MemoryStore::new();
    let mut script = Script::new(run);
    let found = shown(store, &script.run).map_err(|error| error.to_string())?;
    let loaded = found.as_ref().map(|(loaded, _, _)| loaded);
    while script.steps() <= *steps.end() {
        // A long history is not looked at for each of its steps.
        if steps.contains(&script.steps())
            && memory.load(&script.run).unwrap().as_ref() == loaded
            && shown(&memory, &script.run).unwrap() == found
        {
            return Ok(script);
        }
        script.next().wait(&memory).unwrap();
    }
    let told = match &found {
        None => "it is not there".into(),
        Some((loaded, keys, units)) => {
            let (sequence, rows) = (loaded.head.sequence, loaded.queue.len());
            let (units, keys) = (units.len(), keys.len());
            format!("event {sequence}, {units} units, {rows} rows, {keys} keys")
        }
    };
    Err(format!(
        "{} is not as after {steps:?} steps: {told}",
        script.run
    ))
}
