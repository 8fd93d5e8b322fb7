//! Waiting for the answer of a run to what it was given (B20): the next call of the same stub that it makes when it has
//! heard that. A call that it made before, for somebody else that it talks to, is no answer; nor is one that it makes
//! after it has gone another way, and has heard nothing.

use perennial::history::{Decision, Observation};
use perennial::{RunKey, Timestamp};
use tokio::sync::oneshot;

use super::message::{Ended, WaitError};
use super::shard::Shard;
use crate::client;
use crate::store::{Offer, Store, StoreError};

/// A client's wish to hear what a run says to what it was given.
#[derive(Debug)]
pub(crate) struct ReplyRequest {
    pub(crate) run: RunKey,
    /// The name of the stub.
    pub(crate) stub: String,
    /// The operation that it was given something for.
    pub(crate) operation: u64,
    /// Whether it has heard it.
    pub(crate) heard: Heard,
    pub(crate) reply: oneshot::Sender<Result<Replied, WaitError>>,
}

/// Whether a run has heard what it was given, as far as its history was looked through.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Heard {
    /// Not before this event.
    NotBefore(u64),
    /// In the unit of this number.
    In(u64),
    /// It has gone another way before, then.
    Dropped(Timestamp),
}

impl Default for Heard {
    fn default() -> Self {
        Self::NotBefore(0)
    }
}

impl Heard {
    /// Looks on through what there is by now of the history of the generation that has made the offer.
    pub(crate) fn look(
        self,
        store: &dyn Store,
        run: &RunKey,
        offer: &Offer,
    ) -> Result<Self, StoreError> {
        const PAGE: usize = 500;
        let Self::NotBefore(from) = self else {
            return Ok(self);
        };
        let mut next = from.max(offer.unit);
        loop {
            let units = store.history(run, offer.generation, next, PAGE)?;
            let Some(last) = units.last() else {
                return Ok(Self::NotBefore(next));
            };
            next = last.last() + 1;
            for unit in &units {
                if matches!(unit.observation, Observation::StubFulfilled { operation, .. } if operation == offer.operation)
                {
                    return Ok(Self::In(unit.number));
                }
                let drops = |decision: &Decision| matches!(decision, Decision::Dropped { operation } if *operation == offer.operation);
                if unit.decisions.iter().any(drops) {
                    return Ok(Self::Dropped(unit.at));
                }
            }
        }
    }
}

/// What a run has answered.
#[derive(Debug)]
pub(crate) enum Replied {
    /// It has called the stub again.
    Offer(Offer),
    /// It has gone another way, and has not heard what it was given.
    Dropped(Timestamp),
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
    pub(super) fn await_reply(&mut self, mut request: ReplyRequest) {
        match self.replied(&mut request) {
            Err(error) => request.unavailable(error),
            Ok(Some(answer)) => drop(request.reply.send(answer)),
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

    /// What the run has said to it by now, or why it says nothing.
    fn replied(
        &self,
        request: &mut ReplyRequest,
    ) -> Result<Option<Result<Replied, WaitError>>, StoreError> {
        let (store, run) = (&*self.shared.store, &request.run);
        let Some(given) = store.offer(run, request.operation)? else {
            return Ok(None);
        };
        request.heard = request.heard.look(store, run, &given)?;
        match request.heard {
            Heard::Dropped(at) => return Ok(Some(Ok(Replied::Dropped(at)))),
            Heard::In(unit) => {
                if let Some(offer) = self.next_offer(request, &given, unit)? {
                    return Ok(Some(Ok(Replied::Offer(offer))));
                }
            }
            Heard::NotBefore(_) => {}
        }
        let head = store.head(run)?;
        // What has begun anew since knows nothing of it.
        let is_over = head.is_some_and(|head| head.generation != given.generation);
        Ok(is_over.then_some(Err(WaitError::NotFound)))
    }

    /// The first offer that the run has made when it had heard it, whatever has become of that since.
    fn next_offer(
        &self,
        request: &ReplyRequest,
        given: &Offer,
        heard: u64,
    ) -> Result<Option<Offer>, StoreError> {
        let mut after = request.operation;
        loop {
            let page = self.shared.store.offers(&request.run, after, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(None);
            };
            after = last.operation;
            let mut own = page
                .into_iter()
                .filter(|offer| offer.generation == given.generation && offer.unit >= heard);
            let found = own.find(|offer| offer.name == request.stub);
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

    /// The run has dropped calls, which is durable: they may be those of requests that it has not heard.
    pub(super) fn withdrawn(&mut self, run: &RunKey) {
        let Some(waiting) = self.replies.get_mut(run) else {
            return;
        };
        let is_unheard = |request: &mut ReplyRequest| matches!(request.heard, Heard::NotBefore(_));
        let unheard: Vec<_> = waiting.extract_if(.., is_unheard).collect();
        if waiting.is_empty() {
            self.replies.remove(run);
        }
        for request in unheard {
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
