//! The state that a machine shares with the futures of its workflow: what is open, what was decided, and in
//! replay what comes next in the history.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Poll, Waker};

use super::handle::Until;
use super::step::{LogLine, Scheduled};
use super::tasks::Tasks;
use super::waits::{take_foreign, wait};
use super::{ActivityEnd, Entropy, MAX_COMMANDS, MAX_EVENTS, MAX_OPEN};
use crate::history::{CallSite, Decision, OpenOperation, RecordSource, Started};
use crate::incompatible::{Incompatible, IncompatibleKind, Side};
use crate::value::{EncodeError, Value};
use crate::workflow::Site;
use crate::{
    ActivityOptions, Blocked, NotDurable, Panicked, RunKey, Runaway, Timestamp, Unstorable,
};

thread_local! {
    /// The await that is being polled on this thread: the place of what it begins.
    pub(crate) static SITE: Cell<Option<&'static Site>> = const { Cell::new(None) };
}

/// What an operation came to.
#[derive(Debug)]
pub(crate) enum Resolution {
    Activity(ActivityEnd),
    Timer,
}

struct Operation {
    kind: Kind,
    /// There once the world has answered and the future has not been polled since.
    end: Option<Resolution>,
    waker: Option<Waker>,
}

enum Kind {
    Activity(&'static str),
    Timer(Timestamp),
}

/// What a live unit led to.
#[derive(Default)]
pub(super) struct Made {
    pub(super) decisions: Vec<Decision>,
    pub(super) scheduled: Vec<Scheduled>,
    pub(super) stopped_timers: Vec<(u64, Timestamp)>,
    pub(super) logs: Vec<LogLine>,
}

struct State {
    workflow: &'static str,
    manifest_dir: Option<&'static str>,
    artifact: Arc<str>,
    /// `None` before the first event.
    run: Option<RunKey>,
    started_by: String,
    now: Timestamp,
    clock: Timestamp,
    /// In replay: the decisions of the unit that were not made yet. `None`: live.
    expected: Option<VecDeque<Decision>>,
    made: Made,
    /// The number of the unit's observation.
    unit: u64,
    /// How many decisions this poll has made.
    commands: usize,
    next_operation: u64,
    operations: HashMap<u64, Operation>,
    /// Activities whose futures were dropped and whose results have not come.
    abandoned: BTreeMap<u64, &'static str>,
    error: Option<Blocked>,
    entropy: Entropy,
}

pub(crate) struct Core {
    state: RefCell<State>,
    pub(super) tasks: RefCell<Tasks>,
    polling: Cell<bool>,
    disarmed: Cell<bool>,
}

/// While it lives the machine is polling, and dropping an operation is a decision.
pub(super) struct Polling<'a>(&'a Core);

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        self.0.polling.set(false);
    }
}

impl Core {
    pub(super) fn new(
        workflow: &'static str,
        manifest_dir: Option<&'static str>,
        artifact: Arc<str>,
        entropy: Entropy,
    ) -> Self {
        let state = State {
            workflow,
            manifest_dir,
            artifact,
            run: None,
            started_by: String::new(),
            now: Timestamp::default(),
            clock: Timestamp::default(),
            expected: None,
            made: Made::default(),
            unit: 0,
            commands: 0,
            next_operation: 1,
            operations: HashMap::new(),
            abandoned: BTreeMap::new(),
            error: None,
            entropy,
        };
        Self {
            state: RefCell::new(state),
            tasks: RefCell::new(Tasks::new()),
            polling: Cell::new(false),
            disarmed: Cell::new(false),
        }
    }

    // ---- what the machine does -----------------------------------------------------------------------

    pub(super) fn begin_run(&self, started: &Started) {
        let mut state = self.state.borrow_mut();
        state.run = Some(RunKey::new(started.namespace.clone(), started.run.clone()));
        state.started_by = started.artifact.clone();
        state.next_operation = started.first_operation;
    }

    pub(super) fn begin_replay(&self, unit: u64, at: Timestamp, decisions: Vec<Decision>) {
        let mut state = self.state.borrow_mut();
        state.begin(unit, at);
        state.expected = Some(decisions.into());
    }

