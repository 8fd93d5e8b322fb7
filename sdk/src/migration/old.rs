//! The run that is to be moved, as the migration sees it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Open, OpenKind, Refuse};
use crate::activity::ActivityResult;
use crate::history::{
    ActivityFailure, Decision, History, Observation, OpenOperation, RecordSource, Started, Unit,
};
use crate::value::Value;
use crate::{Activity, ActivityFn, Data, RunId, RunKey, Stub, StubFn, Timestamp};

/// What the activity that a name stands for returns.
type ResultOf<M, F> = <<<F as ActivityFn<M>>::A as Activity>::Output as ActivityResult>::Value;

/// A run that is to be moved: what has happened to it, and what of it is open.
///
/// It is what the store holds, and looking at it changes nothing. Beside the history it has what has arrived
/// since the history was written: a run that is blocked is told nothing, so the result of an activity may be
/// there that its code has never seen. A migration must know of it, or a card would be charged twice.
///
/// Activities, timers and offers of stubs that are open have to be disposed of ([`open`](Self::open)):
///
/// | what is open | what becomes of it |
/// |---|---|
/// | a call of an activity | [`keep`](Self::keep): it goes on as it declares, under the old run and its idempotency key, with its retries. What it comes to is recorded beside the old run's history, as late. The new run is not told |
/// | a timer | [`stop_timers`](Self::stop_timers): it ends with the old run |
/// | an offer of a stub | [`close_offers`](Self::close_offers): it is closed with the old run, and whoever would fulfil it is told so |
/// | a wait for a message or a signal | it ends with the old run, and nothing has to be said of it |
///
/// Messages that the run has not taken stay with it. What the new run has to know of them is put into its input:
/// [`messages`](Self::messages). So is what the run has told others: [`sent`](Self::sent),
/// [`fulfilments`](Self::fulfilments), [`emitted`](Self::emitted).
#[derive(Debug)]
pub struct OldRun {
    history: History,
    started: Started,
    arrived: Vec<Observation>,
    blocked: Vec<BlockedBy>,
    /// How activities ended, in the order in which that is known.
    ends: Vec<End>,
    /// What stubs were fulfilled with, by their names.
    fulfilled: Vec<(String, Value)>,
    open: Vec<Open>,
    /// Those of them of which the function has said what becomes of them.
    disposed: RefCell<BTreeSet<u64>>,
}

/// Why a program could not go on with the run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedBy {
    /// The program.
    pub artifact: String,
    /// The stable code of the error.
    pub code: String,
    /// The whole text of the error.
    pub text: String,
}

impl BlockedBy {
    /// A program, and its error's code and text.
    pub fn new(
        artifact: impl Into<String>,
        code: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            artifact: artifact.into(),
            code: code.into(),
            text: text.into(),
        }
    }
}

/// How a call of an activity ended.
#[derive(Debug)]
struct End {
    name: String,
    end: Result<Value, ActivityFailure>,
}

impl OldRun {
    /// The run of a history, as a test of a migration has it.
    ///
    /// # Errors
    ///
    /// [`Refuse::Missing`]: the history does not begin with `started`.
    pub fn of(history: History) -> Result<Self, Refuse> {
        Self::new(history, Vec::new(), Vec::new())
    }

    /// For drivers: a run with what has arrived for it and was not told to it, in its order, and with the errors
    /// of programs that could not go on with it.
    ///
    /// # Errors
    ///
    /// [`Refuse::Missing`]: neither the history nor what has arrived begins with `started`.
    pub fn new(
        history: History,
        arrived: Vec<Observation>,
        blocked: Vec<BlockedBy>,
    ) -> Result<Self, Refuse> {
        let first = history.units.first().map(|unit| &unit.observation);
        let Some(Observation::Started(started)) = first.or(arrived.first()) else {
            return Err(Refuse::Missing {
                what: "how it began".to_owned(),
            });
        };
        let started = started.clone();
        let Known {
            ends,
            fulfilled,
            open,
        } = Known::of(&history, &arrived);
        Ok(Self {
            history,
            started,
            arrived,
            blocked,
            ends,
            fulfilled,
            open,
            disposed: RefCell::default(),
        })
    }

    // ---- what it is ----------------------------------------------------------------------------------

