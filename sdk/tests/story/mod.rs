//! Drives a machine as a driver would, and checks after every unit what must always hold:
//!
//! * a cold machine that replays the history so far stands where the warm one stands, without having drawn
//!   or made anything;
//! * a cold machine that replays all but the last unit, and is then fed the last observation, gives the
//!   same unit to the byte (S9, O2).
//!
//! The cold machines run on threads of their own, so that what a test counts in a `thread_local` is the
//! warm machine's.

// Each test program uses a part of it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use perennial::history::{
    ActivityFailure, Decision, Observation, SEMANTICS, Started, Told, Unit, encode_unit, render,
};
use perennial::machine::{LogLine, Machine, Step, Verdict};
use perennial::value::Value;
use perennial::{Blocked, Namespace, RunId, Timestamp, Workflow, WorkflowDefinition};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// When each story begins.
pub const BEGIN: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// A run, told from outside.
pub struct Story {
    definition: WorkflowDefinition,
    machine: Machine,
    draws: Rc<Cell<u64>>,
    /// How many draws there had been before each unit.
    drawn: Vec<u64>,
    clock: Timestamp,
    checked: bool,
    pub units: Vec<Unit>,
    pub logs: Vec<LogLine>,
    pub last: Option<Step>,
}

impl Story {
    /// A run of `W` that has started.
    pub fn of<W: Workflow>(input: impl Serialize) -> Self {
        let mut story = Self::untold::<W>();
        story.observe(started::<W>(input));
        story
    }

    /// A run of `W` before its first event.
    pub fn untold<W: Workflow>() -> Self {
        let definition = WorkflowDefinition::of::<W>();
        let draws = Rc::new(Cell::new(0));
        Self {
            definition,
            machine: Machine::new(definition, &artifact("this"), entropy(&draws)),
            draws,
            drawn: Vec::new(),
            clock: BEGIN,
            checked: true,
            units: Vec::new(),
            logs: Vec::new(),
            last: None,
        }
    }

