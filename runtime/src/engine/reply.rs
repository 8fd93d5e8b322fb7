//! Waiting for the answer of a run to what it was given: its next call of the same stub (B20).

use perennial::RunKey;
use tokio::sync::oneshot;

use super::message::{Ended, WaitError};
use super::shard::Shard;
use crate::client;
use crate::store::{Offer, StoreError};

/// A client's wish to hear of the next offer of a stub.
#[derive(Debug)]
pub(crate) struct ReplyRequest {
    pub(crate) run: RunKey,
    /// The name of the stub.
    pub(crate) stub: String,
    /// Only offers of later operations.
    pub(crate) after: u64,
    pub(crate) reply: oneshot::Sender<Result<Replied, WaitError>>,
}

/// What a run has answered.
#[derive(Debug)]
pub(crate) enum Replied {
    /// It has called the stub again.
    Offer(Offer),
    /// It has ended without that.
    Ended(client::Ended),
}

/// So many offers are looked through at once.
const PAGE: usize = 100;

impl ReplyRequest {
    fn unavailable(self, error: StoreError) {
        let _ = self.reply.send(Err(WaitError::Unavailable(error.into())));
    }
}

impl Shard {
    /// Answers at once where the answer is in the store, and otherwise when it is durable.
    pub(super) fn await_reply(&mut self, request: ReplyRequest) {
        match self.next_offer(&request) {
            Err(error) => request.unavailable(error),
            Ok(Some(offer)) => drop(request.reply.send(Ok(Replied::Offer(offer)))),
            Ok(None) => match self.answer_now(&request.run) {
                Some(answer) => {
                    let answer = self.reply_of(&request.run, &answer);
                    let _ = request.reply.send(answer);
                }
                None => {
                    let waiting = self.replies.entry(request.run.clone()).or_default();
                    if waiting.len() == waiting.capacity() {
                        // Some may wait no more, because of a time limit of theirs, say.
                        waiting.retain(|other| !other.reply.is_closed());
                    }
                    waiting.push(request);
                }
            },
        }
    }

    /// The first offer that the request waits for, whatever has become of it.
    fn next_offer(&self, request: &ReplyRequest) -> Result<Option<Offer>, StoreError> {
        let mut after = request.after;
        loop {
            let page = self.shared.store.offers(&request.run, after, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(None);
            };
            after = last.operation;
            let found = page.into_iter().find(|offer| offer.name == request.stub);
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// The run has called a stub, which is durable.
    pub(super) fn offered(&mut self, run: &RunKey, stub: &str) {
        let Some(waiting) = self.replies.get_mut(run) else {
            return;
        };
        let (told, others) = std::mem::take(waiting)
            .into_iter()
            .partition::<Vec<_>, _>(|request| request.stub == stub);
        *waiting = others;
        if waiting.is_empty() {
            self.replies.remove(run);
        }
        for request in told {
            self.await_reply(request);
        }
    }

    /// The run has ended, or cannot go on.
    pub(super) fn answer_replies(&mut self, run: &RunKey, answer: &Result<Ended, WaitError>) {
        for request in self.replies.remove(run).into_iter().flatten() {
            let answer = self.reply_of(run, answer);
            let _ = request.reply.send(answer);
        }
    }

    fn reply_of(
        &self,
        run: &RunKey,
        answer: &Result<Ended, WaitError>,
    ) -> Result<Replied, WaitError> {
        match answer {
            Err(error @ (WaitError::Blocked { .. } | WaitError::Unavailable(_))) => {
                Err(error.clone())
            }
            Ok(_) | Err(_) => match self.ended(run) {
                Some(ended) => Ok(Replied::Ended(ended)),
                None => Err(WaitError::NotFound),
            },
        }
    }

    /// Tells all who wait for an answer that none comes.
    pub(super) fn fail_replies(&mut self, error: &WaitError) {
        for request in std::mem::take(&mut self.replies).into_values().flatten() {
            let _ = request.reply.send(Err(error.clone()));
        }
    }
}