    /// The run's id.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.history.run.id
    }

    /// The run, with its namespace.
    #[must_use]
    pub fn run(&self) -> &RunKey {
        &self.history.run
    }

    /// Which generation of the run this is; the first is 1.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.history.generation
    }

    /// The name of its workflow.
    #[must_use]
    pub fn workflow(&self) -> &str {
        &self.started.workflow
    }

    /// The label that its workflow had when it began: `#[workflow(version = 3)]`.
    #[must_use]
    pub fn version(&self) -> Option<u32> {
        self.started.version
    }

    /// How it began.
    #[must_use]
    pub fn started(&self) -> &Started {
        &self.started
    }

    /// Its history.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What has arrived for it and is not in its history, in its order.
    #[must_use]
    pub fn arrived(&self) -> &[Observation] {
        &self.arrived
    }

    /// Why programs could not go on with it. Empty where it is not blocked.
    #[must_use]
    pub fn blocked(&self) -> &[BlockedBy] {
        &self.blocked
    }

    /// The stamp of the last thing that it was told: what `cx.now()` was when its code last went on.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.history
            .units
            .last()
            .map_or_else(Timestamp::default, |unit| unit.at)
    }

    // ---- what is recorded ----------------------------------------------------------------------------

    /// Its input: `()`, the one parameter of the workflow, or a tuple of the parameters.
    ///
    /// # Errors
    ///
    /// [`Refuse::Undecodable`].
    pub fn input<T: Data>(&self) -> Result<T, Refuse> {
        decode(|| "the input".to_owned(), &self.started.input)
    }

    /// All results of an activity, in the order in which they arrived, those that the run was not told too.
    ///
    /// # Errors
    ///
    /// [`Refuse::Undecodable`].
    pub fn results<M, F: ActivityFn<M>>(&self, activity: F) -> Result<Vec<ResultOf<M, F>>, Refuse> {
        let _ = activity;
        self.results_named(F::A::NAME)
    }

    /// The result that an activity gave last; `None`: it has given none. Also one that the run was not told.
    ///
    /// # Errors
    ///
    /// [`Refuse::Undecodable`].
    pub fn last_result<M, F: ActivityFn<M>>(
        &self,
        activity: F,
    ) -> Result<Option<ResultOf<M, F>>, Refuse> {
        let _ = activity;
        self.last_result_named(F::A::NAME)
    }

    /// As [`results`](Self::results), of an activity that is not in this program any more.
    ///
    /// # Errors
    ///
    /// [`Refuse::Undecodable`].
    pub fn results_named<T: Data>(&self, activity: &str) -> Result<Vec<T>, Refuse> {
        self.ends_of(activity)
            .filter_map(|end| end.as_ref().ok())
            .map(|value| decode(|| result_of(activity), value))
            .collect()
    }

    /// As [`last_result`](Self::last_result), of an activity that is not in this program any more.
    ///
    /// # Errors
    ///
    /// [`Refuse::Undecodable`].
    pub fn last_result_named<T: Data>(&self, activity: &str) -> Result<Option<T>, Refuse> {
        let results = self.ends_of(activity).filter_map(|end| end.as_ref().ok());
        results
            .last()
            .map(|value| decode(|| result_of(activity), value))
            .transpose()
    }

    /// How calls of an activity ended that gave no result, in the order in which that arrived.
    #[must_use]
    pub fn failures_named(&self, activity: &str) -> Vec<&ActivityFailure> {
        self.ends_of(activity)
            .filter_map(|end| end.as_ref().err())
            .collect()
    }

    /// What offers of a stub were fulfilled with, in the order in which that came; also what the run was not told.
    ///
    /// # Errors
    ///
    /// [`Refuse::Undecodable`].
    pub fn fulfilled<M, F: StubFn<M>>(
        &self,
        stub: F,
    ) -> Result<Vec<<F::S as Stub>::Output>, Refuse> {
        let _ = stub;
        self.fulfilled_named(F::S::NAME)
    }

    /// As [`fulfilled`](Self::fulfilled), of a stub that is not in this program any more.
    ///
    /// # Errors
    ///
    /// [`Refuse::Undecodable`].
    pub fn fulfilled_named<T: Data>(&self, stub: &str) -> Result<Vec<T>, Refuse> {
        let of_it = self.fulfilled.iter().filter(|(name, _)| name == stub);
        of_it
            .map(|(_, value)| decode(|| result_of(stub), value))
            .collect()
    }

    fn ends_of(&self, activity: &str) -> impl Iterator<Item = &Result<Value, ActivityFailure>> {
        let ends = self.ends.iter();
        ends.filter(move |end| end.name == activity)
            .map(|end| &end.end)
    }

    /// The values that `cx.record(name, ..)` gave, in their order.
    ///
    /// # Errors
    ///
    /// [`Refuse::Undecodable`].
    pub fn recorded<T: Data>(&self, name: &str) -> Result<Vec<T>, Refuse> {
        let values = self.decisions().filter_map(|decision| match decision {
            Decision::Recorded {
                source: RecordSource::Named(of),
                value,
                ..
            } if of == name => Some(value),
            _ => None,
        });
        values
            .map(|value| decode(|| format!("a value recorded as `{name}`"), value))
            .collect()
    }

    /// The version that a marker had last; `None`: none was recorded, which is version 0 where the code asked.
    #[must_use]
    pub fn marker(&self, id: &str) -> Option<u32> {
        let versions = self.decisions().filter_map(|decision| match decision {
            Decision::Marker {
                id: of, version, ..
            } if of == id => Some(*version),
            _ => None,
        });
        versions.last()
    }

    pub(super) fn decisions(&self) -> impl Iterator<Item = &Decision> {
        self.history.units.iter().flat_map(|unit| &unit.decisions)
    }

    // ---- what is open --------------------------------------------------------------------------------

    /// What is open, in the order in which it began. The run is moved only when each activity and each timer of these
    /// was disposed of.
    #[must_use]
    pub fn open(&self) -> &[Open] {
        &self.open
    }

    /// Lets each open call of an activity go on under the old run, and says how many there are.
    pub fn keep<M, F: ActivityFn<M>>(&self, activity: F) -> usize {
        let _ = activity;
        self.keep_named(F::A::NAME)
    }

    /// As [`keep`](Self::keep), of an activity by its name.
    pub fn keep_named(&self, activity: &str) -> usize {
        self.dispose(|kind| matches!(kind, OpenKind::Activity { name, .. } if name == activity))
    }

    /// Lets whatever activities are open go on under the old run, and says how many there are.
    pub fn keep_activities(&self) -> usize {
        self.dispose(|kind| matches!(kind, OpenKind::Activity { .. }))
    }

    /// Ends the open timers with the old run, and says how many there are.
    pub fn stop_timers(&self) -> usize {
        self.dispose(|kind| matches!(kind, OpenKind::Timer { .. }))
    }

    /// Closes the open offers of stubs with the old run, and says how many there are.
    pub fn close_offers(&self) -> usize {
        self.dispose(|kind| matches!(kind, OpenKind::Stub { .. }))
    }

    fn dispose(&self, which: impl Fn(&OpenKind) -> bool) -> usize {
        let which = self.open.iter().filter(|open| which(&open.kind));
        let numbers: Vec<u64> = which.map(|open| open.operation).collect();
        let count = numbers.len();
        self.disposed.borrow_mut().extend(numbers);
        count
    }

    // ---- for drivers ---------------------------------------------------------------------------------

    /// What is open and was not disposed of.
    #[must_use]
    pub fn undisposed(&self) -> Vec<Open> {
        let disposed = self.disposed.borrow();
        let open = self.open.iter();
        open.filter(|open| open.needs_a_word() && !disposed.contains(&open.operation))
            .cloned()
            .collect()
    }

    /// The activities that are open.
    #[must_use]
    pub fn open_activities(&self) -> Vec<OpenOperation> {
        let open = self.open.iter().filter_map(|open| match &open.kind {
            OpenKind::Activity { name, .. } => Some(OpenOperation {
                operation: open.operation,
                name: name.clone(),
            }),
            OpenKind::Timer { .. } | OpenKind::Stub { .. } | OpenKind::Receive { .. } => None,
        });
        open.collect()
    }

    /// What is open and ends with the run: timers and offers of stubs, by their numbers.
    #[must_use]
    pub fn ending(&self) -> Vec<u64> {
        let ends = |kind: &OpenKind| matches!(kind, OpenKind::Timer { .. } | OpenKind::Stub { .. });
        let ending = self.open.iter().filter(|open| ends(&open.kind));
        ending.map(|open| open.operation).collect()
    }

    /// The timers that are open, by their numbers.
    #[must_use]
    pub fn open_timers(&self) -> Vec<u64> {
        let timers = self.open.iter();
        let timers = timers.filter(|open| matches!(open.kind, OpenKind::Timer { .. }));
        timers.map(|open| open.operation).collect()
    }
}

