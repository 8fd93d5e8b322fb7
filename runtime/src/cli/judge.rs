//! Whether a program can go on with runs: each is replayed, one after the other, and nothing is written.
//!
//! Somebody reads runs somewhere and tells them to a [`Judge`], in the order of an export: a run begins, then
//! what waits in its queue and what other programs said of it, then its history unit by unit. Of a run no more
//! is held than its machine, what waits for it, and a few units after the first that does not fit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use perennial::history::{Decision, Observation, Started, Unit};
use perennial::machine::{Machine, Step};
use perennial::{Blocked, Incompatible, IncompatibleKind, RunKey, Timestamp};
use tracing::subscriber::NoSubscriber;

use crate::artifact::Known;
use crate::builder::Builder;
use crate::engine::entropy;
use crate::registry::Registry;
use crate::store::{BlockedRecord, Head, ProgramRecord, Queued};

/// So many units after the first that does not fit are kept, to tell what happened to it.
const AFTER: usize = 16;
/// So many rows of a queue are looked at, and so many bytes of them.
const ROWS: usize = 64;
const ROW_BYTES: usize = 16 << 20;
/// So many observations are told to a run beyond its history. What waits may fire timers that wait again.
const AHEAD: usize = 256;

/// The program that is asked about.
#[derive(Clone, Debug)]
pub(super) struct Program<'a> {
    pub(super) registry: &'a Registry,
    pub(super) artifact: Arc<str>,
    known: Known,
}

impl<'a> Program<'a> {
    pub(super) fn of(builder: &'a Builder) -> Self {
        Self {
            registry: &builder.registry,
            artifact: builder.artifact.name().into(),
            known: builder.artifact.known(),
        }
    }
}

/// What is known of a run that says which programs can go on with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Evidence {
    pub(super) workflow: String,
    /// The program that began it.
    pub(super) began_by: String,
    /// The replay semantics that it began with.
    pub(super) semantics: u32,
    /// The versions of markers in its history.
    pub(super) markers: BTreeSet<(String, u32)>,
    /// The activities that it has called, whether they have ended or not: a program that has none of the name does
    /// not decide that.
    pub(super) activities: BTreeSet<String>,
    /// Something of its history is damaged or missing, which no program can make up for.
    pub(super) damaged: bool,
    /// The programs that have found that they can never go on with it.
    pub(super) unfit: BTreeSet<String>,
}

/// What was found of a run.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) run: RunKey,
    pub(super) evidence: Evidence,
    /// Whether a program could not go on with it.
    pub(super) blocked: bool,
    pub(super) finding: Finding,
}

#[derive(Debug)]
pub(super) enum Finding {
    /// It has ended, and was not looked at.
    Ended,
    /// This program decides what is recorded.
    Fits {
        /// Whether it has ended.
        ended: bool,
    },
    /// This program cannot go on with it.
    Blocked(Blocked),
    /// This program could, but its name is recorded as that of one which never can.
    Withheld,
    /// Not all of it is there.
    Partial(Vec<String>),
}

/// See the module.
#[derive(Debug)]
pub(super) struct Judge<'a, T> {
    pub(super) program: Program<'a>,
    scope: Scope,
    /// As of when what waits is told to a run; `None`: nothing waits there.
    now: Option<Timestamp>,
    case: Option<Case>,
    /// Who is told what was found.
    pub(super) told: T,
}

/// What of a run is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    /// Runs that have ended, and generations that have, are replayed too.
    pub(super) ended_too: bool,
    /// What waits for a run is told to it.
    pub(super) ahead: bool,
}

/// Who is told what was found.
pub(super) trait Told {
    fn judged(&mut self, judged: Judged);

    /// A program that has had the store open.
    fn program(&mut self, _program: ProgramRecord) {}
}

impl<'a, T: Told> Judge<'a, T> {
    pub(super) fn new(program: &Program<'a>, scope: Scope, told: T) -> Self {
        Self {
            program: program.clone(),
            scope,
            now: None,
            case: None,
            told,
        }
    }

