//! One way through a scenario: its processes, one after the other, and where they end.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perennial::RunKey;
use perennial::history::Observation;
use tokio::runtime::Runtime;

use super::super::faults::Fault;
use super::super::faulty::{Fate, FaultyStore};
use super::super::process::Process;
use super::super::time::Time;
use super::super::watch::{Watch, text};
use super::acts::Act;
use super::effects::Effects;
use super::kept::{Kept, Kind};
use super::outcome::Outcome;
use super::outside::Outside;
use super::places::{Call, Place};
use super::scenario::Scenario;
use super::workflows::registry;
use crate::registry::Registry;
use crate::store::Store;

/// How many steps a scenario may need to come to its end.
const PATIENCE: usize = 20_000;

/// By how many milliseconds the clock is set at the end of a process.
const BEHIND: i64 = -10_000;

/// What a scenario has come to.
pub(super) struct Course {
    pub(super) outcome: Outcome,
    /// The calls that its first process made.
    pub(super) calls: Vec<Call>,
}

/// The calls that a process has made, and where it is to end.
#[derive(Default)]
struct Calls {
    made: Vec<Call>,
    stops: VecDeque<Place>,
    /// Those of the first process, once it has ended.
    first: Option<Vec<Call>>,
}

impl Calls {
    /// Where the process is to end, if the next call is there.
    fn stop(&self) -> Option<&Place> {
        let next = self.made.len() + 1;
        self.stops.front().filter(|place| place.call == next)
    }

    /// A call that the process waits for.
    fn at_once(&mut self, what: &str) -> Fate {
        if let Some(place) = self.stop() {
            let done = place.done > 0;
            return Fate::Unknown { done };
        }
        self.made.push(Call::new(what.to_owned(), 1));
        Fate::Done
    }

    fn next_process(&mut self) {
        self.stops.pop_front();
        let made = std::mem::take(&mut self.made);
        self.first.get_or_insert(made);
    }
}

/// A process with what it alone has.
struct Living {
    process: Process,
    tokio: Runtime,
    store: FaultyStore,
}

pub(super) struct World<'a> {
    runs: BTreeSet<RunKey>,
    kind: Kind,
    fault: Option<Fault>,
    kept: Kept,
    calls: Arc<Mutex<Calls>>,
    time: Time,
    effects: Arc<Effects>,
    registry: Registry,
    outside: Outside<'a>,
    watch: Watch,
    living: Option<Living>,
}

impl<'a> World<'a> {
    /// `stops`: where the first process ends, the second one, and so on. After the last of them none does.
    pub(super) fn new(
        scenario: &'a Scenario,
        kind: Kind,
        fault: Option<Fault>,
        stops: &[Place],
    ) -> Result<Self, String> {
        let calls = Calls {
            stops: stops.iter().cloned().collect(),
            ..Calls::default()
        };
        let effects = Arc::default();
        let workflows = scenario.acts.iter().filter_map(Act::workflow);
        Ok(Self {
            registry: registry(workflows, &effects),
            runs: scenario.acts.iter().flat_map(Act::runs).collect(),
            kind,
            fault,
            kept: Kept::new(kind)?,
            calls: Arc::new(Mutex::new(calls)),
            time: Time::new(),
            effects,
            outside: Outside::new(&scenario.acts),
            watch: Watch::default(),
            living: None,
        })
    }

