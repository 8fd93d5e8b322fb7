//! The replay machine: observations in, decisions out.
//!
//! A [`Machine`] runs one generation of a run. It knows no clock, thread, file or socket; whoever feeds it
//! and carries out what it decides is a *driver*. The contract in short:
//!
//! 1. Make one with [`Machine::new`].
//! 2. If the run has a history, feed it unit by unit to [`Machine::replay`].
//! 3. Feed each new observation to [`Machine::observe`], commit the [`Step`]'s unit, and when that is
//!    durable, carry out what it decided.
//! 4. On [`Blocked`], drop the machine: nothing of that unit may be committed.
//!
//! Dropping a machine at any time is inert: it decides nothing (S12).

mod core;
mod flag;
mod handle;
mod step;
mod tasks;
mod waits;

pub use step::{LogLine, Scheduled, Step};

pub(crate) use self::core::{Core, Resolution, SITE};
pub(crate) use flag::Board;
pub(crate) use handle::{Handle, Until};
pub(crate) use tasks::TaskId;
pub(crate) use waits::{check, wait, waits};

use flag::Flag;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::history::{ActivityFailure, Decision, Observation, SEMANTICS, Started, Unit};
use crate::incompatible::IncompatibleKind;
use crate::workflow::BodyFuture;
use crate::{Blocked, Cx, Timestamp, WorkflowDefinition};

/// The most commands that one poll may make (S15).
pub const MAX_COMMANDS: usize = 10_000;
/// The most operations that may be open at a time (S15).
pub const MAX_OPEN: usize = 10_000;
/// The most events that a generation may have (S15).
pub const MAX_EVENTS: u64 = 100_000;
/// From how many events on a driver should warn (S15).
pub const WARN_EVENTS: u64 = 50_000;

/// Numbers that nobody can foresee, for draws: the driver's.
pub type Entropy = Box<dyn FnMut() -> u64>;

/// One generation of a run, at work.
pub struct Machine {
    definition: WorkflowDefinition,
    core: Rc<Core>,
    root: Option<BodyFuture>,
    root_flag: Arc<Flag>,
    waker: Waker,
    next_event: u64,
    finished: bool,
}

impl Machine {
    /// A machine for a run of `definition`, before its first event. `artifact` names the running program
    /// in errors.
    #[must_use]
    pub fn new(definition: WorkflowDefinition, artifact: &Arc<str>, entropy: Entropy) -> Self {
        let root_flag = Flag::new();
        let waker = Waker::from(Arc::clone(&root_flag));
        let core = Core::new(
            definition.name,
            definition.graph.manifest_dir,
            Arc::clone(artifact),
            entropy,
        );
        Self {
            definition,
            core: Rc::new(core),
            root: None,
            root_flag,
            waker,
            next_event: 1,
            finished: false,
        }
    }

    /// Feeds a recorded unit and compares each decision with it (S9).
    ///
    /// # Errors
    ///
    /// [`Blocked`]; the machine must not be used any more.
    pub fn replay(&mut self, unit: Unit) -> Result<(), Blocked> {
        if unit.number != self.next_event {
            let found = format!("event {} comes next", unit.number);
            return Err(self.core.incompatible(
                IncompatibleKind::Gap,
                self.next_event,
                Some(found),
            ));
        }
        let last = unit.last();
        self.core.begin_replay(unit.number, unit.at, unit.decisions);
        self.feed(unit.observation)?;
        self.core.end_replay()?;
        self.next_event = last + 1;
        Ok(())
    }

    /// Feeds a new observation. `at` is its stamp, `clock` the time from which deadlines count (S7).
    ///
    /// # Errors
    ///
    /// [`Blocked`]; the machine must not be used any more, and nothing may be committed.
    pub fn observe(
        &mut self,
        observation: Observation,
        at: Timestamp,
        clock: Timestamp,
    ) -> Result<Step, Blocked> {
        let number = self.next_event;
        self.core.begin_live(number, at, clock);
        self.feed(observation.clone())?;
        let made = self.core.end_live();
        let unit = Unit {
            number,
            at,
            observation,
            decisions: made.decisions,
        };
        self.next_event = unit.last() + 1;
        if unit.last() > MAX_EVENTS {
            return Err(self.core.too_long(unit.last()));
        }
        Ok(Step {
            unit,
            scheduled: made.scheduled,
            stopped_timers: made.stopped_timers,
            logs: made.logs,
            finished: self.finished,
        })
    }

    /// Whether the generation has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The number that the next event gets.
    #[must_use]
    pub fn next_event(&self) -> u64 {
        self.next_event
    }

