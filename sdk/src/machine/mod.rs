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
mod decide;
mod emit;
mod fault;
mod flag;
mod fulfil;
mod handle;
mod inbox;
mod markers;
mod offers;
#[cfg(feature = "testing")]
mod pins;
mod probe;
mod send;
mod state;
mod step;
mod tasks;
mod trail;
mod untils;
mod updates;
mod view;
mod waits;

pub use markers::MAX_MARKER_ID;
pub use step::{LogLine, Offered, Retold, Scheduled, Step};
pub use updates::Verdict;
pub use view::Shown;

pub(crate) use self::core::{Core, SITE};
pub(crate) use flag::Board;
pub(crate) use fulfil::Fulfils;
pub(crate) use handle::{Handle, Until};
pub(crate) use markers::MarkerCall;
#[cfg(feature = "testing")]
pub(crate) use pins::Pins;
pub(crate) use send::Sends;
pub(crate) use state::{Arrived, Resolution};
pub(crate) use tasks::TaskId;
pub(crate) use trail::pending;
pub(crate) use updates::{Handler, Handles};
pub(crate) use waits::{judged, may_poll, pass, wait};

use flag::Flag;
use state::Made;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::cx::Lent;
use crate::history::{
    ActivityFailure, Channel, Decision, Migrated, Observation, SEMANTICS, Started, Unit,
};
use crate::incompatible::IncompatibleKind;
use crate::workflow::BodyFuture;
use crate::{Blocked, Timestamp, WorkflowDefinition};

/// The most commands that may follow one observation (S15).
pub const MAX_COMMANDS: usize = 10_000;
/// The most operations that may be open at a time (S15).
pub const MAX_OPEN: usize = 10_000;
/// The most events that a generation may have (S15).
pub const MAX_EVENTS: u64 = 100_000;
/// From how many events on a driver should warn (S15).
pub const WARN_EVENTS: u64 = 50_000;

/// The most bytes that a unit may have (S15).
pub const MAX_UNIT_BYTES: usize = 16 << 20;
/// How often one observation may have something polled, so that what wakes itself comes to an end.
pub(crate) const MAX_POLLS: usize = 1_000_000;
/// How many tasks may begin one inside the other: each of them is a few frames on the stack.
pub(crate) const MAX_SPAWN_DEPTH: usize = 100;

/// Numbers that nobody can foresee, for draws: the driver's.
pub type Entropy = Box<dyn FnMut() -> u64>;