    /// What is told from now on was so at that time; `None`: of what waits for runs nothing is known.
    pub(super) fn as_of(&mut self, at: Option<Timestamp>) {
        self.now = at.filter(|_| self.scope.ahead);
    }

    /// A run begins. Of a history alone there is no head.
    pub(super) fn begin(&mut self, run: RunKey, head: Option<&Head>) {
        self.finish();
        self.case = Some(Case::new(run, head));
    }

    /// A run of which not all is there.
    pub(super) fn partial(&mut self, run: RunKey, problems: Vec<String>) {
        self.finish();
        self.told.judged(Judged {
            run,
            evidence: Evidence::default(),
            blocked: false,
            finding: Finding::Partial(problems),
        });
    }

    /// A row of the run's queue.
    pub(super) fn row(&mut self, row: Queued) {
        if let Some(case) = &mut self.case
            && !case.ended
        {
            let bytes = match &row.observation {
                Observation::Started(started) => {
                    case.began(started);
                    started.input.as_json().len()
                }
                Observation::ActivityCompleted { result, .. } => result.as_json().len(),
                _ => 0,
            };
            case.row_bytes = case.row_bytes.saturating_add(bytes);
            if case.rows.len() < ROWS && (case.row_bytes <= ROW_BYTES || case.rows.is_empty()) {
                case.rows.push(row);
            } else {
                // Those after it would come before it.
                case.row_bytes = usize::MAX;
            }
        }
    }

    /// A program that has had the store open: all of them, before the runs. The one that is asked about may have
    /// another name there than its own (S16).
    pub(super) fn program(&mut self, program: ProgramRecord) {
        self.program.known.note(&program);
        self.program.artifact = self.program.known.artifact().into();
        self.told.program(program);
    }

    /// What a program said of the run.
    pub(super) fn blocked(&mut self, record: BlockedRecord) {
        if let Some(case) = &mut self.case {
            case.blocked = true;
            if record.unfit {
                case.evidence.unfit.insert(record.artifact);
            }
        }
    }

    /// A unit of the run's history.
    pub(super) fn unit(&mut self, generation: u64, unit: Unit) {
        let Some(case) = &mut self.case else {
            return;
        };
        let last = case.last_generation.is_none_or(|last| last == generation);
        if !self.scope.ended_too && (case.ended || !last) {
            return;
        }
        if case.generation.is_some_and(|before| before != generation) {
            // Each generation is a history of its own.
            let after = case.next_generation();
            self.finish();
            self.case = Some(after);
        }
        if let Some(case) = &mut self.case {
            case.generation = Some(generation);
            case.unit(&self.program, unit);
        }
    }

    /// The history cannot be read any further.
    pub(super) fn unreadable(&mut self, error: Blocked) {
        if let Some(case) = &mut self.case
            && case.failed.is_none()
        {
            case.failed = Some((error, Vec::new()));
        }
    }

    /// What was told of the run does not count.
    pub(super) fn withdraw(&mut self) {
        self.case = None;
    }

    /// The run is complete.
    pub(super) fn finish(&mut self) {
        if let Some(case) = self.case.take() {
            self.told
                .judged(case.judge(&self.program, self.scope, self.now));
        }
    }
}

/// A run that is being looked at.
#[derive(Debug)]
struct Case {
    run: RunKey,
    /// Whether its head says that it has ended.
    ended: bool,
    last_generation: Option<u64>,
    generation: Option<u64>,
    evidence: Evidence,
    blocked: bool,
    rows: Vec<Queued>,
    row_bytes: usize,
    machine: Option<Machine>,
    /// Why it does not fit, and what is recorded after that.
    failed: Option<(Blocked, Vec<Unit>)>,
    /// Activities that have not ended: operation, name and event.
    open: BTreeMap<u64, (String, u64)>,
    /// The last thing in its history is its end.
    has_end: bool,
    /// The last stamp in its history.
    stamp: Timestamp,
    /// The number of the last event.
    last: u64,
}

