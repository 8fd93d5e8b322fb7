//! The state that a machine shares with the futures of its workflow.
//!
//! Code of the user (drops, texts, closures, wakers) runs only while nothing here is borrowed.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::task::{Poll, Waker};

use super::Entropy;
use super::state::{Kind, Made, Operation, Resolution, Resolved, Slotted, State};
use super::tasks::Tasks;
use super::waits::{may_poll, reset, wait};
use crate::history::{Decision, OpenOperation, Started};
use crate::workflow::{Graph, Site};
use crate::{Blocked, RunKey, Timestamp};

thread_local! {
    /// The await that is being polled on this thread: the place of what it begins.
    pub(crate) static SITE: Cell<Option<&'static Site>> = const { Cell::new(None) };
}

pub(crate) struct Core {
    pub(super) state: RefCell<State>,
    pub(super) tasks: RefCell<Tasks>,
    /// Of its own, since it is borrowed while code of the driver's runs.
    pub(super) entropy: RefCell<Entropy>,
    /// Whether the workflow is being polled. Otherwise nothing is a decision, so that dropping a machine is
    /// inert, and so is a `Cx` that was carried out of its workflow (S12).
    polling: Cell<bool>,
}

/// While it lives the machine is polling.
pub(super) struct Polling<'a>(&'a Core);

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        self.0.polling.set(false);
    }
}

impl Core {
    pub(super) fn new(
        workflow: &'static str,
        graph: &'static Graph,
        artifact: Arc<str>,
        entropy: Entropy,
    ) -> Self {
        Self {
            state: RefCell::new(State::new(workflow, graph, artifact)),
            tasks: RefCell::new(Tasks::new()),
            entropy: RefCell::new(entropy),
            polling: Cell::new(false),
        }
    }

    // ---- what the machine does -----------------------------------------------------------------------

    pub(super) fn begin_run(&self, started: &Started) {
        let mut state = self.state.borrow_mut();
        state.run = Some(RunKey::new(started.namespace.clone(), started.run.clone()));
        state.started_by = started.artifact.clone();
        state.started_version = started.version;
        state.next_operation = started.first_operation;
        state.begin_streams(started);
        state.forked_from = started.forked_from.iter().cloned().collect();
    }

    pub(super) fn begin_replay(&self, unit: u64, at: Timestamp, decisions: Vec<Decision>) {
        let mut state = self.state.borrow_mut();
        state.begin(unit, at);
        state.expected = Some(decisions.into());
    }

    #[cfg(feature = "testing")]
    pub(super) fn pin(&self, pins: &std::rc::Rc<super::Pins>) {
        self.state.borrow_mut().pins = std::rc::Rc::clone(pins);
    }

    /// The replay that follows keeps what is asked for; deadlines count from the unit's stamp.
    pub(super) fn tell(&self, at: Timestamp) {
        let mut state = self.state.borrow_mut();
        state.told = true;
        state.clock = at;
    }

    pub(super) fn begin_live(&self, unit: u64, at: Timestamp, clock: Timestamp, bytes: usize) {
        let mut state = self.state.borrow_mut();
        state.begin(unit, at);
        state.clock = clock.max(at);
        state.bytes = bytes;
        state.expected = None;
    }

    pub(super) fn end_live(&self) -> Made {
        std::mem::take(&mut self.state.borrow_mut().made)
    }

    /// All decisions of a unit must have been made again.
    pub(super) fn end_replay(&self, finished: bool) -> Result<Made, Blocked> {
        let mut state = self.state.borrow_mut();
        let made = std::mem::take(&mut state.made);
        match state.next_expected().flatten() {
            None => Ok(made),
            Some(left) => Err(state.left(&left, finished)),
        }
    }