    /// For stories of many units: only what the test itself checks.
    pub fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }

    // ---- what the world does -------------------------------------------------------------------------

    pub fn observe(&mut self, observation: Observation) -> &Step {
        match self.try_observe(observation) {
            Ok(_) => self.last.as_ref().unwrap(),
            Err(blocked) => panic!("{blocked}"),
        }
    }

    /// Feeds an observation that blocks the run; a cold machine is blocked by it too, and says the same.
    pub fn blocked(&mut self, observation: Observation) -> Blocked {
        let blocked = match self.try_observe(observation.clone()) {
            Ok(step) => panic!("not blocked: {step:?}"),
            Err(blocked) => blocked,
        };
        let again = self.machine.observe(observation, self.clock, self.clock);
        assert_eq!(
            again.unwrap_err(),
            blocked,
            "a blocked machine says it again"
        );
        blocked
    }

    /// Feeds what may block the run.
    pub fn anything(&mut self, observation: Observation) -> Option<Blocked> {
        self.try_observe(observation).err()
    }

    fn try_observe(&mut self, observation: Observation) -> Result<(), Blocked> {
        self.drawn.push(self.draws.get());
        let at = self.clock;
        let result = self.machine.observe(observation.clone(), at, at);
        if self.checked {
            let (definition, units) = (self.definition, &self.units);
            let drawn = self.drawn[units.len()];
            let cold = apart(|| {
                let mut machine = replayed(definition, units).unwrap_or_else(|blocked| {
                    panic!("a cold replay of what was told is blocked: {blocked}")
                });
                machine.1.set(Some(drawn));
                let step = machine.0.observe(observation, at, at);
                step.map(|step| encode_unit(&step.unit))
            });
            let warm = result.as_ref().map(|step| encode_unit(&step.unit));
            assert_eq!(warm.map_err(Blocked::clone), cold, "warm and cold differ");
        }
        let step = result?;
        self.units.push(step.unit.clone());
        self.logs.extend(step.logs.iter().cloned());
        self.last = Some(step);
        if self.checked {
            let (definition, units) = (self.definition, &self.units);
            let cold = apart(|| standing(&replayed(definition, units).unwrap().0));
            assert_eq!(
                standing(&self.machine),
                cold,
                "a cold machine stands elsewhere"
            );
        }
        Ok(())
    }

    pub fn complete(&mut self, operation: u64, result: impl Serialize) -> &Step {
        let result = Value::encode(&result).unwrap();
        self.observe(Observation::ActivityCompleted { operation, result })
    }

    pub fn fail(&mut self, operation: u64, failure: ActivityFailure) -> &Step {
        self.observe(Observation::ActivityFailed { operation, failure })
    }

    /// A message comes in.
    pub fn message(&mut self, number: u64, name: &str, payload: impl Serialize) -> &Step {
        self.observe(Observation::MessageArrived(told(number, name, payload)))
    }

    /// A signal comes in.
    pub fn signal(&mut self, number: u64, name: &str, payload: impl Serialize) -> &Step {
        self.observe(Observation::SignalArrived(told(number, name, payload)))
    }

    /// Somebody fulfils a stub.
    pub fn fulfil(&mut self, operation: u64, value: impl Serialize) -> &Step {
        self.observe(fulfilled(operation, value))
    }

    pub fn fire(&mut self, operation: u64) -> &Step {
        let timers = self.machine.timers();
        if let Some((_, deadline)) = timers.iter().find(|(number, _)| *number == operation) {
            self.clock = self.clock.max(*deadline);
        }
        self.observe(Observation::TimerFired { operation })
    }

    pub fn advance(&mut self, milliseconds: u64) {
        self.clock = self.clock + std::time::Duration::from_millis(milliseconds);
    }

    pub fn set_clock(&mut self, at: Timestamp) {
        self.clock = at;
    }

    // ---- what came of it -----------------------------------------------------------------------------

    /// What the run's validator says.
    pub fn validate(&mut self, update: &str, input: &Value) -> Result<Verdict, Blocked> {
        self.machine.validate(update, input)
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine, warm, for what the story does not offer.
    pub fn into_machine(self) -> Machine {
        self.machine
    }

    pub fn last(&self) -> &Step {
        self.last.as_ref().unwrap()
    }

    /// The decisions of the last unit.
    pub fn decisions(&self) -> &[Decision] {
        &self.last().unit.decisions
    }

    pub fn text(&self) -> String {
        render(&self.units, perennial::history::Render::default())
    }

    pub fn is_finished(&self) -> bool {
        self.machine.is_finished()
    }

    /// What the workflow returned: its result, or its error.
    pub fn result<T: DeserializeOwned, E: DeserializeOwned>(&self) -> Result<T, E> {
        match self.decisions().last() {
            Some(Decision::Completed { value, .. }) => Ok(value.decode().unwrap()),
            Some(Decision::Failed { error, .. }) => Err(error.decode().unwrap()),
            other => panic!("the run has not ended: {other:?}"),
        }
    }

    /// The run goes on with other code of the same name.
    pub fn on<W: Workflow>(&self) -> Self {
        let mut story = Self::untold::<W>();
        story.clock = self.clock;
        story.drawn.clone_from(&self.drawn);
        story.draws.set(self.draws.get());
        story.units.clone_from(&self.units);
        for unit in &self.units {
            story.machine.replay(unit.clone()).unwrap();
        }
        story
    }

    /// Replays the history on other code of the same name.
    pub fn replay_on<W: Workflow>(&self) -> Result<(), Blocked> {
        replay::<W>(&self.units)
    }

    /// The blocked that other code of the same name comes to.
    pub fn blocked_on<W: Workflow>(&self) -> Blocked {
        self.replay_on::<W>().unwrap_err()
    }
}

/// Replays `units` on a cold machine.
pub fn replay<W: Workflow>(units: &[Unit]) -> Result<(), Blocked> {
    apart(|| replayed(WorkflowDefinition::of::<W>(), units).map(drop))
}

