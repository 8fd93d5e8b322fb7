//! What an activity sees (S23).

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Namespace, OperationId, RunId, RunKey, Timestamp};

/// A type of application state that an activity asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateType {
    id: TypeId,
    name: &'static str,
}

impl StateType {
    /// The type `T`.
    #[must_use]
    pub fn of<T: Any>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
        }
    }

    /// The type's name, for people.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// The application state that a runtime hands to its activities: one value a type.
#[derive(Clone, Default)]
pub struct States(HashMap<TypeId, (&'static str, Arc<dyn Any + Send + Sync>)>);

impl States {
    /// Adds `state`, in place of an earlier one of the same type.
    pub fn insert<T: Any + Send + Sync>(&mut self, state: T) {
        self.0
            .insert(TypeId::of::<T>(), (type_name::<T>(), Arc::new(state)));
    }

    /// Whether there is a state of this type.
    #[must_use]
    pub fn has(&self, state: &StateType) -> bool {
        self.0.contains_key(&state.id)
    }

    fn get<T: Any>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.1.downcast_ref()
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.values().map(|(name, _)| name))
            .finish()
    }
}

/// One execution of an activity, as its driver describes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// The run that called it.
    pub run: RunKey,
    /// The operation that it works on.
    pub operation: u64,
    /// The activity's name.
    pub activity: Arc<str>,
    /// Which attempt this is, from 1.
    pub number: u32,
    /// When it must have ended; `None`: it may take as long as it takes.
    pub deadline: Option<Timestamp>,
    /// Grows with each owner of the run.
    pub fence: u64,
    /// Raised when the attempt should come to an end.
    pub stop: Stop,
}

/// A flag that, once raised, stays so: its driver asks an attempt to come to an end. Clones are one flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks all that see the flag to come to an end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Attempt {
    /// The first attempt of an operation, without a deadline.
    #[must_use]
    pub fn new(run: RunKey, operation: u64, activity: impl Into<Arc<str>>) -> Self {
        Self {
            run,
            operation,
            activity: activity.into(),
            number: 1,
            deadline: None,
            fence: 0,
            stop: Stop::default(),
        }
    }
}

/// What an activity sees of the operation it works on, and the application state.
#[derive(Clone, Debug)]
pub struct ActivityCx {
    attempt: Arc<Attempt>,
    states: Arc<States>,
}

impl ActivityCx {
    /// For drivers, and for tests that run an activity's code directly.
    #[must_use]
    pub fn new(attempt: Attempt, states: Arc<States>) -> Self {
        Self {
            attempt: Arc::new(attempt),
            states,
        }
    }

    /// Which attempt this is, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt.number
    }

    /// The operation, `<run>~<number>`.
    #[must_use]
    pub fn operation(&self) -> OperationId {
        OperationId {
            run: self.attempt.run.id.clone(),
            number: self.attempt.operation,
        }
    }

    /// The run that called this activity.
    #[must_use]
    pub fn run(&self) -> &RunKey {
        &self.attempt.run
    }

    /// A text that is the same in each attempt of this operation, in whatever process, and in no other
    /// operation of the store: `<namespace>/<run>~<number>`. Hand it to whoever can deduplicate.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let Attempt { run, operation, .. } = &*self.attempt;
        format!("{}/{}~{operation}", run.namespace, run.id)
    }

    /// A number that grows with each owner of the run and, within one owner, with each attempt. A system
    /// that keeps the highest number it has seen can refuse what an older attempt still sends.
    #[must_use]
    pub fn fencing_token(&self) -> u64 {
        (self.attempt.fence << 32) | u64::from(self.attempt.number)
    }

    /// When this attempt must have ended; `None`: it may take as long as it takes.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.attempt.deadline
    }

    /// Whether the attempt should come to an end: the runtime is stopping. An attempt that holds its thread
    /// cannot be stopped from outside, so a long loop asks this and returns a
    /// [transient failure](crate::Failure::transient); the next process tries again.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.attempt.stop.is_raised()
    }

    /// A context for tests that run an activity's code directly, as in
    /// `charge_card::run(&ActivityCx::for_test().with_state(bank), order)`.
    ///
    /// # Panics
    ///
    /// Never: the names that it uses are valid.
    #[must_use]
    pub fn for_test() -> Self {
        let run = match RunId::new("test") {
            Ok(id) => RunKey::new(Namespace::default(), id),
            Err(error) => unreachable!("{error}"),
        };
        Self::new(Attempt::new(run, 1, "test"), Arc::default())
    }

    /// The same context with `state` in addition, in place of an earlier one of the same type.
    #[must_use]
    pub fn with_state<T: Any + Send + Sync>(mut self, state: T) -> Self {
        Arc::make_mut(&mut self.states).insert(state);
        self
    }

    /// The application state of type `T`, as it was given to the runtime's builder.
    ///
    /// # Panics
    ///
    /// When there is none. A runtime does not start while a state is missing that an activity asks for in
    /// its own body or names in its attribute (`state(T)`), so this happens only where a function that the
    /// activity calls asks for a state that the attribute does not name.
    #[must_use]
    #[track_caller]
    pub fn state<T: Any + Send + Sync>(&self) -> &T {
        match self.states.get() {
            Some(state) => state,
            None => panic!(
                "the activity `{activity}` asks for the state `{state}`, which nobody has given\n\n\
                 help: add `.state(..)` to the runtime's builder, and `state({state})` to the activity's \
                 attribute so that a start without it is refused; in a test use `t.state(..)` or `with_state(..)`",
                activity = self.attempt.activity,
                state = type_name::<T>(),
            ),
        }
    }
}
