//! The driver of a test: runs, a virtual clock, and what is to happen when.
//!
//! It does what a runtime does, on one thread and with a clock that moves only when the test lets it. Due
//! timers come before what else arrives at that moment (S2). Code of the test's (mocks) runs while nothing here is
//! borrowed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use super::attempts::{Task, Tasks};
use super::draws::draws;
use super::failure::{MarkerNotAsked, NotMocked, TestFailure, TouchedIn, Waiting, place};
use super::mock::MockState;
use super::real::BlockOn;
use super::replay::{Recording, Replayed, changed, watched};
use super::report::Report;
use super::sandbox::World;
use super::slots::Slots;
use super::suggest::closest;
use crate::history::{Channel, Decision, Observation, SEMANTICS, Started, TEST_ARTIFACT, Told};
use crate::machine::{Machine, Pins, Step, Verdict};
use crate::value::Value;
use crate::{
    ActivityDefinition, AttemptEnd, Blocked, Namespace, Receipt, RunId, RunKey, States, Timestamp,
    WorkflowDefinition,
};

/// What the parts of a test share.
pub(super) type Shared = Rc<RefCell<Driver>>;

pub(super) struct Driver {
    pub(super) now: Timestamp,
    pub(super) seed: u64,
    pub(super) strict: bool,
    /// Why nothing is replayed.
    pub(super) not_replayed: Option<String>,
    /// Whether waiting for a result moves the clock.
    pub(super) auto_advance: bool,
    /// Whether the clock is being moved for somebody who waits for a result.
    pub(super) hurrying: bool,
    pub(super) runs: Vec<TestedRun>,
    pub(super) activities: BTreeMap<&'static str, Answering>,
    /// All mocks, those that were replaced too.
    pub(super) mocks: Vec<Rc<MockState>>,
    pub(super) states: Arc<States>,
    pub(super) block_on: Option<Rc<RefCell<BlockOn>>>,
    /// What happens when, besides timers; what was put in first comes first.
    agenda: BTreeMap<(Timestamp, u64), Due>,
    sequence: u64,
    replays: u64,
    pub(super) slots: Slots,
    /// The versions that markers get.
    pub(super) pins: Rc<Pins>,
    pub(super) failure: Option<TestFailure>,
}

/// How an activity is answered for.
#[derive(Clone)]
pub(super) enum Answering {
    /// By the test.
    Mock(Rc<MockState>),
    /// By its own code.
    Real(ActivityDefinition),
}

/// Something that happens at its time.
pub(super) struct Due {
    pub(super) run: usize,
    pub(super) operation: u64,
    /// `None`: an attempt begins. Otherwise it ends.
    pub(super) end: Option<AttemptReport>,
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) enum AttemptReport {
    /// By itself.
    Ended(AttemptEnd),
    /// It took longer than it may.
    DeadlineExceeded,
}

/// What a run is told, with its stamp.
pub(super) struct Input {
    pub(super) at: Timestamp,
    pub(super) observation: Observation,
}

/// A run of a test.
pub(super) struct TestedRun {
    pub(super) key: RunKey,
    machine: Option<Machine>,
    pub(super) recording: Recording,
    /// What has come and was not told: messages that nothing waits for, mostly.
    pub(super) inputs: VecDeque<Input>,
    /// What its slots came to, which it is told before all else.
    filled: VecDeque<Input>,
    /// How many of its slots have not come to anything yet: it is told nothing meanwhile.
    pub(super) slots: usize,
    /// How many messages and signals have come, and values for its offers from runs.
    pub(super) told: u64,
    /// The run is asked for a change next: all that has come is told before.
    pub(super) is_asked: bool,
    /// What runs were told that have fulfilled its offers, by operation.
    pub(super) receipts: BTreeMap<u64, Receipt>,
    /// The signals for which nothing waited.
    pub(super) dropped_signals: Vec<Told>,
    timers: BTreeSet<(Timestamp, u64)>,
    pub(super) tasks: Tasks,
    pub(super) logs: Vec<String>,
    /// What its views show.
    pub(super) views: BTreeMap<&'static str, Value>,
    /// What the workflow returned.
    pub(super) end: Option<Result<Value, Value>>,
}