pub fn started<W: Workflow>(input: impl Serialize) -> Observation {
    Observation::Started(Started {
        workflow: W::NAME.into(),
        input: Value::encode(&input).unwrap(),
        semantics: SEMANTICS,
        artifact: "first".into(),
        namespace: Namespace::default(),
        run: RunId::new("order-42").unwrap(),
        generation: 1,
        first_operation: 1,
        version: None,
        migrated_from: None,
        forked_from: Vec::new(),
        streams: Vec::new(),
    })
}

pub fn told(number: u64, name: &str, payload: impl Serialize) -> Told {
    Told {
        number,
        name: name.to_owned(),
        payload: Value::encode(&payload).unwrap(),
        key: None,
    }
}

pub fn fulfilled(operation: u64, value: impl Serialize) -> Observation {
    Observation::StubFulfilled {
        operation,
        value: Value::encode(&value).unwrap(),
        key: None,
    }
}

pub fn completed(operation: u64, result: impl Serialize) -> Observation {
    Observation::ActivityCompleted {
        operation,
        result: Value::encode(&result).unwrap(),
    }
}

pub fn artifact(name: &str) -> Arc<str> {
    name.into()
}

fn entropy(draws: &Rc<Cell<u64>>) -> perennial::machine::Entropy {
    let draws = Rc::clone(draws);
    Box::new(move || {
        draws.set(draws.get() + 1);
        // Any sequence does; this one is spread over all bits.
        draws.get().wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

/// What of a machine a driver can see.
fn standing(machine: &Machine) -> impl PartialEq + std::fmt::Debug + Send + use<> {
    (
        machine.next_event(),
        machine.next_operation(),
        machine.is_finished(),
        machine.timers(),
        machine.open_activities(),
        machine.open_offers(),
    )
}

/// How many draws there have been; `None`: there may be none.
type Drawn = Rc<Cell<Option<u64>>>;

/// A machine that has replayed `units`. Until draws are put in, drawing is a panic.
fn replayed(definition: WorkflowDefinition, units: &[Unit]) -> Result<(Machine, Drawn), Blocked> {
    let draws = Rc::new(Cell::new(None::<u64>));
    let own = Rc::clone(&draws);
    let entropy = Box::new(move || {
        let drawn = own.get().expect("a replay draws nothing") + 1;
        own.set(Some(drawn));
        drawn.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    });
    let mut machine = Machine::new(definition, &artifact("this"), entropy);
    for (next, unit) in (1..).zip(units) {
        let result = machine.replay(unit.clone());
        result.map_err(|blocked| blocked.look_ahead(&units[next..]))?;
    }
    Ok((machine, draws))
}

/// Runs `code` on a thread of its own.
pub fn apart<T: Send>(code: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| match scope.spawn(code).join() {
        Ok(result) => result,
        Err(payload) => std::panic::resume_unwind(payload),
    })
}

/// A durable future that counts on this thread how often it is polled.
pub struct Counted<F>(std::pin::Pin<Box<F>>);

thread_local! {
    static POLLS: Cell<usize> = const { Cell::new(0) };
}

impl<F: std::future::Future> Counted<F> {
    pub fn new<D: perennial::Durable<IntoFuture = F, Output = F::Output>>(future: D) -> Self {
        Self(Box::pin(future.into_future()))
    }
}

/// How often [`Counted`] futures were polled on this thread since this was asked last.
pub fn polls() -> usize {
    POLLS.take()
}

impl<F: std::future::Future> std::future::Future for Counted<F> {
    type Output = F::Output;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<F::Output> {
        POLLS.set(POLLS.get() + 1);
        self.0.as_mut().poll(context)
    }
}

impl<F: std::future::Future> perennial::Durable for Counted<F> {}

/// A future that passes for durable and is not: nothing in a history would ever wake it.
pub struct Foreign;

impl std::future::Future for Foreign {
    type Output = ();

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        std::task::Poll::Pending
    }
}

impl perennial::Durable for Foreign {}