    pub(super) fn begin_live(&self, unit: u64, at: Timestamp, clock: Timestamp) {
        let mut state = self.state.borrow_mut();
        state.begin(unit, at);
        state.clock = clock.max(at);
        state.expected = None;
    }

    pub(super) fn end_live(&self) -> Made {
        std::mem::take(&mut self.state.borrow_mut().made)
    }

    /// All decisions of a unit must have been made again.
    pub(super) fn end_replay(&self) -> Result<(), Blocked> {
        let mut state = self.state.borrow_mut();
        state.made = Made::default();
        match state.expected.take().and_then(|mut left| left.pop_front()) {
            None => Ok(()),
            Some(left) => {
                let recorded = Some(Side::of(&left));
                let error = state.mismatch(IncompatibleKind::Removed, recorded, None);
                Err(Blocked::Incompatible(Box::new(error)))
            }
        }
    }

    pub(super) fn enter(&self) -> Polling<'_> {
        self.polling.set(true);
        Polling(self)
    }

    pub(super) fn disarm(&self) {
        self.disarmed.set(true);
    }

    pub(super) fn take_error(&self) -> Result<(), Blocked> {
        self.state.borrow_mut().error.take().map_or(Ok(()), Err)
    }

    pub(super) fn has_error(&self) -> bool {
        self.state.borrow().error.is_some()
    }

    pub(super) fn resolve(&self, operation: u64, end: Resolution) {
        let waker = {
            let mut state = self.state.borrow_mut();
            state.abandoned.remove(&operation);
            let Some(open) = state.operations.get_mut(&operation) else {
                return;
            };
            open.end = Some(end);
            open.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn decide_end(&self, end: Decision) {
        let state = &mut *self.state.borrow_mut();
        if state.error.is_some() {
            return;
        }
        let asked = Side::of(&end);
        match state.next_expected() {
            None => {
                state.made.decisions.push(end);
                state.commands += 1;
            }
            Some(None) => state.fail(IncompatibleKind::Inserted, None, Some(asked)),
            Some(Some(recorded)) => match (&recorded, &end) {
                (Decision::Completed { value: a, .. }, Decision::Completed { value: b, .. })
                | (Decision::Failed { error: a, .. }, Decision::Failed { error: b, .. }) => {
                    if a.same(b) {
                        state.commands += 1;
                    } else {
                        state.fail(
                            IncompatibleKind::ChangedInput,
                            Some(Side::of(&recorded)),
                            Some(asked),
                        );
                    }
                }
                _ => {
                    let kind = if recorded.is_end() {
                        IncompatibleKind::Changed
                    } else {
                        IncompatibleKind::LeftOver
                    };
                    state.fail(kind, Some(Side::of(&recorded)), Some(asked));
                }
            },
        }
    }

    pub(super) fn abandoned(&self) -> Vec<OpenOperation> {
        let state = self.state.borrow();
        let left = state.abandoned.iter();
        left.map(|(operation, name)| OpenOperation {
            operation: *operation,
            name: (*name).to_owned(),
        })
        .collect()
    }

    pub(super) fn open_activities(&self) -> Vec<u64> {
        let state = self.state.borrow();
        let open = state.operations.iter();
        let open = open.filter(|(_, o)| matches!(o.kind, Kind::Activity(_)) && o.end.is_none());
        open.map(|(number, _)| *number)
            .chain(state.abandoned.keys().copied())
            .collect()
    }

    pub(super) fn timers(&self) -> Vec<(u64, Timestamp)> {
        let state = self.state.borrow();
        let open = state.operations.iter();
        open.filter_map(|(number, o)| match o {
            Operation {
                kind: Kind::Timer(deadline),
                end: None,
                ..
            } => Some((*number, *deadline)),
            _ => None,
        })
        .collect()
    }

    pub(super) fn next_operation(&self) -> u64 {
        self.state.borrow().next_operation
    }

    // ---- errors --------------------------------------------------------------------------------------

    pub(super) fn incompatible(
        &self,
        kind: IncompatibleKind,
        event: u64,
        detail: Option<String>,
    ) -> Blocked {
        let state = self.state.borrow();
        let mut error = state.mismatch(kind, None, None);
        error.event = event;
        error.detail = detail;
        Blocked::Incompatible(Box::new(error))
    }

    pub(super) fn panicked(&self, payload: &(dyn std::any::Any + Send)) -> Blocked {
        // A poll that makes too many commands without waiting is stopped by unwinding.
        if let Err(error) = self.take_error() {
            return error;
        }
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a value that is no text".to_owned());
        let state = self.state.borrow();
        Blocked::Panicked(Panicked {
            run: state.run_text(),
            workflow: state.workflow,
            event: state.event(),
            message,
        })
    }

    pub(super) fn too_long(&self, events: u64) -> Blocked {
        self.state
            .borrow()
            .runaway("events in a history", events, MAX_EVENTS)
    }

    pub(crate) fn unstorable(&self, what: String, error: EncodeError) {
        let state = &mut *self.state.borrow_mut();
        let (run, event) = (state.run_text(), state.event());
        state.error.get_or_insert(Blocked::Unstorable(Unstorable {
            run,
            workflow: state.workflow,
            event,
            what,
            error,
        }));
    }

    pub(crate) fn undecodable(&self, detail: String) {
        let state = &mut *self.state.borrow_mut();
        let mut error = state.mismatch(IncompatibleKind::DoesNotDecode, None, None);
        error.event = state.unit;
        error.detail = Some(detail);
        state
            .error
            .get_or_insert(Blocked::Incompatible(Box::new(error)));
    }

    // ---- waiting -------------------------------------------------------------------------------------

    /// Whether the last polls met nothing durable; an error then (S9).
    pub(super) fn check_foreign(&self) {
        if take_foreign() {
            let state = &mut *self.state.borrow_mut();
            let (run, workflow, event) = (state.run_text(), state.workflow, state.event());
            state.error.get_or_insert(Blocked::NotDurable(NotDurable {
                run,
                workflow,
                event,
            }));
        }
    }

    pub(super) fn poll_operation(&self, number: u64, waker: &Waker) -> Poll<Resolution> {
        wait();
        let state = &mut *self.state.borrow_mut();
        if state.error.is_some() {
            return Poll::Pending;
        }
        let Some(operation) = state.operations.get_mut(&number) else {
            return Poll::Pending;
        };
        match operation.end.take() {
            Some(end) => {
                state.operations.remove(&number);
                Poll::Ready(end)
            }
            None => {
                match &mut operation.waker {
                    Some(old) => old.clone_from(waker),
                    none => *none = Some(waker.clone()),
                }
                Poll::Pending
            }
        }
    }

    // ---- decisions -----------------------------------------------------------------------------------

    pub(super) fn schedule_activity(
        &self,
        name: &'static str,
        input: &Value,
        options: ActivityOptions,
    ) -> Option<u64> {
        let state = &mut *self.state.borrow_mut();
        state.may_decide()?;
        let operation = state.next_operation;
        match state.next_expected() {
            None => {
                let site = state.site();
                let decision = state.made.decisions.len();
                state.made.scheduled.push(Scheduled {
                    operation,
                    decision,
                    options,
                });
                let name = name.into();
                state.made.decisions.push(Decision::ActivityScheduled {
                    operation,
                    name,
                    input: input.clone(),
                    site,
                });
            }
            Some(Some(Decision::ActivityScheduled {
                operation: o,
                name: n,
                input: i,
                ..
            })) if o == operation && n == name && i.same(input) => {}
            Some(recorded) => {
                let asked = Side {
                    what: format!("activity {name}"),
                    operation: Some(operation),
                    value: Some(input.clone()),
                    site: state.site(),
                };
                let kind = match &recorded {
                    Some(Decision::ActivityScheduled { name: n, .. }) if n == name => {
                        IncompatibleKind::ChangedInput
                    }
                    _ => IncompatibleKind::Changed,
                };
                return state.refuse(kind, recorded.as_ref(), asked);
            }
        }
        Some(state.open(Kind::Activity(name)))
    }

    pub(super) fn start_timer(&self, until: Until) -> Option<u64> {
        let state = &mut *self.state.borrow_mut();
        state.may_decide()?;
        let operation = state.next_operation;
        let deadline = match state.next_expected() {
            None => {
                let deadline = match until {
                    Until::After(duration) => state.clock + duration,
                    Until::At(time) => time,
                };
                let site = state.site();
                state.made.decisions.push(Decision::TimerStarted {
                    operation,
                    deadline,
                    site,
                });
                deadline
            }
            // The recorded deadline holds, whatever length the code asks for now (S7).
            Some(Some(Decision::TimerStarted {
                operation: o,
                deadline,
                ..
            })) if o == operation => deadline,
            Some(recorded) => {
                let site = state.site();
                let asked = Side {
                    what: "sleep".into(),
                    operation: Some(operation),
                    value: None,
                    site,
                };
                return state.refuse(IncompatibleKind::Changed, recorded.as_ref(), asked);
            }
        };
        Some(state.open(Kind::Timer(deadline)))
    }

    /// A value that is made once and then recorded. `make` runs only when there is no recorded one.
    pub(crate) fn record(
        &self,
        source: RecordSource,
        place: &'static Location<'static>,
        make: impl FnOnce(&mut Entropy) -> Result<Value, EncodeError>,
    ) -> Option<Value> {
        // The closure may be the user's, so it runs while nothing is borrowed.
        let mut entropy: Entropy = {
            let state = &mut *self.state.borrow_mut();
            state.may_decide_now()?;
            match state.next_expected() {
                None => std::mem::replace(&mut state.entropy, Box::new(|| 0)),
                Some(Some(Decision::Recorded {
                    source: s, value, ..
                })) if s == source => {
                    state.commands += 1;
                    return Some(value);
                }
                Some(recorded) => {
                    let site = Some(state.location(place));
                    let asked = Side {
                        what: Side::record(&source),
                        operation: None,
                        value: None,
                        site,
                    };
                    return state.refuse(IncompatibleKind::Changed, recorded.as_ref(), asked);
                }
            }
        };
        let made = make(&mut entropy);
        self.state.borrow_mut().entropy = entropy;
        match made {
            Ok(value) => {
                let state = &mut *self.state.borrow_mut();
                let site = Some(state.location(place));
                state.commands += 1;
                state.made.decisions.push(Decision::Recorded {
                    source,
                    value: value.clone(),
                    site,
                });
                Some(value)
            }
            Err(error) => {
                self.unstorable(Side::record(&source), error);
                None
            }
        }
    }

    pub(super) fn drop_operation(&self, number: u64) {
        if self.disarmed.get() || !self.polling.get() {
            return;
        }
        let state = &mut *self.state.borrow_mut();
        let Some(operation) = state.operations.remove(&number) else {
            return;
        };
        // What has its result is not open; its result was in the history before it was dropped.
        if operation.end.is_some() || state.may_decide().is_none() {
            return;
        }
        match state.next_expected() {
            None => state
                .made
                .decisions
                .push(Decision::Dropped { operation: number }),
            Some(Some(Decision::Dropped { operation: o })) if o == number => {}
            Some(recorded) => {
                let asked = Side {
                    what: "drop".into(),
                    operation: Some(number),
                    value: None,
                    site: None,
                };
                let kind = if recorded.is_none() {
                    IncompatibleKind::Inserted
                } else {
                    IncompatibleKind::Changed
                };
                return state.fail(kind, recorded.as_ref().map(Side::of), Some(asked));
            }
        }
        state.commands += 1;
        match operation.kind {
            Kind::Activity(name) => {
                state.abandoned.insert(number, name);
            }
            Kind::Timer(deadline) => state.made.stopped_timers.push((number, deadline)),
        }
    }

    // ---- what a workflow may know --------------------------------------------------------------------

    pub(crate) fn now(&self) -> Timestamp {
        self.state.borrow().now
    }

    pub(crate) fn run(&self) -> Option<RunKey> {
        self.state.borrow().run.clone()
    }

    pub(crate) fn log(&self, message: &dyn std::fmt::Display, place: &'static Location<'static>) {
        // The text is made while nothing is borrowed: making it may run code of the user.
        if self.state.borrow().expected.is_some() {
            return;
        }
        let message = message.to_string();
        let state = &mut *self.state.borrow_mut();
        let site = state.location(place);
        state.made.logs.push(LogLine { message, site });
    }
}

impl State {
    fn begin(&mut self, unit: u64, at: Timestamp) {
        self.unit = unit;
        self.now = self.now.max(at);
        self.commands = 0;
        self.made = Made::default();
    }

    /// The number that the next decision gets.
    fn event(&self) -> u64 {
        self.unit + 1 + self.commands as u64
    }

    fn run_text(&self) -> String {
        self.run
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    /// `None` when an error has stopped the machine.
    fn may_decide(&mut self) -> Option<()> {
        if self.error.is_some() {
            return None;
        }
        if self.commands >= MAX_COMMANDS {
            self.error = Some(self.runaway(
                "commands in one poll",
                self.commands as u64 + 1,
                MAX_COMMANDS as u64,
            ));
            return None;
        }
        if self.operations.len() >= MAX_OPEN {
            self.error =
                Some(self.runaway("open operations", MAX_OPEN as u64 + 1, MAX_OPEN as u64));
            return None;
        }
        Some(())
    }

    /// For commands that do not wait: code that makes them without end is stopped by unwinding, since it
    /// gives nobody else a chance to stop it.
    fn may_decide_now(&mut self) -> Option<()> {
        let may = self.may_decide();
        if may.is_none() {
            self.commands += 1;
            if self.commands > 2 * MAX_COMMANDS {
                std::panic::resume_unwind(Box::new(""));
            }
        }
        may
    }

    /// Live: `None`. In replay: the next recorded decision of the unit, where there is one.
    fn next_expected(&mut self) -> Option<Option<Decision>> {
        self.expected.as_mut().map(VecDeque::pop_front)
    }

    fn open(&mut self, kind: Kind) -> u64 {
        let number = self.next_operation;
        self.next_operation += 1;
        self.commands += 1;
        self.operations.insert(
            number,
            Operation {
                kind,
                end: None,
                waker: None,
            },
        );
        number
    }

    fn refuse<T>(
        &mut self,
        kind: IncompatibleKind,
        recorded: Option<&Decision>,
        asked: Side,
    ) -> Option<T> {
        let kind = if recorded.is_none() {
            IncompatibleKind::Inserted
        } else {
            kind
        };
        self.fail(kind, recorded.map(Side::of), Some(asked));
        None
    }

    fn fail(&mut self, kind: IncompatibleKind, recorded: Option<Side>, asked: Option<Side>) {
        let error = self.mismatch(kind, recorded, asked);
        self.error
            .get_or_insert(Blocked::Incompatible(Box::new(error)));
    }

    fn mismatch(
        &self,
        kind: IncompatibleKind,
        recorded: Option<Side>,
        asked: Option<Side>,
    ) -> Incompatible {
        let difference = match (&recorded, &asked) {
            (Some(Side { value: Some(a), .. }), Some(Side { value: Some(b), .. })) => {
                a.difference(b)
            }
            _ => None,
        };
        Incompatible {
            kind,
            run: self.run_text(),
            workflow: self.workflow.to_owned(),
            event: self.event(),
            recorded,
            asked,
            difference,
            detail: None,
            started_by: self.started_by.clone(),
            artifact: self.artifact.to_string(),
        }
    }

    fn runaway(&self, what: &'static str, count: u64, limit: u64) -> Blocked {
        let (run, workflow, event) = (self.run_text(), self.workflow, self.event());
        Blocked::Runaway(Runaway {
            run,
            workflow,
            event,
            what,
            count,
            limit,
        })
    }

    fn site(&self) -> Option<CallSite> {
        SITE.get().map(|site| CallSite {
            file: self.relative(site.file).into(),
            line: site.line,
            column: site.column,
            function: site.function.into(),
        })
    }

    fn location(&self, place: &'static Location<'static>) -> CallSite {
        let function = SITE.get().map_or("", |site| site.function);
        CallSite {
            file: self.relative(place.file()).into(),
            line: place.line(),
            column: place.column(),
            function: function.into(),
        }
    }

    /// Files are recorded relative to the package where the compiler names them in full.
    fn relative(&self, file: &'static str) -> &'static str {
        let inside = self
            .manifest_dir
            .and_then(|folder| file.strip_prefix(folder));
        inside.map_or(file, |rest| rest.trim_start_matches(['/', '\\']))
    }
}