pub(super) fn decode<T: Data>(what: impl FnOnce() -> String, value: &Value) -> Result<T, Refuse> {
    T::from_value(value).map_err(|error| Refuse::Undecodable {
        what: what(),
        error,
    })
}

fn result_of(activity: &str) -> String {
    format!("a result of `{activity}`")
}

/// What a history and what arrived after it come to.
#[derive(Default)]
struct Known {
    ends: Vec<End>,
    fulfilled: Vec<(String, Value)>,
    open: Vec<Open>,
}

impl Known {
    fn of(history: &History, arrived: &[Observation]) -> Self {
        let mut known = Self::default();
        let mut names = HashMap::new();
        let mut open = BTreeMap::new();
        for Unit {
            observation,
            decisions,
            ..
        } in &history.units
        {
            known.observe(observation, &names, &mut open);
            for decision in decisions {
                begin(decision, &mut names, &mut open);
            }
        }
        for observation in arrived {
            known.observe(observation, &names, &mut open);
        }
        known.open = open.into_values().collect();
        known
    }

    fn observe(
        &mut self,
        observation: &Observation,
        names: &HashMap<u64, String>,
        open: &mut BTreeMap<u64, Open>,
    ) {
        let (operation, end) = match observation {
            Observation::ActivityCompleted { operation, result } => {
                (operation, Some(Ok(result.clone())))
            }
            Observation::ActivityFailed { operation, failure } => {
                (operation, Some(Err(failure.clone())))
            }
            Observation::TimerFired { operation } => (operation, None),
            Observation::StubFulfilled {
                operation, value, ..
            } => {
                // What comes for one that was given up, or a second time, is nothing.
                if let Some(Open {
                    kind: OpenKind::Stub { name },
                    ..
                }) = open.remove(operation)
                {
                    self.fulfilled.push((name, value.clone()));
                }
                return;
            }
            Observation::Started(_)
            | Observation::MessageArrived(_)
            | Observation::SignalArrived(_)
            | Observation::SlotFilled { .. }
            | Observation::UpdateAccepted { .. }
            | Observation::Migrated(_) => return,
        };
        open.remove(operation);
        // What an earlier generation has left behind ends here too, and is not this one's.
        if let (Some(end), Some(name)) = (end, names.get(operation)) {
            let name = name.clone();
            self.ends.push(End { name, end });
        }
    }
}

