//! Those who complete what runs offer, and what they were told.

use perennial::RunKey;
use perennial::value::Value;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::super::process::Process;
use crate::client::FulfilError;
use crate::engine::{FulfilRequest, Message};
use crate::store::Delivered;

type Answer = oneshot::Receiver<Result<Delivered, FulfilError>>;

/// A value for an offer, which may be given several times. No other one is the same.
#[derive(Debug)]
pub(super) struct Fulfil {
    pub(super) run: usize,
    pub(super) operation: u64,
    pub(super) value: u64,
    stub: String,
    /// The number in its receipt.
    pub(super) receipt: Option<u64>,
    /// It was not taken once, and has no receipt.
    refused: bool,
    /// It was given once without an answer.
    lost: bool,
    waiting: Vec<Answer>,
}

impl Fulfil {
    pub(super) fn new(run: usize, operation: u64, stub: String, value: u64) -> Self {
        Self {
            run,
            operation,
            value,
            stub,
            receipt: None,
            refused: false,
            lost: false,
            waiting: Vec::new(),
        }
    }

    /// Another value for the same offer.
    pub(super) fn otherwise(&self, value: u64) -> Self {
        Self::new(self.run, self.operation, self.stub.clone(), value)
    }

    /// Whether it is known that the run does not have it.
    pub(super) fn is_refused(&self) -> bool {
        self.refused && !self.lost
    }

    pub(super) fn is_unanswered(&self) -> bool {
        self.receipt.is_none() && !self.is_refused()
    }

    /// Hands it to a process, for the first time or again.
    pub(super) fn give(&mut self, process: &Process, run: RunKey) -> Result<(), String> {
        let (reply, answer) = oneshot::channel();
        let request = FulfilRequest {
            run: run.clone(),
            operation: self.operation,
            stub: self.stub.clone(),
            value: Value::encode(&self.value).map_err(|error| error.to_string())?,
            reply,
        };
        process.shared.tell(&run, Message::Fulfil(request));
        self.waiting.push(answer);
        Ok(())
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

    fn answered(&mut self, answer: Result<Delivered, FulfilError>) -> Result<(), String> {
        let Self {
            value, operation, ..
        } = self;
        match answer {
            Ok(delivered) => {
                let receipt = *self.receipt.get_or_insert(delivered.arrival);
                if receipt == delivered.arrival {
                    return Ok(());
                }
                Err(format!(
                    "the value {value} for operation {operation} has the receipts {receipt} and {}",
                    delivered.arrival
                ))
            }
            Err(error @ (FulfilError::Conflict { .. } | FulfilError::Closed { .. })) => {
                if self.receipt.is_some() {
                    return Err(format!(
                        "the value {value} for operation {operation} has a receipt, and was refused then: {error}"
                    ));
                }
                (self.refused, self.lost) = (true, false);
                Ok(())
            }
            Err(FulfilError::Unavailable(_) | FulfilError::Unacknowledged { .. }) => {
                self.lost = true;
                Ok(())
            }
            Err(error) => Err(format!(
                "the value {value} for operation {operation} was refused: {error}"
            )),
        }
    }
}