/// One generation of a run, at work.
pub struct Machine {
    definition: WorkflowDefinition,
    core: Rc<Core>,
    root: Option<BodyFuture>,
    /// What the workflow's code knows as its `cx`.
    lent: Option<Lent>,
    root_flag: Arc<Flag>,
    waker: Waker,
    /// How many bytes the run's input has.
    input: usize,
    next_event: u64,
    finished: bool,
    blocked: Option<Blocked>,
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
            definition.graph,
            Arc::clone(artifact),
            entropy,
        );
        Self {
            definition,
            core: Rc::new(core),
            root: None,
            lent: None,
            root_flag,
            waker,
            input: 0,
            next_event: 1,
            finished: false,
            blocked: None,
        }
    }

    /// Feeds a recorded unit and compares each decision with it (S9).
    ///
    /// # Errors
    ///
    /// [`Blocked`], from then on for whatever is fed.
    pub fn replay(&mut self, unit: Unit) -> Result<(), Blocked> {
        self.unless_blocked(|machine| machine.replay_unit(unit).map(drop))
    }

    /// As [`replay`](Self::replay), and gives back what whoever carries the run on elsewhere has to know, and is in no
    /// history: the options of the activities that the unit schedules, and what becomes of offers.
    ///
    /// # Errors
    ///
    /// [`Blocked`], from then on for whatever is fed.
    pub fn retell(&mut self, unit: Unit) -> Result<Retold, Blocked> {
        self.unless_blocked(|machine| {
            machine.core.tell(unit.at);
            let Made {
                scheduled, offers, ..
            } = machine.replay_unit(unit)?;
            Ok(Retold { scheduled, offers })
        })
    }

    /// Another run is to go on from here: of the messages that no wait has returned it has none, so that it waits as if
    /// they had not come (M43).
    pub fn fork(&mut self) {
        self.core.forget_messages();
    }

    /// As [`replay`](Self::replay), and gives back what the code asks for where that is not compared: the
    /// timers with their deadlines, counted from the unit's stamp, and the activities' options. The test kit
    /// compares those too.
    #[cfg(feature = "testing")]
    pub(crate) fn replay_told(
        &mut self,
        unit: Unit,
    ) -> Result<(Vec<Decision>, Vec<Scheduled>), Blocked> {
        self.unless_blocked(|machine| {
            machine.core.tell(unit.at);
            let made = machine.replay_unit(unit)?;
            Ok((made.decisions, made.scheduled))
        })
    }

    /// Where live code would get the highest version of a marker, it gets that of `pins`.
    #[cfg(feature = "testing")]
    pub(crate) fn pin(&mut self, pins: &Rc<Pins>) {
        self.core.pin(pins);
    }

    /// Feeds a new observation. `at` is its stamp, `clock` the time from which deadlines count (S7).
    ///
    /// # Errors
    ///
    /// [`Blocked`], from then on for whatever is fed; nothing may be committed.
    pub fn observe(
        &mut self,
        observation: Observation,
        at: Timestamp,
        clock: Timestamp,
    ) -> Result<Step, Blocked> {
        self.unless_blocked(|machine| machine.observe_live(observation, at, clock))
    }

    /// A machine that was stopped in the middle of something gives its error again.
    fn unless_blocked<T>(
        &mut self,
        feed: impl FnOnce(&mut Self) -> Result<T, Blocked>,
    ) -> Result<T, Blocked> {
        if let Some(blocked) = &self.blocked {
            return Err(blocked.clone());
        }
        let result = feed(self);
        if let Err(blocked) = &result {
            self.blocked = Some(blocked.clone());
        }
        result
    }

    fn replay_unit(&mut self, unit: Unit) -> Result<Made, Blocked> {
        if unit.number != self.next_event {
            let found = format!("it is missing: event {} comes next", unit.number);
            return Err(self
                .core
                .incompatible(IncompatibleKind::Gap, self.next_event, found));
        }
        let last = unit.last();
        self.core.begin_replay(unit.number, unit.at, unit.decisions);
        self.feed(unit.observation)?;
        let made = self.core.end_replay(self.finished)?;
        self.core.end_unit(last);
        self.next_event = last + 1;
        Ok(made)
    }

    fn observe_live(
        &mut self,
        observation: Observation,
        at: Timestamp,
        clock: Timestamp,
    ) -> Result<Step, Blocked> {
        let number = self.next_event;
        self.core.begin_live(number, at, clock, observation.size());
        self.feed(observation.clone())?;
        let made = self.core.end_live();
        let unit = Unit {
            number,
            at,
            observation,
            decisions: made.decisions,
        };
        if unit.last() > MAX_EVENTS {
            return Err(self.core.too_long(unit.last()));
        }
        self.core.end_unit(unit.last());
        self.next_event = unit.last() + 1;
        Ok(Step {
            unit,
            scheduled: made.scheduled,
            stopped_timers: made.stopped_timers,
            offers: made.offers,
            logs: made.logs,
            views: self.core.changed_views(),
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

    /// The timers that have not fired: operation and deadline, in the order in which they began.
    #[must_use]
    pub fn timers(&self) -> Vec<(u64, Timestamp)> {
        self.core.timers()
    }

    /// Activities that were scheduled and have no result yet; those that were dropped come last.
    #[must_use]
    pub fn open_activities(&self) -> Vec<u64> {
        self.core.open_activities()
    }

    /// The stubs that are offered and not fulfilled, in the order in which they were offered.
    #[must_use]
    pub fn open_offers(&self) -> Vec<u64> {
        self.core.open_offers()
    }

    /// What the run waits for that has not come: each name once, in their order. Of all else that it is told it
    /// takes no notice now, so a driver may keep messages back until there is a wait for them, or something else to
    /// tell (S25), and drop signals that are not among these (M54).
    #[must_use]
    pub fn awaited(&self) -> Vec<(Channel, &'static str)> {
        self.core.awaited()
    }

    /// Whether the run waits for that, see [`awaited`](Self::awaited).
    #[must_use]
    pub fn awaits(&self, channel: Channel, name: &str) -> bool {
        self.core.awaits(channel, name)
    }

    /// What the views of the run show, by their names (S28): of a replayed run what the code makes of it that is
    /// running now.
    #[must_use]
    pub fn views(&self) -> Vec<Shown> {
        self.core.all_views()
    }

    /// About how many bytes it holds: the futures of the workflow and of what that spawned, the run's input,
    /// and what belongs to open operations. What the workflow's values have on the heap it cannot see.
    #[must_use]
    pub fn memory(&self) -> usize {
        let root = self.root.as_ref().map_or(0, |root| size_of_val(&**root));
        size_of::<Self>() + root + self.input + self.core.memory()
    }

    fn feed(&mut self, observation: Observation) -> Result<(), Blocked> {
        if self.finished {
            return Err(self.refused(
                IncompatibleKind::LeftOver,
                "the run had ended with the event before",
            ));
        }
        match observation {
            // It decodes the input, and that is code of the user's.
            Observation::Started(started) => self.catch(|machine| machine.start(started))?,
            Observation::Migrated(migrated) => return self.end_from_outside(&migrated),
            _ if self.root.is_none() => {
                return Err(self.refused(IncompatibleKind::Gap, "a history begins with `started`"));
            }
            Observation::ActivityCompleted { operation, result } => self
                .core
                .resolve(operation, Resolution::Activity(Ok(result)))?,
            Observation::ActivityFailed { operation, failure } => self
                .core
                .resolve(operation, Resolution::Activity(Err(failure)))?,
            Observation::TimerFired { operation } => {
                self.core.resolve(operation, Resolution::Timer)?;
            }
            Observation::StubFulfilled {
                operation, value, ..
            } => self.core.resolve(operation, Resolution::Stub(value))?,
            Observation::SlotFilled { operation, result } => {
                self.core.resolve(operation, Resolution::Slot(result))?;
            }
            // The handler is code of the user's.
            Observation::UpdateAccepted { name, input, .. } => self.catch(|machine| {
                machine.core.accept(&name, &input);
                Ok(())
            })?,
            Observation::MessageArrived(told) => self.core.arrive(Channel::Message, told)?,
            Observation::SignalArrived(told) => self.core.arrive(Channel::Signal, told)?,
        }
        crate::allowed::leave_all();
        self.core.wake_untils();
        self.catch(|machine| {
            machine.poll();
            if machine.finished {
                machine.root = None;
            }
            machine.core.take_error()
        })
    }

    /// An imposed end: the code has no say in it, and is not polled (S11).
    fn end_from_outside(&mut self, end: &Migrated) -> Result<(), Blocked> {
        match &end.unstarted {
            None if self.root.is_none() => {
                return Err(self.refused(IncompatibleKind::Gap, "a history begins with `started`"));
            }
            Some(_) if self.root.is_some() => {
                let detail = "the run had begun, and this says that it had not";
                return Err(self.refused(IncompatibleKind::Damaged, detail));
            }
            Some(started) => self.core.begin_run(started),
            None => {}
        }
        self.finished = true;
        self.discard();
        Ok(())
    }

    /// Lets go of the code, wherever it stands. Inert, whatever it holds: nothing is being polled, so nothing is
    /// a decision (S12). A drop of the user's that panics takes nothing else with it.
    fn discard(&mut self) {
        let root = self.root.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(root)));
        let _ = catch_unwind(AssertUnwindSafe(|| self.core.discard_updates()));
        self.core.discard_tasks();
    }

    /// Runs code of the user's: a panic blocks the run and nobody else (S14).
    fn catch(&mut self, run: impl FnOnce(&mut Self) -> Result<(), Blocked>) -> Result<(), Blocked> {
        match catch_unwind(AssertUnwindSafe(|| run(self))) {
            Ok(result) => result,
            Err(payload) => Err(self.core.panicked(payload.as_ref())),
        }
    }

    fn refused(&self, kind: IncompatibleKind, detail: impl Into<String>) -> Blocked {
        self.core.incompatible(kind, self.next_event, detail.into())
    }

    fn start(&mut self, started: Started) -> Result<(), Blocked> {
        if self.root.is_some() {
            return Err(self.refused(IncompatibleKind::LeftOver, "`started` comes a second time"));
        }
        self.core.begin_run(&started);
        if started.workflow != self.definition.name {
            let detail = format!("the run is one of the workflow `{}`", started.workflow);
            return Err(self.refused(IncompatibleKind::NotRegistered, detail));
        }
        if started.semantics > SEMANTICS {
            let detail = format!(
                "its replay semantics are number {}; this engine knows those up to {SEMANTICS}",
                started.semantics
            );
            return Err(self.refused(IncompatibleKind::Newer, detail));
        }
        // So that counting on never comes to an end within a generation.
        if started.first_operation == 0 || started.first_operation > u64::MAX - 2 * MAX_EVENTS {
            let detail = format!(
                "its operations begin with number {}, which cannot be",
                started.first_operation
            );
            return Err(self.refused(IncompatibleKind::Damaged, detail));
        }
        self.input = started.input.as_json().len();
        let lent = self.lent.insert(Lent::new(&self.core));
        match (self.definition.build)(lent.get(), &started.input) {
            Ok(root) => self.root = Some(root),
            Err(error) => {
                let detail = format!("the input: {error}");
                return Err(self.refused(IncompatibleKind::DoesNotDecode, detail));
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
                && may_poll()
                && let Some(root) = &mut self.root
            {
                polled = true;
                if let Poll::Ready(end) =
                    trail::task(|| judged(|| root.as_mut().poll(&mut context)))
                {
                    core.check_polls();
                    return self.end(end);
                }
            }
            polled |= core.poll_tasks();
            core.check_polls();
            if core.has_error() || (!polled && !core.wake_untils_again()) {
                return;
            }
        }
    }

    fn end(&mut self, end: crate::BodyEnd) {
        self.finished = true;
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
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.discard();
        // Last: what was just dropped may use it.
        self.lent = None;
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