/// Notes what a decision begins, or gives up.
fn begin(decision: &Decision, names: &mut HashMap<u64, String>, open: &mut BTreeMap<u64, Open>) {
    let (operation, kind, site) = match decision {
        Decision::ActivityScheduled {
            operation,
            name,
            site,
            ..
        } => {
            let name = name.to_string();
            names.insert(*operation, name.clone());
            let dropped = false;
            (operation, OpenKind::Activity { name, dropped }, site)
        }
        Decision::TimerStarted {
            operation,
            deadline,
            site,
        } => {
            let deadline = *deadline;
            (operation, OpenKind::Timer { deadline }, site)
        }
        Decision::ReceiveStarted {
            operation,
            channel,
            name,
            site,
        } => {
            let (channel, name) = (*channel, name.to_string());
            (operation, OpenKind::Receive { channel, name }, site)
        }
        Decision::StubOffered {
            operation,
            name,
            site,
            ..
        } => {
            let name = name.to_string();
            (operation, OpenKind::Stub { name }, site)
        }
        Decision::Received { operation, .. } => return drop(open.remove(operation)),
        Decision::Dropped { operation } => {
            match open.get_mut(operation).map(|open| &mut open.kind) {
                Some(OpenKind::Activity { dropped, .. }) => *dropped = true,
                Some(OpenKind::Timer { .. } | OpenKind::Stub { .. } | OpenKind::Receive { .. }) => {
                    drop(open.remove(operation));
                }
                None => {}
            }
            return;
        }
        _ => return,
    };
    let one = Open {
        operation: *operation,
        kind,
        site: site.clone(),
    };
    open.insert(*operation, one);
}