    /// The number that the next operation gets.
    #[must_use]
    pub fn next_operation(&self) -> u64 {
        self.core.next_operation()
    }

    /// The timers that have not fired: operation and deadline, in no order.
    #[must_use]
    pub fn timers(&self) -> Vec<(u64, Timestamp)> {
        self.core.timers()
    }

    /// Activities that were scheduled and have no result yet, dropped ones included, in no order.
    #[must_use]
    pub fn open_activities(&self) -> Vec<u64> {
        self.core.open_activities()
    }

    fn feed(&mut self, observation: Observation) -> Result<(), Blocked> {
        if self.finished {
            let detail = Some("the run had ended with the event before".to_owned());
            return Err(self.core.incompatible(
                IncompatibleKind::LeftOver,
                self.next_event,
                detail,
            ));
        }
        match observation {
            Observation::Started(started) => self.start(started)?,
            _ if self.root.is_none() => {
                let detail = Some("a history begins with `started`".to_owned());
                return Err(self
                    .core
                    .incompatible(IncompatibleKind::Gap, self.next_event, detail));
            }
            Observation::ActivityCompleted { operation, result } => {
                self.core
                    .resolve(operation, Resolution::Activity(Ok(result)));
            }
            Observation::ActivityFailed { operation, failure } => {
                self.core
                    .resolve(operation, Resolution::Activity(Err(failure)));
            }
            Observation::TimerFired { operation } => {
                self.core.resolve(operation, Resolution::Timer)
            }
        }
        match catch_unwind(AssertUnwindSafe(|| self.poll())) {
            Ok(()) => self.core.take_error(),
            Err(payload) => Err(self.core.panicked(payload.as_ref())),
        }
    }

    fn start(&mut self, started: Started) -> Result<(), Blocked> {
        if self.root.is_some() {
            let detail = Some("`started` comes a second time".to_owned());
            return Err(self.core.incompatible(
                IncompatibleKind::LeftOver,
                self.next_event,
                detail,
            ));
        }
        self.core.begin_run(&started);
        if started.workflow != self.definition.name {
            let detail = Some(format!("the run is one of `{}`", started.workflow));
            return Err(self.core.incompatible(
                IncompatibleKind::NotRegistered,
                self.next_event,
                detail,
            ));
        }
        if started.semantics > SEMANTICS {
            let detail = format!(
                "its replay semantics are number {}; this engine knows those up to {SEMANTICS}",
                started.semantics
            );
            return Err(self.core.incompatible(
                IncompatibleKind::Newer,
                self.next_event,
                Some(detail),
            ));
        }
        match (self.definition.build)(Cx::new(&self.core), &started.input) {
            Ok(root) => self.root = Some(root),
            Err(error) => {
                let detail = Some(format!("the input: {error}"));
                return Err(self.core.incompatible(
                    IncompatibleKind::DoesNotDecode,
                    self.next_event,
                    detail,
                ));
            }
        }
        self.root_flag.raise();
        Ok(())
    }

    /// Polls what changed, from the root in source order and then the spawned tasks in spawning order, until
    /// nothing changes any more (S8).
    fn poll(&mut self) {
        let core = Rc::clone(&self.core);
        let _polling = core.enter();
        let mut context = Context::from_waker(&self.waker);
        loop {
            let mut polled = false;
            if self.root_flag.lower()
                && let Some(root) = &mut self.root
            {
                polled = true;
                let before = waits();
                match root.as_mut().poll(&mut context) {
                    Poll::Ready(end) => return self.end(end),
                    Poll::Pending => check(before),
                }
            }
            polled |= self.core.poll_tasks();
            self.core.check_foreign();
            if !polled || self.core.has_error() {
                return;
            }
        }
    }

    fn end(&mut self, end: crate::BodyEnd) {
        // A function that returns has dropped its locals; what it spawned goes now, in the order in which it
        // was spawned, and each operation that this drops is a decision (S12).
        self.core.drop_tasks();
        let open = self.core.abandoned();
        match end {
            Ok(Ok(value)) => self.core.decide_end(Decision::Completed { value, open }),
            Ok(Err(error)) => self.core.decide_end(Decision::Failed { error, open }),
            Err(error) => self
                .core
                .unstorable("what the workflow returned".to_owned(), error),
        }
        self.root = None;
        self.finished = true;
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.core.disarm();
        self.root = None;
        self.core.drop_tasks();
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine")
            .field("workflow", &self.definition.name)
            .field("next_event", &self.next_event)
            .field("finished", &self.finished)
            .finish_non_exhaustive()
    }
}

/// The end of an activity as its waiter gets it.
pub(crate) type ActivityEnd = Result<crate::value::Value, ActivityFailure>;