impl Case {
    fn new(run: RunKey, head: Option<&Head>) -> Self {
        let evidence = Evidence {
            workflow: head.map(|head| head.workflow.clone()).unwrap_or_default(),
            ..Evidence::default()
        };
        Self {
            run,
            ended: head.is_some_and(|head| head.status.is_finished()),
            last_generation: head.map(|head| head.generation),
            generation: None,
            evidence,
            blocked: head.is_some_and(|head| head.blocked),
            rows: Vec::new(),
            row_bytes: 0,
            machine: None,
            failed: None,
            open: BTreeMap::new(),
            has_end: false,
            stamp: Timestamp::default(),
            last: 0,
        }
    }

    /// The next generation's case, with what was told of the run as a whole.
    fn next_generation(&mut self) -> Self {
        Self {
            ended: self.ended,
            last_generation: self.last_generation,
            blocked: self.blocked,
            rows: std::mem::take(&mut self.rows),
            row_bytes: self.row_bytes,
            evidence: Evidence {
                workflow: self.evidence.workflow.clone(),
                unfit: self.evidence.unfit.clone(),
                ..Evidence::default()
            },
            ..Self::new(self.run.clone(), None)
        }
    }

    fn unit(&mut self, program: &Program<'_>, unit: Unit) {
        self.note(&unit);
        if let Some((_, after)) = &mut self.failed {
            if after.len() < AFTER {
                after.push(unit);
            }
            return;
        }
        // What the workflow's code logs was logged when it happened.
        let replayed = tracing::subscriber::with_default(NoSubscriber::default(), || {
            self.machine(program)?.replay(unit)
        });
        if let Err(error) = replayed {
            self.machine = None;
            self.failed = Some((error, Vec::new()));
        }
    }

    fn machine(&mut self, program: &Program<'_>) -> Result<&mut Machine, Blocked> {
        if self.machine.is_none() {
            let workflow = &self.evidence.workflow;
            let Some(definition) = program.registry.workflows.get(workflow.as_str()) else {
                let (registry, artifact) = (program.registry, &program.artifact);
                return Err(registry.no_workflow(
                    &self.run,
                    workflow,
                    &self.evidence.began_by,
                    artifact,
                ));
            };
            self.machine = Some(Machine::new(*definition, &program.artifact, entropy()));
        }
        match &mut self.machine {
            Some(machine) => Ok(machine),
            None => unreachable!("it was just made"),
        }
    }

    fn began(&mut self, started: &Started) {
        self.evidence.began_by.clone_from(&started.artifact);
        self.evidence.semantics = started.semantics;
        if self.evidence.workflow.is_empty() {
            self.evidence.workflow.clone_from(&started.workflow);
        }
    }

    /// Notes what says which programs can go on with the run.
    fn note(&mut self, unit: &Unit) {
        match &unit.observation {
            Observation::Started(started) => self.began(started),
            Observation::ActivityCompleted { operation, .. }
            | Observation::ActivityFailed { operation, .. } => {
                self.open.remove(operation);
            }
            _ => {}
        }
        for (event, decision) in (unit.number.saturating_add(1)..).zip(&unit.decisions) {
            match decision {
                Decision::ActivityScheduled {
                    operation, name, ..
                } => {
                    self.open.insert(*operation, (name.to_string(), event));
                    if !self.evidence.activities.contains(&**name) {
                        self.evidence.activities.insert(name.to_string());
                    }
                }
                Decision::Dropped { operation } => {
                    self.open.remove(operation);
                }
                Decision::Marker { id, version, .. } => {
                    let marker = (id.to_string(), *version);
                    self.evidence.markers.insert(marker);
                }
                _ => {}
            }
        }
        self.has_end = unit.observation.is_end() || unit.decisions.last().is_some_and(is_end);
        self.stamp = unit.at;
        self.last = unit.last();
    }

