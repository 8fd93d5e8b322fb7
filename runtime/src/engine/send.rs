//! Messages, signals and values for offers on their way to a run (S25).
//!
//! A send is handed to the store as it comes, and answered when the store has it durably (S4): whether the run is in
//! memory, blocked, or nobody's concern at the moment makes no difference to the sender. A run in memory is told what
//! it waits for; one that is not comes into memory only if it waits for it (M22).

use std::sync::Arc;

use perennial::history::{Channel, Observation, Told};
use perennial::value::Value;
use perennial::{RunId, RunKey, SendFailure, Timestamp};
use tokio::sync::oneshot;

use super::Shared;
use super::fulfil::FulfilRequest;
use super::inputs::IDLE_SIGNALS;
use super::message::Message;
use super::run::Stage;
use super::shard::Shard;
use crate::client::SendError;
use crate::error::Unavailable;
use crate::store::{
    Arrival, Deliver, Delivered, KeyKind, Queued, Refusal, SendKey, Store, StoreError,
};

/// A client's wish to tell a run something.
#[derive(Debug)]
pub(crate) struct SendRequest {
    pub(crate) run: RunKey,
    pub(crate) channel: Channel,
    pub(crate) name: String,
    pub(crate) payload: Value,
    pub(crate) key: Option<SendKey>,
    pub(crate) reply: oneshot::Sender<Result<Delivered, SendError>>,
}

/// What somebody outside wants a run to have, and hears of.
#[derive(Debug)]
pub(super) enum Sent {
    /// A message or a signal.
    Told(SendRequest),
    /// A value for an offer.
    Value(FulfilRequest),
}

/// Why nothing came of it.
#[derive(Debug)]
pub(super) enum Failure {
    /// The store has refused it.
    Refused(Refusal),
    /// It was not handed over, or the store could not do it.
    Unavailable(Unavailable),
    /// It was handed over, and then this happened.
    Lost(Unavailable),
}

impl Sent {
    fn run(&self) -> &RunKey {
        match self {
            Self::Told(request) => &request.run,
            Self::Value(request) => &request.run,
        }
    }

    fn observation(&self) -> Observation {
        match self {
            Self::Told(request) => request.observation(),
            Self::Value(request) => request.observation(),
        }
    }

    /// The row that it has become.
    fn row(&self, delivered: Delivered) -> Queued {
        let mut observation = self.observation();
        if let Observation::MessageArrived(told) | Observation::SignalArrived(told) =
            &mut observation
        {
            told.number = delivered.arrival;
        }
        Queued {
            arrival: delivered.arrival,
            at: delivered.at,
            observation,
        }
    }

    fn deliver(&self, at: Timestamp) -> Deliver {
        let (key, stub) = match self {
            Self::Told(request) => (request.key.clone(), None),
            Self::Value(request) => (None, Some(request.stub.clone())),
        };
        Deliver {
            run: self.run().clone(),
            observation: self.observation(),
            at,
            tasks: Vec::new(),
            key,
            stub,
        }
    }

    fn succeed(self, delivered: Delivered) {
        match self {
            Self::Told(request) => drop(request.reply.send(Ok(delivered))),
            Self::Value(request) => drop(request.reply.send(Ok(delivered))),
        }
    }
}

/// One of them that the store has not answered.
#[derive(Debug)]
pub(super) struct UnderWay {
    ticket: u64,
    sent: Sent,
}

/// What a sender says, as the run's history has it. The store puts its number in.
pub(crate) fn observation(
    channel: Channel,
    name: String,
    payload: Value,
    key: Option<String>,
) -> Observation {
    let told = Told {
        number: 0,
        name,
        payload,
        key,
    };
    match channel {
        Channel::Message => Observation::MessageArrived(told),
        Channel::Signal => Observation::SignalArrived(told),
    }
}

