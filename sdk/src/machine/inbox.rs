//! What a run is told: messages that wait to be taken, and waits that have got nothing yet (S25).
//!
//! | comes | there is | then |
//! |---|---|---|
//! | a message | a wait of its name without one | the wait that began first gets it |
//! | a message | no such wait | it is pending |
//! | a wait for messages | a pending one | it gets the one with the smallest number |
//! | a signal | waits of its name | each of them gets it |
//! | a signal | no such wait | it is nothing to the run |
//! | the drop of a wait that has got a message | | that is pending again, at its old place, before the unit goes on |
//!
//! To get a message is nothing that is recorded: it follows from the history. To return it to the code, decoded or
//! not, is a decision.

use std::collections::{BTreeMap, BTreeSet};

use super::core::Core;
use super::state::{Arrived, Kind, Resolution, Resolved, State};
use crate::Blocked;
use crate::history::{Channel, Decision, Told};
use crate::incompatible::{IncompatibleKind, Side};
use crate::prose::shorten;

/// The longest text about a message that is not of its type, in bytes.
const MAX_PROBLEM: usize = 1 << 10;

#[derive(Default)]
pub(super) struct Inbox {
    /// Messages that no wait has got, by name and number.
    pending: BTreeMap<String, BTreeMap<u64, Arrived>>,
    /// Waits that have got nothing, in the order in which they began.
    waiting: BTreeMap<(Channel, &'static str), BTreeSet<u64>>,
    /// How many bytes the pending payloads have.
    bytes: usize,
}

impl Inbox {
    fn keep(&mut self, name: &str, arrived: Arrived) {
        self.bytes += arrived.payload.as_json().len();
        let pending = self.pending.entry(name.to_owned()).or_default();
        pending.insert(arrived.number, arrived);
    }

    fn oldest(&mut self, name: &str) -> Option<Arrived> {
        let pending = self.pending.get_mut(name)?;
        let (_, arrived) = pending.pop_first()?;
        if pending.is_empty() {
            self.pending.remove(name);
        }
        self.bytes -= arrived.payload.as_json().len();
        Some(arrived)
    }

    pub(super) fn wait(&mut self, channel: Channel, name: &'static str, operation: u64) {
        self.waiting
            .entry((channel, name))
            .or_default()
            .insert(operation);
    }

    /// A wait is no more, whether it had got something or not.
    pub(super) fn forget(&mut self, channel: Channel, name: &'static str, operation: u64) {
        if let Some(waiting) = self.waiting.get_mut(&(channel, name)) {
            waiting.remove(&operation);
            if waiting.is_empty() {
                self.waiting.remove(&(channel, name));
            }
        }
    }

    /// The waits of that name that have got nothing, in order.
    fn waits<'a>(&'a self, channel: Channel, name: &'a str) -> impl Iterator<Item = u64> + 'a {
        let waits = self.waiting.get(&(channel, name));
        waits.into_iter().flatten().copied()
    }

    /// What has arrived and no wait has got was told to another run, of which this one is a fork (M43).
    pub(super) fn forget_pending(&mut self) {
        self.pending.clear();
        self.bytes = 0;
    }

    pub(super) fn memory(&self) -> usize {
        let pending: usize = self.pending.values().map(BTreeMap::len).sum();
        self.bytes + pending * size_of::<(u64, Arrived)>()
    }
}

impl Core {
    /// The world has told the run something.
    pub(super) fn arrive(&self, channel: Channel, told: Told) -> Result<(), Blocked> {
        let Told {
            number,
            name,
            payload,
            ..
        } = told;
        let event = self.state.borrow().unit;
        let arrived = Arrived {
            number,
            payload,
            event,
        };
        match channel {
            Channel::Message => {
                self.state.borrow_mut().inbox.keep(&name, arrived);
                self.serve(&name);
            }
            Channel::Signal => {
                let waits: Vec<u64> = {
                    let inbox = &self.state.borrow().inbox;
                    inbox.waits(Channel::Signal, &name).collect()
                };
                for operation in waits {
                    let arrived = Arrived {
                        number,
                        payload: arrived.payload.clone(),
                        event,
                    };
                    self.give(operation, arrived);
                }
            }
        }
        Ok(())
    }

