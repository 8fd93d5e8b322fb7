//! An operation as the future that waits for it holds it.

use std::panic::Location;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::core::Core;
use super::fulfil::Fulfils;
use super::send::Sends;
use super::state::{Arrived, Resolution};
use crate::history::Channel;
use crate::value::{DecodeError, EncodeError, Value};
use crate::{ActivityOptions, Cx, OperationId, Timestamp};

/// Not started until its first poll; once started, dropping it before its result is a decision (S12).
pub(crate) struct Handle {
    core: Rc<Core>,
    number: Option<u64>,
    /// The event that had the result.
    resolved: Option<u64>,
}

impl Handle {
    pub(crate) fn new(cx: &Cx) -> Self {
        Self {
            core: cx.core(),
            number: None,
            resolved: None,
        }
    }

    /// One of the same run, for another operation.
    pub(crate) fn another(&self) -> Self {
        Self {
            core: Rc::clone(&self.core),
            number: None,
            resolved: None,
        }
    }

    pub(crate) fn is_started(&self) -> bool {
        self.number.is_some()
    }

    pub(crate) fn schedule_activity(
        &mut self,
        name: &'static str,
        input: Value,
        options: ActivityOptions,
    ) {
        self.number = self.core.schedule_activity(name, input, options);
    }

    /// See [`Core::refuse_activity`].
    pub(crate) fn refuse_activity(&self) -> Option<()> {
        self.core.refuse_activity()
    }

    /// See [`Core::refuse_timer`].
    pub(crate) fn refuse_timer(&self) -> Option<()> {
        self.core.refuse_timer()
    }

    /// The time as the workflow sees it.
    pub(crate) fn now(&self) -> Timestamp {
        self.core.now()
    }

    pub(crate) fn start_timer(&mut self, until: Until) {
        self.number = self.core.start_timer(until);
    }

    pub(crate) fn start_receive(&mut self, channel: Channel, name: &'static str) {
        self.number = self.core.start_receive(channel, name);
    }

    /// See [`Core::offer_stub`].
    pub(crate) fn offer_stub(
        &mut self,
        name: &'static str,
        input: Value,
        place: Option<&'static Location<'static>>,
    ) {
        self.number = self.core.offer_stub(name, input, place);
    }

    /// See [`Core::refuse_stub`].
    pub(crate) fn refuse_stub(&self) -> Option<()> {
        self.core.refuse_stub()
    }

    /// The offer is waited for until the timer fires: see [`Core::limit_offer`].
    pub(crate) fn limit_offer(&self, timer: &Self) {
        if let (Some(offer), Some(timer)) = (self.number, timer.number) {
            self.core.limit_offer(offer, timer);
        }
    }

    /// See [`Core::reference`].
    pub(crate) fn reference(&self) -> OperationId {
        self.core.reference(self.number)
    }

    /// As [`poll`](Self::poll), of the offer of a stub.
    pub(crate) fn poll_fulfilled(&mut self, context: &mut Context<'_>) -> Poll<Value> {
        match self.poll(context) {
            Poll::Ready(Resolution::Stub(value)) => Poll::Ready(value),
            Poll::Ready(_) => unreachable!("what resolves an operation is of its kind"),
            Poll::Pending => Poll::Pending,
        }
    }

    /// See [`Core::was_invalid`].
    pub(crate) fn was_invalid(&self) -> bool {
        self.number
            .is_some_and(|number| self.core.was_invalid(number))
    }

    /// See [`Core::is_replaying`].
    pub(crate) fn is_replaying(&self) -> bool {
        self.core.is_replaying()
    }

    /// See [`Core::decide_invalid`].
    pub(crate) fn decide_invalid(&self, problem: String) -> Option<String> {
        self.core.decide_invalid(self.number?, problem)
    }

    pub(crate) fn request_send(&mut self, sends: Sends<'_>) {
        self.number = self.core.request_send(sends);
    }

    /// See [`Core::refuse_send`].
    pub(crate) fn refuse_send(&self) -> Option<()> {
        self.core.refuse_send()
    }

    pub(crate) fn request_fulfil(&mut self, fulfils: Fulfils<'_>) {
        self.number = self.core.request_fulfil(fulfils);
    }

    /// See [`Core::refuse_fulfil`].
    pub(crate) fn refuse_fulfil(&self) -> Option<()> {
        self.core.refuse_fulfil()
    }

    /// As [`poll`](Self::poll), of a wait for a message or a signal.
    pub(crate) fn poll_arrived(&mut self, context: &mut Context<'_>) -> Poll<Arrived> {
        match self.poll(context) {
            Poll::Ready(Resolution::Arrived(arrived)) => Poll::Ready(arrived),
            Poll::Ready(_) => unreachable!("what resolves an operation is of its kind"),
            Poll::Pending => Poll::Pending,
        }
    }

    /// See [`Core::decide_received`].
    pub(crate) fn decide_received(
        &self,
        channel: Channel,
        number: u64,
        problem: Option<String>,
    ) -> Option<Option<String>> {
        self.core
            .decide_received(channel, self.number?, number, problem)
    }

    /// A message that the history has as one of the type does not decode any more.
    pub(crate) fn undecodable_arrival<T>(
        &self,
        name: &str,
        arrived: &Arrived,
        error: &DecodeError,
    ) -> Poll<T> {
        let detail = format!(
            "number {} of what it was sent, \"{name}\": {error}",
            arrived.number
        );
        self.core.undecodable(arrived.event, detail);
        Poll::Pending
    }

    /// # Panics
    ///
    /// When it has given its result before, as futures do.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Resolution> {
        // Without a number the machine has an error, and nothing goes on.
        let Some(number) = self.number else {
            return Poll::Pending;
        };
        if self.resolved.is_some() {
            if self.core.has_error() {
                return Poll::Pending;
            }
            panic!("operation ~{number} was awaited again after it had given its result");
        }
        let Poll::Ready(resolved) = self.core.poll_operation(number, context.waker()) else {
            return Poll::Pending;
        };
        self.resolved = Some(resolved.event);
        Poll::Ready(resolved.end)
    }

    pub(crate) fn unstorable<T>(&mut self, what: String, error: EncodeError) -> Poll<T> {
        self.core.unstorable(what, error);
        Poll::Pending
    }

    pub(crate) fn undecodable<T>(&mut self, name: &str, error: DecodeError) -> Poll<T> {
        let event = self.resolved.unwrap_or_default();
        self.core
            .undecodable(event, format!("the result of `{name}`: {error}"));
        Poll::Pending
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let (Some(number), None) = (self.number, self.resolved) {
            self.core.drop_operation(number);
        }
    }
}

/// When a timer fires.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// So long after the commit.
    After(Duration),
    /// At this time.
    At(Timestamp),
}