    fn judge(mut self, program: &Program<'_>, scope: Scope, now: Option<Timestamp>) -> Judged {
        let finding = self.find(program, scope, now);
        self.evidence.damaged = matches!(&finding, Finding::Blocked(error) if is_damage(error));
        Judged {
            run: self.run,
            evidence: self.evidence,
            blocked: self.blocked,
            finding,
        }
    }

    fn find(&mut self, program: &Program<'_>, scope: Scope, now: Option<Timestamp>) -> Finding {
        let looked_at = self.last > 0 || self.failed.is_some();
        if !scope.ended_too && (self.ended || self.has_end) || self.ended && !looked_at {
            return Finding::Ended;
        }
        if let Some((error, after)) = self.failed.take() {
            return Finding::Blocked(error.look_ahead(&after));
        }
        if let Err(error) = self.go_on(program, now) {
            return Finding::Blocked(error);
        }
        if self.evidence.unfit.contains(&*program.artifact) {
            return Finding::Withheld;
        }
        Finding::Fits {
            ended: self.ended || self.has_end,
        }
    }

    /// What comes after the history.
    fn go_on(&mut self, program: &Program<'_>, now: Option<Timestamp>) -> Result<(), Blocked> {
        if self.has_end {
            return Ok(());
        }
        if self.last == 0 && self.rows.is_empty() {
            let kind = IncompatibleKind::Gap;
            let detail = "it is missing: a history begins with `started`".to_owned();
            let error = Incompatible::found(kind, &self.run, &self.evidence.workflow, 1, detail);
            return Err(Blocked::Incompatible(Box::new(
                error.between("", &program.artifact),
            )));
        }
        self.machine(program)?;
        let (registry, artifact) = (program.registry, &program.artifact);
        for (name, event) in self.open.values() {
            if !registry.activities.contains_key(&**name) {
                let workflow = &self.evidence.workflow;
                return Err(registry.no_activity(&self.run, workflow, *event, name, artifact));
            }
        }
        let Some(now) = now else {
            return Ok(());
        };
        let mut rows = std::mem::take(&mut self.rows).into_iter().peekable();
        for _ in 0..AHEAD {
            let machine = self.machine(program)?;
            if machine.is_finished() {
                break;
            }
            let due = machine.timers().into_iter();
            let due = due.map(|(operation, deadline)| (deadline, operation)).min();
            // A timer comes before what arrived after its deadline (S2).
            let row = rows.peek().map(|row| row.at);
            let due = due
                .filter(|(deadline, _)| *deadline <= now && row.is_none_or(|at| at >= *deadline));
            let (observation, at) = match (due, rows.next_if(|_| due.is_none())) {
                (Some((_, operation)), _) => (Observation::TimerFired { operation }, now),
                (None, Some(row)) => (row.observation, row.at),
                (None, None) => break,
            };
            let at = at.max(self.stamp);
            let step = tracing::subscriber::with_default(NoSubscriber::default(), || {
                self.machine(program)?.observe(observation, at, now)
            })?;
            self.stamp = at;
            self.check_registered(program, &step)?;
        }
        Ok(())
    }

    fn check_registered(&self, program: &Program<'_>, step: &Step) -> Result<(), Blocked> {
        let (registry, artifact) = (program.registry, &program.artifact);
        for (event, decision) in (step.unit.number + 1..).zip(&step.unit.decisions) {
            if let Decision::ActivityScheduled { name, .. } = decision
                && !registry.activities.contains_key(&**name)
            {
                let workflow = &self.evidence.workflow;
                return Err(registry.no_activity(&self.run, workflow, event, name, artifact));
            }
        }
        Ok(())
    }
}

fn is_damage(error: &Blocked) -> bool {
    use IncompatibleKind::{Damaged, Gap};

    matches!(error, Blocked::Incompatible(error) if matches!(error.kind, Damaged | Gap))
}

fn is_end(decision: &Decision) -> bool {
    matches!(
        decision,
        Decision::Completed { .. } | Decision::Failed { .. }
    )
}