/// How a run is replayed in a world.
type How = fn(&Recording, u64) -> Replayed;

impl Driver {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            now,
            seed: 0,
            strict: false,
            not_replayed: None,
            auto_advance: true,
            hurrying: false,
            runs: Vec::new(),
            activities: BTreeMap::new(),
            mocks: Vec::new(),
            states: Arc::default(),
            block_on: None,
            agenda: BTreeMap::new(),
            sequence: 0,
            replays: 0,
            slots: Slots::default(),
            pins: Rc::default(),
            failure: None,
        }
    }

    pub(super) fn report(&self) -> Report {
        Report {
            runs: self.runs.len(),
            units: self.runs.iter().map(|run| run.recording.units.len()).sum(),
            replays: self.replays,
            changed: changed(),
            not_replayed: self.not_replayed.clone(),
            strict: self.strict,
        }
    }

    /// Begins a run; it has not been polled yet.
    pub(super) fn start(
        &mut self,
        definition: WorkflowDefinition,
        id: Option<RunId>,
        input: Value,
    ) -> Result<usize, TestFailure> {
        let index = self.runs.len();
        let id = match id {
            Some(id) => id,
            None => {
                RunId::new(format!("test-{}", index + 1)).map_err(|error| TestFailure::Refused {
                    reason: error.to_string(),
                })?
            }
        };
        if self.runs.iter().any(|run| run.key.id == id) {
            return Err(TestFailure::Refused {
                reason: format!("a run with the id `{id}` was started before"),
            });
        }
        let key = RunKey::new(Namespace::default(), id.clone());
        let mut machine =
            Machine::new(definition, &Arc::from(TEST_ARTIFACT), draws(self.seed, &id));
        machine.pin(&self.pins);
        let started = Started {
            workflow: definition.name.to_owned(),
            input,
            semantics: SEMANTICS,
            artifact: TEST_ARTIFACT.to_owned(),
            namespace: key.namespace.clone(),
            run: id,
            generation: 1,
            first_operation: 1,
            version: definition.graph.version,
            migrated_from: None,
            forked_from: Vec::new(),
            streams: Vec::new(),
        };
        self.runs.push(TestedRun {
            recording: Recording::new(key.to_string(), definition),
            key,
            machine: Some(machine),
            inputs: [Input {
                at: self.now,
                observation: Observation::Started(started),
            }]
            .into(),
            filled: VecDeque::new(),
            slots: 0,
            told: 0,
            is_asked: false,
            receipts: BTreeMap::new(),
            dropped_signals: Vec::new(),
            timers: BTreeSet::new(),
            tasks: Tasks::new(),
            logs: Vec::new(),
            views: BTreeMap::new(),
            end: None,
        });
        Ok(index)
    }

    pub(super) fn schedule(&mut self, at: Timestamp, due: Due) {
        self.sequence += 1;
        self.agenda.insert((at, self.sequence), due);
    }

    /// When something happens next. What lies at the end of time never does.
    pub(super) fn next_time(&self) -> Option<Timestamp> {
        let agenda = self.agenda.keys().next().map(|(at, _)| *at);
        let timers = self.runs.iter().filter_map(|run| run.timers.first());
        let next = timers.map(|(deadline, _)| *deadline).chain(agenda).min()?;
        (next < Timestamp::MAX).then_some(next)
    }

    /// What is to happen now besides timers.
    pub(super) fn take_due(&mut self) -> Option<Due> {
        let (&(at, _), _) = self.agenda.first_key_value()?;
        if at > self.now {
            return None;
        }
        self.agenda.pop_first().map(|(_, due)| due)
    }

    /// Tells the runs what is due and what has arrived.
    pub(super) fn feed(&mut self) -> Result<(), TestFailure> {
        for index in 0..self.runs.len() {
            while let Some(input) = self.runs[index].next_input(self.now) {
                self.observe(index, input)?;
            }
        }
        Ok(())
    }

    fn observe(&mut self, index: usize, input: Input) -> Result<(), TestFailure> {
        let now = self.now;
        let Input { at, observation } = input;
        let run = &mut self.runs[index];
        let Some(machine) = &mut run.machine else {
            return Ok(());
        };
        let mut step = None;
        let touched = watched(World::Real, || {
            step = Some(machine.observe(observation.clone(), at, now));
        });
        let Some(step) = step.transpose()? else {
            return Ok(());
        };
        run.take_down(step, touched);
        self.note_slots(index);
        self.carry_out(index)?;
        self.be_strict(index)?;
        if self.not_replayed.is_none() && self.runs[index].recording.is_due() {
            let world = self.runs[index].recording.units.len() as u64;
            self.replay(index, world, Recording::replay)?;
        }
        Ok(())
    }

    /// Begins the activities that the last unit has scheduled.
    fn carry_out(&mut self, index: usize) -> Result<(), TestFailure> {
        let now = self.now;
        let run = &mut self.runs[index];
        let recording = &run.recording;
        let (Some(unit), Some(scheduled)) = (recording.units.last(), recording.scheduled.last())
        else {
            return Ok(());
        };
        let mut begun = Vec::new();
        for scheduled in scheduled {
            let Some(Decision::ActivityScheduled {
                operation,
                name,
                input,
                site,
            }) = unit.decisions.get(scheduled.decision)
            else {
                continue;
            };
            if !self.activities.contains_key(&**name) {
                return Err(TestFailure::NotMocked(Box::new(NotMocked {
                    run: recording.run.clone(),
                    workflow: recording.definition.name.to_owned(),
                    activity: name.to_string(),
                    operation: *operation,
                    input: input.clone(),
                    site: site.clone(),
                })));
            }
            let task = Task {
                activity: name.to_string(),
                input: input.clone(),
                options: scheduled.options,
                attempt: 1,
                scheduled: now,
            };
            begun.push((*operation, task));
        }
        for (operation, task) in begun {
            self.runs[index].tasks.insert(operation, task);
            let due = Due {
                run: index,
                operation,
                end: None,
            };
            self.schedule(now, due);
        }
        Ok(())
    }

    /// In strict mode nothing may have been asked of the operating system in the last unit.
    fn be_strict(&self, index: usize) -> Result<(), TestFailure> {
        let recording = &self.runs[index].recording;
        match (recording.units.last(), recording.touched.last()) {
            (Some(unit), Some(touched)) if self.strict && !touched.is_empty() => {
                Err(TestFailure::Touched(Box::new(TouchedIn {
                    run: recording.run.clone(),
                    workflow: recording.definition.name.to_owned(),
                    event: unit.number,
                    touched: touched.clone(),
                })))
            }
            _ => Ok(()),
        }
    }

    /// Replays a run from its beginning in another world.
    fn replay(&mut self, index: usize, world: u64, how: How) -> Result<(), TestFailure> {
        let recording = &self.runs[index].recording;
        let replayed = how(recording, world);
        self.replays += 1;
        if let Some(diverged) = replayed.diverged {
            return Err(TestFailure::Diverged(Box::new(diverged)));
        }
        // A warm thread has caches, and what comes from them is not asked for: a fresh thread is.
        if let Some(&(first, _)) = replayed.touched.first()
            && self.strict
        {
            let touched = replayed.touched.into_iter();
            let touched = touched.filter(|(unit, _)| *unit == first);
            return Err(TestFailure::Touched(Box::new(TouchedIn {
                run: recording.run.clone(),
                workflow: recording.definition.name.to_owned(),
                event: recording.units[first].number,
                touched: touched.map(|(_, touched)| touched).collect(),
            })));
        }
        Ok(())
    }

    /// Replays all runs a last time, in several worlds.
    pub(super) fn last_replays(&mut self) -> Result<(), TestFailure> {
        if self.not_replayed.is_some() {
            return Ok(());
        }
        for index in 0..self.runs.len() {
            let mut how: How = Recording::replay_twice;
            for world in self.runs[index].recording.last_worlds() {
                self.replay(index, world, how)?;
                how = Recording::replay;
            }
        }
        Ok(())
    }

    /// The failure that a version was given to a marker that no run has asked for.
    pub(super) fn not_asked(&self, id: String, version: u32) -> TestFailure {
        let graphs = self.runs.iter().map(|run| run.recording.definition.graph);
        let known: BTreeSet<_> = graphs
            .flat_map(|graph| graph.markers.iter().map(|marker| marker.id))
            .collect();
        let meant = closest(&id, known).filter(|meant| *meant != id);
        TestFailure::MarkerNotAsked(Box::new(MarkerNotAsked {
            meant: meant.map(str::to_owned),
            id,
            version,
        }))
    }

    /// The failure that a run has no result.
    pub(super) fn waiting(&self, index: usize) -> TestFailure {
        let run = &self.runs[index];
        let recording = &run.recording;
        let decisions = || recording.units.iter().flat_map(|unit| &unit.decisions);
        let ended: BTreeSet<u64> = decisions()
            .filter_map(|decision| match decision {
                Decision::Received { operation, .. } | Decision::Dropped { operation } => {
                    Some(*operation)
                }
                _ => None,
            })
            .collect();
        let mut waits_for = Vec::new();
        let mut answers = Vec::new();
        let known = recording.definition.graph.receives();
        let mut others = false;
        let open = run.open_offers();
        let open: BTreeSet<u64> = open.iter().map(|offer| offer.reference.number).collect();
        for decision in decisions() {
            let (operation, what, site) = match decision {
                Decision::TimerStarted {
                    operation,
                    deadline,
                    site,
                } if run.timers.contains(&(*deadline, *operation)) => {
                    (operation, format!("sleep until {deadline}"), site)
                }
                Decision::ActivityScheduled {
                    operation,
                    name,
                    site,
                    ..
                } if run.tasks.contains_key(operation) => {
                    (operation, format!("activity {name}"), site)
                }
                Decision::ReceiveStarted {
                    operation,
                    channel,
                    name,
                    site,
                } if !ended.contains(operation) && run.awaits(*channel, name) => {
                    let (does, how) = match channel {
                        Channel::Message => ("receive", "send"),
                        Channel::Signal => ("wait for", "signal"),
                    };
                    let mut known = known.iter();
                    let known = known.find(|one| one.channel == *channel && one.name == name);
                    let answer = match known {
                        Some(known) => format!("run.{how}({}, ..)", known.constant),
                        None => format!("run.{how}(..)"),
                    };
                    if !answers.contains(&answer) {
                        answers.push(answer);
                    }
                    let what = format!("{does} \"{}\"", name.escape_debug());
                    (operation, what, site)
                }
                Decision::StubOffered {
                    operation,
                    name,
                    site,
                    ..
                } if open.contains(operation) => {
                    let name = name.escape_debug();
                    let answer = format!("run.fulfil({name}, ..)");
                    if !answers.contains(&answer) {
                        answers.push(answer);
                    }
                    (operation, format!("stub {name}"), site)
                }
                _ => continue,
            };
            others |= !matches!(
                decision,
                Decision::ReceiveStarted { .. } | Decision::StubOffered { .. }
            );
            let site = site.as_ref().map(|site| format!("  {}", place(site)));
            waits_for.push(format!("~{operation} {what}{}", site.unwrap_or_default()));
        }
        if let Some(machine) = run
            .machine
            .as_ref()
            .filter(|machine| machine.waits_for_a_condition())
        {
            waits_for.push("until a condition holds".to_owned());
            let constants = recording.definition.graph.handled();
            let handled = machine.handled().into_iter();
            answers.extend(handled.map(|name| {
                let known = constants.iter().find(|known| known.name == name);
                let name = known.map_or(name, |known| known.constant);
                format!("run.update({}, ..)", name.escape_debug())
            }));
        }
        TestFailure::Waiting(Box::new(Waiting {
            run: recording.run.clone(),
            workflow: recording.definition.name.to_owned(),
            waits_for,
            in_vain: run.in_vain(),
            answers,
            others,
            clock_stands: !self.auto_advance,
        }))
    }
}

