//! What stops a machine.

use std::any::Any;

use super::core::Core;
use super::state::State;
use super::waits::{passed, polled_too_often, take_foreign};
use super::{MAX_EVENTS, MAX_SPAWN_DEPTH};
use crate::incompatible::IncompatibleKind;
use crate::prose::shorten;
use crate::value::EncodeError;
use crate::{Blocked, NotDurable, Panicked, Unstorable};

/// The longest text of a panic that is kept, in bytes.
const MAX_PANIC_TEXT: usize = 8 << 10;

impl Core {
    pub(super) fn take_error(&self) -> Result<(), Blocked> {
        self.state.borrow_mut().take_error().map_or(Ok(()), Err)
    }

    pub(super) fn has_error(&self) -> bool {
        self.state.borrow().error.is_some()
    }

    pub(super) fn incompatible(
        &self,
        kind: IncompatibleKind,
        event: u64,
        detail: String,
    ) -> Blocked {
        let state = self.state.borrow();
        let mut error = state.mismatch(kind, None, None);
        error.event = event;
        error.explain(detail);
        Blocked::Incompatible(Box::new(error))
    }

    pub(super) fn panicked(&self, payload: &(dyn Any + Send)) -> Blocked {
        // Code that does not stop at an error is stopped by unwinding, and goes on with wrong values until
        // then: the error is the cause.
        if let Err(error) = self.take_error() {
            return error;
        }
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "(the panic carries a value that is no text)".to_owned());
        let state = self.state.borrow();
        Blocked::Panicked(Box::new(Panicked {
            run: state.run_text(),
            workflow: state.workflow,
            event: state.unit.saturating_sub(1),
            site: passed().map(|site| state.call_site(site)),
            message: shorten(message, MAX_PANIC_TEXT),
        }))
    }

    pub(super) fn too_long(&self, events: u64) -> Blocked {
        let mut error = self
            .state
            .borrow()
            .runaway("events in a history", MAX_EVENTS);
        (error.count, error.event) = (events, events);
        Blocked::Runaway(error)
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

    /// What `event` recorded is not what the code expects.
    pub(crate) fn undecodable(&self, event: u64, detail: String) {
        let error = self.incompatible(IncompatibleKind::DoesNotDecode, event, detail);
        self.state.borrow_mut().error.get_or_insert(error);
    }

    /// The number of the last decision, or of the observation where there was none.
    pub(crate) fn last_event(&self) -> u64 {
        let state = self.state.borrow();
        state.event() - 1
    }

    /// Whether the last polls have met nothing durable, or would never have ended.
    pub(super) fn check_polls(&self) {
        let foreign = take_foreign();
        let state = &mut *self.state.borrow_mut();
        if state.error.is_some() {
            return;
        }
        if let Some(site) = foreign {
            state.error = Some(Blocked::NotDurable(NotDurable {
                run: state.run_text(),
                workflow: state.workflow,
                event: state.event(),
                site: Some(site.map_or_else(|| state.place(), |site| state.call_site(site))),
            }));
        } else if polled_too_often() {
            state.polled_too_often();
        }
    }
}

impl State {
    /// The event that is being fed cannot follow on what came before.
    pub(super) fn damaged(&self, detail: String) -> Blocked {
        let mut error = self.mismatch(IncompatibleKind::Damaged, None, None);
        error.event = self.unit;
        error.explain(detail);
        Blocked::Incompatible(Box::new(error))
    }

    pub(super) fn may_spawn(&mut self, depth: usize) -> Option<()> {
        if self.error.is_none()
            && let Some(inside) = self.inside
        {
            self.misused::<()>(inside);
        }
        if self.error.is_none() && depth >= MAX_SPAWN_DEPTH {
            self.run_away::<()>("tasks that begin inside each other", MAX_SPAWN_DEPTH as u64);
        }
        self.step("tasks begun after one event")
    }
}
