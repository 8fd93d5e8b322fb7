//! Those who send, and what they were told.

use perennial::history::Channel;
use perennial::value::Value;
use perennial::{RunKey, Timestamp};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::super::process::Process;
use super::plan::NAMES;
use crate::client::SendError;
use crate::engine::{Message, SendRequest};
use crate::store::{Delivered, SendKey, send_digest};

type Answer = oneshot::Receiver<Result<Delivered, SendError>>;

/// A send, which may be made several times. What it says no other one says.
#[derive(Debug)]
pub(super) struct Send {
    pub(super) run: usize,
    pub(super) name: u8,
    pub(super) value: u64,
    key: Option<SendKey>,
    payload: Value,
    /// The number in its receipt.
    pub(super) receipt: Option<u64>,
    /// The run did not take it once, and it has no receipt.
    refused: bool,
    /// It was made once without an answer.
    lost: bool,
    waiting: Vec<Answer>,
}

impl Send {
    pub(super) fn new(
        run: usize,
        name: u8,
        value: u64,
        key: bool,
        now: Timestamp,
    ) -> Result<Self, String> {
        let payload = Value::encode(&value).map_err(|error| error.to_string())?;
        let digest = send_digest(Channel::Message, NAMES[usize::from(name)].name(), &payload);
        let key = key.then(|| SendKey {
            key: format!("key-{value}"),
            at: now,
            digest,
        });
        Ok(Self {
            run,
            name,
            value,
            key,
            payload,
            receipt: None,
            refused: false,
            lost: false,
            waiting: Vec::new(),
        })
    }

    pub(super) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Whether it is known that the run does not have it.
    pub(super) fn is_refused(&self) -> bool {
        self.refused && !self.lost
    }

    pub(super) fn is_unanswered(&self) -> bool {
        self.receipt.is_none() && !self.is_refused()
    }

    /// Hands it to a process, for the first time or again.
    pub(super) fn send(&mut self, process: &Process, run: RunKey) {
        let (reply, answer) = oneshot::channel();
        let request = SendRequest {
            run: run.clone(),
            channel: Channel::Message,
            name: NAMES[usize::from(self.name)].name().to_owned(),
            payload: self.payload.clone(),
            key: self.key.clone(),
            reply,
        };
        process.shared.tell(&run, Message::Send(request));
        self.waiting.push(answer);
    }

    /// Takes the answers that have come.
    pub(super) fn hear(&mut self) -> Result<(), String> {
        for mut answer in std::mem::take(&mut self.waiting) {
            match answer.try_recv() {
                Err(TryRecvError::Empty) => self.waiting.push(answer),
                // Its process is gone.
                Err(TryRecvError::Closed) => self.lost = true,
                Ok(answer) => self.answered(answer)?,
            }
        }
        Ok(())
    }

    fn answered(&mut self, answer: Result<Delivered, SendError>) -> Result<(), String> {
        match answer {
            Ok(delivered) => {
                let receipt = *self.receipt.get_or_insert(delivered.arrival);
                self.refused = false;
                if receipt == delivered.arrival {
                    return Ok(());
                }
                Err(format!(
                    "the message {} has the receipts {receipt} and {}",
                    self.value, delivered.arrival
                ))
            }
            Err(error @ (SendError::RunFinished { .. } | SendError::RunNotFound { .. })) => {
                if self.receipt.is_some() {
                    return Err(format!(
                        "the message {} has a receipt, and its duplicate was refused: {error}",
                        self.value
                    ));
                }
                self.refused = true;
                Ok(())
            }
            Err(SendError::Unavailable(_) | SendError::Unacknowledged { .. }) => {
                self.lost = true;
                Ok(())
            }
            Err(error) => Err(format!("the message {} was refused: {error}", self.value)),
        }
    }
}