impl TestedRun {
    /// Something has come for the run.
    pub(super) fn arrive(&mut self, at: Timestamp, observation: Observation) {
        self.inputs.push_back(Input { at, observation });
    }

    /// One of its slots has come to something.
    pub(super) fn fill(&mut self, at: Timestamp, observation: Observation) {
        self.slots -= 1;
        self.filled.push_back(Input { at, observation });
    }

    /// What the run says of an update; `None`: it has ended.
    pub(super) fn validate(
        &mut self,
        update: &str,
        input: &Value,
    ) -> Option<Result<Verdict, Blocked>> {
        let machine = self.machine.as_mut()?;
        Some(machine.validate(update, input))
    }

    /// Whether the run waits for that.
    pub(super) fn awaits(&self, channel: Channel, name: &str) -> bool {
        let machine = self.machine.as_ref();
        machine.is_some_and(|machine| machine.awaits(channel, name))
    }

    /// What the machine is told next: nothing, until there is something that the run waits for. Then the messages
    /// that have come before that are first (S25), and a due timer is before what else comes at that moment (S2).
    fn next_input(&mut self, now: Timestamp) -> Option<Input> {
        if self.end.is_some() {
            // What still arrives is nobody's any more (S11); messages stay, unread (M42).
            let is_message =
                |input: &Input| matches!(input.observation, Observation::MessageArrived(_));
            self.inputs.retain(is_message);
            self.filled.clear();
            return None;
        }
        if self.slots > 0 || !self.filled.is_empty() {
            return if self.slots == 0 {
                self.filled.pop_front()
            } else {
                None
            };
        }
        let due = self.timers.first().filter(|(deadline, _)| *deadline <= now);
        match (self.inputs.front(), due) {
            (Some(kept), _) if !self.wakes(kept) => {
                let is_woken = self.is_asked
                    || due.is_some()
                    || self.inputs.iter().any(|input| self.wakes(input));
                is_woken.then(|| self.inputs.pop_front())?
            }
            (_, Some(&(_, operation))) => {
                self.timers.pop_first();
                let observation = Observation::TimerFired { operation };
                Some(Input {
                    at: now,
                    observation,
                })
            }
            (_, None) => self.inputs.pop_front(),
        }
    }

    /// Takes down what a unit led to.
    fn take_down(&mut self, step: Step, touched: Vec<super::Touched>) {
        for decision in &step.unit.decisions {
            match decision {
                Decision::TimerStarted {
                    operation,
                    deadline,
                    ..
                } => {
                    self.timers.insert((*deadline, *operation));
                }
                Decision::Completed { value, .. } => self.end = Some(Ok(value.clone())),
                Decision::Failed { error, .. } => self.end = Some(Err(error.clone())),
                _ => {}
            }
        }
        for (operation, deadline) in step.stopped_timers {
            self.timers.remove(&(deadline, operation));
        }
        if step.finished {
            self.timers.clear();
            self.machine = None;
        }
        let views = step.views.into_iter();
        self.views
            .extend(views.map(|shown| (shown.view, shown.value)));
        let logs = step.logs.into_iter();
        self.logs.extend(logs.map(|line| line.message));
        self.recording.units.push(step.unit);
        self.recording.scheduled.push(step.scheduled);
        self.recording.touched.push(touched);
    }
}