    pub(super) fn enter(&self) -> Polling<'_> {
        reset();
        self.polling.set(true);
        Polling(self)
    }

    /// What a panic of the workflow's code drops on its way out is no decision either: a replay would hold it against
    /// the history, and take the panic for code that does not fit (S14).
    pub(super) fn is_polling(&self) -> bool {
        self.polling.get() && !std::thread::panicking()
    }

    /// The world has answered. Of several answers the first one counts; one that nobody waits for any more
    /// has no effect, whatever generation it is from.
    pub(super) fn resolve(&self, operation: u64, end: Resolution) -> Result<(), Blocked> {
        let waker = {
            let state = &mut *self.state.borrow_mut();
            if operation >= state.next_operation {
                let detail = format!("it answers operation ~{operation}, which has not begun");
                return Err(state.damaged(detail));
            }
            let event = state.unit;
            let open = state.operations.get_mut(&operation);
            let kind = match &open {
                Some(open) => Some(open.kind),
                None => state.abandoned.get(&operation).copied().map(Kind::Activity),
            };
            match (kind, &end) {
                (Some(Kind::Slot(slotted, _)), Resolution::Slot(result)) if slotted.has(result) => {
                }
                (Some(Kind::Slot(slotted, name)), _) => {
                    let detail = match slotted {
                        Slotted::Send => {
                            format!("it answers ~{operation}, which has sent \"{name}\"")
                        }
                        Slotted::Fulfil => {
                            format!("it answers ~{operation}, which has fulfilled `{name}`")
                        }
                    };
                    return Err(state.damaged(detail));
                }
                (Some(Kind::Activity(_) | Kind::Timer(_) | Kind::Stub(_)), Resolution::Slot(_)) => {
                    let detail = format!("it says what ~{operation} has sent, which sends nothing");
                    return Err(state.damaged(detail));
                }
                (Some(Kind::Activity(name)), Resolution::Timer) => {
                    let detail = format!("it fires ~{operation}, which is the activity `{name}`");
                    return Err(state.damaged(detail));
                }
                (Some(Kind::Activity(name)), Resolution::Stub(_)) => {
                    let detail = format!("it fulfils ~{operation}, which is the activity `{name}`");
                    return Err(state.damaged(detail));
                }
                (Some(Kind::Timer(_)), Resolution::Stub(_)) => {
                    let detail = format!("it fulfils ~{operation}, which is a timer");
                    return Err(state.damaged(detail));
                }
                (Some(Kind::Stub(name)), Resolution::Activity(_) | Resolution::Timer) => {
                    let detail = format!("it answers ~{operation}, which is the stub `{name}`");
                    return Err(state.damaged(detail));
                }
                (Some(Kind::Receive(_, name)), _) => {
                    let detail =
                        format!("it answers ~{operation}, which waits to be told \"{name}\"");
                    return Err(state.damaged(detail));
                }
                (Some(Kind::Timer(_)), Resolution::Activity(_)) => {
                    let detail =
                        format!("it is the result of an activity, and ~{operation} is a timer");
                    return Err(state.damaged(detail));
                }
                _ => {}
            }
            match open {
                Some(open) if open.end.is_none() => {
                    open.end = Some(Resolved { end, event });
                    open.waker.take()
                }
                _ => {
                    state.abandoned.remove(&operation);
                    None
                }
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// See [`State::end`](super::state::State::end).
    pub(super) fn end_unit(&self, last: u64) {
        self.state.borrow_mut().end(last);
    }

    /// See [`State::forget_messages`](super::state::State::forget_messages).
    pub(super) fn forget_messages(&self) {
        self.state.borrow_mut().forget_messages();
    }

    // ---- what drivers ask ----------------------------------------------------------------------------

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
        let mut open: Vec<u64> = open.map(|(number, _)| *number).collect();
        open.sort_unstable();
        open.extend(state.abandoned.keys());
        open
    }

    pub(super) fn timers(&self) -> Vec<(u64, Timestamp)> {
        let state = self.state.borrow();
        let open = state.operations.iter();
        let open = open.filter_map(|(number, o)| match o {
            Operation {
                kind: Kind::Timer(deadline),
                end: None,
                ..
            } => Some((*number, *deadline)),
            _ => None,
        });
        let mut open: Vec<_> = open.collect();
        open.sort_unstable();
        open
    }

    pub(super) fn open_offers(&self) -> Vec<u64> {
        let state = self.state.borrow();
        let open = state.operations.iter();
        let open = open.filter(|(_, o)| matches!(o.kind, Kind::Stub(_)) && o.end.is_none());
        let mut open: Vec<u64> = open.map(|(number, _)| *number).collect();
        open.sort_unstable();
        open
    }

    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.state.borrow().memory() + self.tasks.borrow().memory()
    }

    pub(super) fn next_operation(&self) -> u64 {
        self.state.borrow().next_operation
    }

    // ---- what futures ask ----------------------------------------------------------------------------

    pub(super) fn poll_operation(&self, number: u64, waker: &Waker) -> Poll<Resolved> {
        let known = {
            let state = &mut *self.state.borrow_mut();
            if !may_poll() {
                state.polled_too_often();
            }
            if state.go_on().is_none() {
                return Poll::Pending;
            }
            let Some(operation) = state.operations.get_mut(&number) else {
                return Poll::Pending;
            };
            if let Some(end) = operation.end.take() {
                state.close(number);
                return Poll::Ready(end);
            }
            matches!(&operation.waker, Some(known) if known.will_wake(waker))
        };
        wait();
        if !known {
            let new = waker.clone();
            let mut state = self.state.borrow_mut();
            let operation = state.operations.get_mut(&number);
            let old = operation.and_then(|operation| operation.waker.replace(new));
            drop(state);
            drop(old);
        }
        Poll::Pending
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.state.borrow().now
    }

    pub(crate) fn run(&self) -> Option<RunKey> {
        self.state.borrow().known_as()
    }
}
