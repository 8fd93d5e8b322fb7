//! What a test tells its runs: messages and signals (S25).
//!
//! It is what a runtime does. A message that nothing waits for lets nothing run: it is kept, and told before
//! whatever the run is told next. A signal that nothing waits for is dropped.

use super::attempts::settle;
use super::drive::{drive, fail, or_fail};
use super::driver::{Driver, Input, TestedRun};
use super::failure::{Ended, TestFailure};
use super::run::Run;
use crate::channel::is_channel_name;
use crate::history::{Channel, Decision, Observation, Told};
use crate::value::{EncodeError, Value};
use crate::{Data, Message, Signal, Timestamp, Workflow};

/// A message that a run has got and not taken.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Unread {
    /// Its number: of all messages and signals that the run has got, counted from 1.
    pub number: u64,
    /// Its name.
    pub name: String,
    /// What it says.
    pub payload: Value,
    /// When it came.
    pub at: Timestamp,
}

impl<W: Workflow> Run<W> {
    /// Sends a message to the run, and lets the run go as far as it goes without time passing. Where nothing waits
    /// for it, it is kept until something does, as by a runtime (S25).
    ///
    /// ```
    /// # use perennial::prelude::*;
    /// const APPROVAL: Message<bool> = Message::new("approval");
    ///
    /// #[workflow]
    /// async fn purchase(cx: &Cx, cents: u64) -> Result<Option<bool>, Error> {
    ///     Ok(cx.receive(APPROVAL).timeout(days(7)).await?)
    /// }
    ///
    /// # fn main() { perennial::testing::test(|t| {
    /// let run = t.start(purchase, 1_200);
    /// t.advance(days(6));
    /// run.send(APPROVAL, true);
    /// assert_eq!(run.result().unwrap(), Some(true));
    /// # }); }
    /// ```
    ///
    /// # Panics
    ///
    /// When the run has ended ([`TestFailure::Ended`]), and as all that lets workflows run.
    #[track_caller]
    pub fn send<T: Data>(&self, message: Message<T>, value: T) {
        self.tell(Channel::Message, message.name(), value.to_value());
    }

    /// Sends a signal to the run: to all waits for it that the run has now. Where nothing waits for it, it is
    /// dropped (M54).
    ///
    /// # Panics
    ///
    /// When the run has ended ([`TestFailure::Ended`]), and as all that lets workflows run.
    #[track_caller]
    pub fn signal<T: Data>(&self, signal: Signal<T>, value: T) {
        self.tell(Channel::Signal, signal.name(), value.to_value());
    }

    /// As [`send`](Self::send), by name and with any JSON: what a sender in another language may do, or one that was
    /// built with another type (M37).
    ///
    /// # Panics
    ///
    /// When the name is none or the text is not JSON ([`TestFailure::Refused`]), and as [`send`](Self::send).
    #[track_caller]
    pub fn send_json(&self, name: &str, json: &str) {
        self.tell_json(Channel::Message, name, json);
    }

    /// As [`signal`](Self::signal), by name and with any JSON.
    ///
    /// # Panics
    ///
    /// As [`send_json`](Self::send_json).
    #[track_caller]
    pub fn signal_json(&self, name: &str, json: &str) {
        self.tell_json(Channel::Signal, name, json);
    }

    /// The messages that the run has got and not taken, in the order in which they came; after its end those that
    /// it has left (M42). This lets nothing happen.
    #[must_use]
    pub fn unread(&self) -> Vec<Unread> {
        self.shared.borrow().runs[self.index].unread()
    }

    #[track_caller]
    fn tell_json(&self, channel: Channel, name: &str, json: &str) {
        let refused = |reason: String| TestFailure::Refused { reason };
        if !is_channel_name(name) {
            let reason = format!(
                "\"{}\" is no name of messages or signals: it has 1 to 128 characters of A-Z a-z 0-9 . _ : -",
                name.escape_debug()
            );
            fail(&self.shared, refused(reason));
        }
        match Value::from_json(json) {
            Ok(payload) => self.tell(channel, name, Ok(payload)),
            Err(error) => fail(
                &self.shared,
                refused(format!("{}: {error}", what(channel, name))),
            ),
        }
    }

    #[track_caller]
    fn tell(&self, channel: Channel, name: &str, payload: Result<Value, EncodeError>) {
        let told = payload
            .map_err(|error| TestFailure::Refused {
                reason: format!("{}: {error}", what(channel, name)),
            })
            .and_then(|payload| {
                drive(&self.shared, |shared| {
                    settle(shared)?;
                    shared
                        .borrow_mut()
                        .tell(self.index, channel, name, payload)?;
                    settle(shared)
                })
            });
        or_fail(&self.shared, told);
    }
}

impl Driver {
    pub(super) fn tell(
        &mut self,
        index: usize,
        channel: Channel,
        name: &str,
        payload: Value,
    ) -> Result<(), TestFailure> {
        let at = self.now;
        let run = &mut self.runs[index];
        if run.end.is_some() {
            return Err(TestFailure::Ended(Box::new(Ended {
                run: run.recording.run.clone(),
                workflow: run.recording.definition.name.to_owned(),
                channel,
                name: name.to_owned(),
            })));
        }
        run.told += 1;
        let told = Told {
            number: run.told,
            name: name.to_owned(),
            payload,
            key: None,
        };
        match channel {
            Channel::Message => run.arrive(at, Observation::MessageArrived(told)),
            Channel::Signal if run.awaits(channel, name) => {
                run.arrive(at, Observation::SignalArrived(told));
            }
            Channel::Signal => run.dropped_signals.push(told),
        }
        Ok(())
    }
}

impl TestedRun {
    /// Whether the run goes on when it is told that.
    pub(super) fn wakes(&self, input: &Input) -> bool {
        match &input.observation {
            Observation::MessageArrived(told) => self.awaits(Channel::Message, &told.name),
            Observation::SignalArrived(told) => self.awaits(Channel::Signal, &told.name),
            _ => true,
        }
    }

    fn unread(&self) -> Vec<Unread> {
        let units = &self.recording.units;
        let taken: Vec<u64> = units
            .iter()
            .flat_map(|unit| &unit.decisions)
            .filter_map(|decision| match decision {
                Decision::Received {
                    channel: Channel::Message,
                    number,
                    ..
                } => Some(*number),
                _ => None,
            })
            .collect();
        let fed = units.iter().map(|unit| (unit.at, &unit.observation));
        let kept = self
            .inputs
            .iter()
            .map(|input| (input.at, &input.observation));
        fed.chain(kept)
            .filter_map(|(at, observation)| match observation {
                Observation::MessageArrived(told) if !taken.contains(&told.number) => {
                    Some(Unread {
                        number: told.number,
                        name: told.name.clone(),
                        payload: told.payload.clone(),
                        at,
                    })
                }
                _ => None,
            })
            .collect()
    }

    /// What the run has got in vain, for people: a line each.
    pub(super) fn in_vain(&self) -> Vec<String> {
        let unread = self.unread();
        let unread = unread.iter().map(|one| {
            format!(
                "unread: {} #{}",
                what(Channel::Message, &one.name),
                one.number
            )
        });
        let dropped = self.dropped_signals.iter().map(|told| {
            format!(
                "dropped: {} #{}, for which nothing waited when it came",
                what(Channel::Signal, &told.name),
                told.number
            )
        });
        unread.chain(dropped).collect()
    }
}

/// `message "approval"`
pub(super) fn what(channel: Channel, name: &str) -> String {
    let kind = match channel {
        Channel::Message => "message",
        Channel::Signal => "signal",
    };
    format!("{kind} \"{}\"", name.escape_debug())
}