    /// Goes through it to the end.
    pub(super) fn tell(mut self) -> Result<Course, String> {
        for _ in 0..PATIENCE {
            let Some(living) = self.living.take() else {
                self.open()?;
                continue;
            };
            if self.step(living)? {
                return self.end();
            }
        }
        Err("it does not come to an end".into())
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next process. It may end while it opens what is stored.
    fn open(&mut self) -> Result<(), String> {
        let calls = Arc::clone(&self.calls);
        let at_once = Arc::new(move |what: &str| {
            let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
            calls.at_once(what)
        });
        let store = FaultyStore::new(self.kept.open()?, self.fault, at_once);
        self.settle(&store)?;
        let tokio = tokio::runtime::Builder::new_current_thread().build();
        let tokio = tokio.map_err(|error| error.to_string())?;
        let (registry, time) = (self.registry.clone(), self.time.clone());
        let warm = self.kind.warm;
        match Process::open(store.clone(), registry, time, warm, tokio.handle()) {
            Ok(process) => {
                self.living = Some(Living {
                    process,
                    tokio,
                    store,
                });
                Ok(())
            }
            Err(_) if self.calls().stop().is_some() => {
                drop(store);
                self.ended();
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// What is recorded by now is not to be executed again.
    fn settle(&self, store: &dyn Store) -> Result<(), String> {
        for run in &self.runs {
            if store.head(run).map_err(text)?.is_none() {
                continue;
            }
            for unit in store.history(run, 1, 1, usize::MAX).map_err(text)? {
                if let Observation::ActivityCompleted { operation, .. }
                | Observation::ActivityFailed { operation, .. } = unit.observation
                {
                    self.effects.settle(format!("{run}~{operation}"));
                }
            }
        }
        Ok(())
    }

    /// The process is gone. It takes a moment until there is another one, on a machine whose clock is behind.
    fn ended(&mut self) {
        self.kept.let_go();
        self.calls().next_process();
        self.outside.begin_again();
        self.time.pass(1);
        self.time.jump(BEHIND);
    }

    /// One thing happens. Says whether that was all.
    fn step(&mut self, mut living: Living) -> Result<bool, String> {
        let mut is_over = false;
        if living.process.has_failed() {
            self.gone(living);
            return Ok(false);
        }
        if !(living.process.read()
            || work(&living.tokio)
            || self.outside.act(&living.process, &living.store)?)
        {
            self.outside.hear(&living.process)?;
            if living.store.handed_over() > 0 {
                return self.write(living).map(|()| false);
            }
            is_over = self.outside.is_done() && self.have_ended(&living.store)?;
            if !is_over {
                let alarm = living.process.next_alarm();
                let rings = alarm.ok_or("nothing goes on any more, and it has not ended")?;
                self.time.pass(rings.saturating_sub(self.time.passed()));
                living.process.ring();
            }
        }
        self.living = Some(living);
        Ok(is_over)
    }

    /// It is the next call's turn, or the process ends here.
    fn write(&mut self, living: Living) -> Result<(), String> {
        let store = &living.store;
        let handed_over = store.handed_over();
        let stop = self.calls().stop().cloned();
        let (count, fate) = match &stop {
            None => (1, Fate::Done),
            Some(place) if place.unknown => (
                1,
                Fate::Unknown {
                    done: place.done > 0,
                },
            ),
            Some(place) => (place.done, Fate::Unheard),
        };
        for _ in 0..count {
            let what = store.go_on(fate).unwrap_or_default();
            self.calls().made.push(Call::new(what, handed_over));
            self.look(store)?;
        }
        match stop {
            Some(place) if !place.unknown => self.gone(living),
            _ => self.living = Some(living),
        }
        Ok(())
    }

    /// Nothing is left of the process.
    fn gone(&mut self, living: Living) {
        // What is handed over holds what is told of it.
        living.store.forget();
        drop(living);
        self.ended();
    }

    fn look(&mut self, store: &FaultyStore) -> Result<(), String> {
        let mut runs = self.runs.iter();
        runs.try_for_each(|run| self.watch.look(store, run))
    }

    fn have_ended(&self, store: &dyn Store) -> Result<bool, String> {
        for run in &self.runs {
            match store.head(run).map_err(text)? {
                Some(head) if head.blocked => {
                    let records = store.blocked(run).map_err(text)?;
                    return Err(format!("{run} is blocked: {records:?}"));
                }
                Some(head) if head.status.is_finished() => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// What has come of it.
    fn end(self) -> Result<Course, String> {
        let Some(living) = &self.living else {
            return Err("no process is there".into());
        };
        let store = &living.store;
        self.kept.verify()?;
        let outcome = Outcome::of(store, &self.runs, self.effects.lines()?)?;
        let calls = {
            let mut calls = self.calls();
            let made = std::mem::take(&mut calls.made);
            calls.first.take().unwrap_or(made)
        };
        Ok(Course { outcome, calls })
    }
}

/// Activities that are under way go on. Says whether some have ended.
fn work(tokio: &Runtime) -> bool {
    let under_way = || tokio.metrics().num_alive_tasks();
    let before = under_way();
    if before == 0 {
        return false;
    }
    tokio.block_on(async {
        for _ in 0..8 {
            tokio::task::yield_now().await;
        }
    });
    under_way() < before
}