    /// Pending messages of that name go to the waits that have none, in order.
    fn serve(&self, name: &str) {
        loop {
            let (operation, arrived) = {
                let inbox = &mut self.state.borrow_mut().inbox;
                let Some(operation) = inbox.waits(Channel::Message, name).next() else {
                    return;
                };
                let Some(arrived) = inbox.oldest(name) else {
                    return;
                };
                (operation, arrived)
            };
            self.give(operation, arrived);
        }
    }

    fn give(&self, operation: u64, arrived: Arrived) {
        let waker = {
            let state = &mut *self.state.borrow_mut();
            let Some(open) = state.operations.get_mut(&operation) else {
                return;
            };
            let event = arrived.event;
            let end = Resolution::Arrived(arrived);
            open.end = Some(Resolved { end, event });
            let (kind, waker) = (open.kind, open.waker.take());
            if let Kind::Receive(channel, name) = kind {
                state.inbox.forget(channel, name, operation);
            }
            waker
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// A wait for messages is dropped: what it had got is the next one's.
    pub(super) fn give_back(&self, operation: u64, name: &'static str, got: Option<Resolved>) {
        {
            let inbox = &mut self.state.borrow_mut().inbox;
            inbox.forget(Channel::Message, name, operation);
            if let Some(Resolution::Arrived(arrived)) = got.map(|got| got.end) {
                inbox.keep(name, arrived);
            }
        }
        self.serve(name);
    }

    pub(super) fn start_receive(&self, channel: Channel, name: &'static str) -> Option<u64> {
        let operation = {
            let state = &mut *self.deciding()?;
            state.may_open();
            let asked = |state: &State| Side {
                operation: Some(state.next_operation),
                site: state.site(),
                ..Side::receive(channel, name)
            };
            if state.go_on().is_none() {
                let asked = asked(state);
                state.note(asked);
                return None;
            }
            let operation = state.next_operation;
            match state.next_expected() {
                None => {
                    let site = state.site();
                    state.push(Decision::ReceiveStarted {
                        operation,
                        channel,
                        name: name.into(),
                        site,
                    });
                }
                Some(Some(Decision::ReceiveStarted {
                    operation: o,
                    channel: c,
                    name: n,
                    ..
                })) if o == operation && c == channel && n == name => {}
                Some(recorded) => {
                    let asked = asked(state);
                    return state.refuse(IncompatibleKind::Changed, recorded.as_ref(), asked);
                }
            }
            state.inbox.wait(channel, name, operation);
            state.open(Kind::Receive(channel, name))
        };
        if channel == Channel::Message {
            self.serve(name);
        }
        Some(operation)
    }

    /// A wait returns what it has got, which is `problem` if it is not of the type. Gives back what the history has
    /// about that, since a later type may be able to read what an earlier one could not (M37).
    pub(super) fn decide_received(
        &self,
        channel: Channel,
        operation: u64,
        number: u64,
        problem: Option<String>,
    ) -> Option<Option<String>> {
        let state = &mut *self.deciding()?;
        if state.may_decide().is_none() {
            state.note(Side::received(channel, operation, number));
            return None;
        }
        let invalid = match state.next_expected() {
            None => {
                let invalid = problem.map(|text| shorten(text, MAX_PROBLEM));
                state.push(Decision::Received {
                    operation,
                    channel,
                    number,
                    invalid: invalid.clone(),
                });
                invalid
            }
            Some(Some(Decision::Received {
                operation: o,
                channel: c,
                number: n,
                invalid,
            })) if o == operation && c == channel && n == number => invalid,
            Some(recorded) => {
                let asked = Side::received(channel, operation, number);
                return state.refuse(IncompatibleKind::Changed, recorded.as_ref(), asked);
            }
        };
        state.commands += 1;
        Some(invalid)
    }

    pub(super) fn awaited(&self) -> Vec<(Channel, &'static str)> {
        self.state.borrow().inbox.waiting.keys().copied().collect()
    }

    pub(super) fn awaits(&self, channel: Channel, name: &str) -> bool {
        self.state
            .borrow()
            .inbox
            .waiting
            .contains_key(&(channel, name))
    }
}