impl SendRequest {
    fn observation(&self) -> Observation {
        let key = self.key.as_ref().map(|key| key.key.clone());
        observation(self.channel, self.name.clone(), self.payload.clone(), key)
    }

    fn fail(self, failure: Failure) {
        let error = match failure {
            Failure::Refused(refusal) => SendError::of(refusal),
            Failure::Unavailable(error) => SendError::Unavailable(error),
            Failure::Lost(error) => SendError::unavailable(&self.run, error),
        };
        let _ = self.reply.send(Err(error));
    }
}

impl Shared {
    /// Why a run cannot send something of that name to a run: its workflow waits for no such thing, as far as this
    /// program knows (M38). What else there may be against it the store says.
    pub(crate) fn refuse_name(
        &self,
        (sender, workflow): (&RunKey, &str),
        to: &RunId,
        channel: Channel,
        name: &str,
    ) -> Option<SendFailure> {
        let workflow = if *to == sender.id {
            workflow.to_owned()
        } else {
            let to = RunKey::new(sender.namespace.clone(), to.clone());
            let head = self.store.head(&to).ok().flatten();
            head.filter(|head| !head.status.is_finished())?.workflow
        };
        let refused = self.registry.check_awaited(&workflow, channel, name).err();
        refused.map(|_| SendFailure::NoSuchMessage {
            run: to.clone(),
            workflow,
            name: name.to_owned(),
        })
    }
}

/// That a run has ended, as the store has said; `None`: it has begun anew since.
pub(crate) fn too_late(store: &dyn Store, run: &RunKey) -> Option<SendError> {
    let run = run.clone();
    Some(match store.head(&run) {
        Ok(Some(head)) if !head.status.is_finished() => return None,
        Ok(Some(head)) => SendError::RunFinished {
            status: head.status,
            finished: head.finished.unwrap_or_default(),
            migrated_to: head.migrated_to,
            run,
        },
        Ok(None) => SendError::RunNotFound { run },
        Err(error) => SendError::Unavailable(error.into()),
    })
}

impl Shard {
    /// Hands it to the store. A runtime that drains does so too: what it does not come to the next one does.
    pub(super) fn send(&mut self, sent: Sent) {
        if let Some(error) = self.failed.clone() {
            return self.refuse(sent, Failure::Unavailable(error));
        }
        if let Sent::Told(request) = &sent
            && let Err(error) = self.check_awaited(request)
            && !self.is_known(request)
        {
            if let Sent::Told(request) = sent {
                let _ = request.reply.send(Err(error));
            }
            return;
        }
        self.tickets += 1;
        let ticket = self.tickets;
        let run = sent.run().clone();
        let deliver = sent.deliver(self.shared.clock.now());
        // Not in the ack: where the engine fails first, the sender is told so.
        let under_way = UnderWay { ticket, sent };
        self.sends.entry(run.clone()).or_default().push(under_way);
        let shared = Arc::clone(&self.shared);
        let ack = Box::new(move |result| {
            let name = run.clone();
            let message = Message::Delivered {
                run: name,
                ticket,
                result,
            };
            shared.tell(&run, message);
        });
        self.shared.store.deliver(deliver, ack);
    }

    fn refuse(&self, sent: Sent, failure: Failure) {
        match sent {
            Sent::Told(request) => request.fail(failure),
            Sent::Value(request) => {
                let run = request.run.clone();
                request.fail(failure, || self.ended(&run));
            }
        }
    }

    /// Whether the run's workflow may wait for that, as far as this program knows (M38).
    fn check_awaited(&self, request: &SendRequest) -> Result<(), SendError> {
        let SendRequest {
            run, channel, name, ..
        } = request;
        let check = |workflow: &str| self.shared.registry.check_awaited(workflow, *channel, name);
        match self.runs.get(run) {
            Some(open) if open.stage != Stage::Opening => check(&open.workflow),
            // What is the matter with it the store says when it gets it.
            _ => match self.shared.store.head(run) {
                Ok(Some(head)) => check(&head.workflow),
                Ok(None) | Err(_) => Ok(()),
            },
        }
    }

    /// Whether the run knows its key, so that it was sent before, when the workflow waited for it (M18).
    fn is_known(&self, request: &SendRequest) -> bool {
        let known = |key: &SendKey| self.shared.store.key(&request.run, KeyKind::Send, &key.key);
        let known = request.key.as_ref().map(known);
        matches!(known, Some(Ok(Some(_))))
    }

    /// The store has answered.
    pub(super) fn delivered(
        &mut self,
        key: &RunKey,
        ticket: u64,
        result: Result<Delivered, StoreError>,
    ) {
        let Some(sent) = self.take_send(key, ticket) else {
            return;
        };
        match result {
            Ok(delivered) => {
                let row = sent.row(delivered);
                sent.succeed(delivered);
                if !delivered.duplicate {
                    self.arrived(key, row, delivered.wakes);
                }
            }
            Err(StoreError::Refused(refusal)) => match (sent, refusal) {
                (Sent::Told(request), Refusal::Finished { .. }) => self.told_too_late(request),
                (sent, refusal) => self.refuse(sent, Failure::Refused(refusal)),
            },
            Err(error) if error.ends_all() => {
                let error = Unavailable::from(error);
                self.refuse(sent, Failure::Lost(error.clone()));
                self.fail(error);
            }
            Err(error) => self.refuse(sent, Failure::Unavailable(error.into())),
        }
    }

    fn take_send(&mut self, key: &RunKey, ticket: u64) -> Option<Sent> {
        let sends = self.sends.get_mut(key)?;
        let place = sends.iter().position(|send| send.ticket == ticket)?;
        let UnderWay { sent, .. } = sends.remove(place);
        if sends.is_empty() {
            self.sends.remove(key);
        }
        Some(sent)
    }

    /// Another run has put a row into the run's queue, with a commit of its own (S3).
    pub(super) fn told_by_another(&mut self, arrival: Arrival) {
        let Arrival { run, row, wakes } = arrival;
        // Since then the run may have begun to wait for it, and left the memory.
        let wakes = wakes
            || (!self.runs.contains_key(&run)
                && match self.shared.store.head(&run) {
                    Ok(Some(head)) => head.inbox.awaited.wakes(&row.observation),
                    _ => false,
                });
        self.arrived(&run, row, wakes);
    }

    /// A row is in the run's queue.
    fn arrived(&mut self, key: &RunKey, row: Queued, wakes: bool) {
        if let Some(run) = self.runs.get_mut(key) {
            run.stamp = run.stamp.max(row.at);
            // Of a run that has ended since it stays where it is (M42).
            if !run.ended {
                run.inputs.arrive(row);
                self.advance(key);
            }
        } else if wakes || self.has_idle_signals(key, &row) {
            self.wake(key);
        }
    }

    /// Whether signals that nobody waits for have gathered in a queue, of which no shard has taken notice.
    fn has_idle_signals(&self, key: &RunKey, row: &Queued) -> bool {
        matches!(row.observation, Observation::SignalArrived(_))
            && match self.shared.store.head(key) {
                Ok(Some(head)) => head.inbox.signals >= IDLE_SIGNALS,
                _ => false,
            }
    }

    /// The run has ended, which the store says; how, its head says.
    fn told_too_late(&mut self, request: SendRequest) {
        match too_late(&*self.shared.store, &request.run) {
            // It has begun anew between the two.
            None => self.send(Sent::Told(request)),
            Some(error) => drop(request.reply.send(Err(error))),
        }
    }

    /// Tells all whose sends the store has not answered.
    pub(super) fn fail_sends(&mut self, error: &Unavailable) {
        for (_, sends) in std::mem::take(&mut self.sends) {
            for UnderWay { sent, .. } in sends {
                self.refuse(sent, Failure::Lost(error.clone()));
            }
        }
    }
}
