//! What those outside are answered: in words that are the same whenever they ask.

use std::fmt::Display;

use perennial::value::Value;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use crate::client::{Answered, FulfilError, PauseError, SendError, UpdateError};
use crate::engine::{MigrateReply, PauseReply, Replied, StartReply, WaitError};
use crate::error::Unavailable;
use crate::fork::ForkError;
use crate::store::Delivered;

type Coming<T, E> = oneshot::Receiver<Result<T, E>>;

/// An answer that has not come.
#[derive(Debug)]
pub(super) enum Answer {
    Start(Coming<StartReply, Unavailable>),
    Tell(Coming<Delivered, SendError>),
    Fulfil(Coming<Delivered, FulfilError>),
    Ask(Coming<Answered, UpdateError<Value>>),
    Hear(Coming<Replied, WaitError>),
    Pause(Coming<PauseReply, PauseError>),
    Fork(Coming<(), ForkError>),
    Move(Coming<MigrateReply, Unavailable>),
}

impl Answer {
    /// What is said; `None`: nothing yet.
    pub(super) fn hear(&mut self) -> Result<Option<String>, String> {
        match self {
            Self::Start(answer) => heard(answer, |_| "it is there".to_owned(), failed),
            Self::Tell(answer) => heard(answer, receipt, failed),
            Self::Fulfil(answer) => heard(answer, receipt, failed),
            Self::Ask(answer) => heard(answer, change, no_change),
            Self::Hear(answer) => heard(answer, reply, |error| Err(format!("{error:?}"))),
            Self::Pause(answer) => heard(answer, |_| PAUSE.to_owned(), no_pause),
            Self::Fork(answer) => heard(answer, |()| FORK.to_owned(), no_fork),
            Self::Move(answer) => heard(answer, |reply| format!("{reply:?}"), failed),
        }
    }
}

fn heard<T, E>(
    answer: &mut Coming<T, E>,
    word: impl Fn(T) -> String,
    no: impl Fn(E) -> Result<String, String>,
) -> Result<Option<String>, String> {
    match answer.try_recv() {
        Ok(Ok(said)) => Ok(Some(word(said))),
        Ok(Err(error)) => no(error).map(Some),
        Err(TryRecvError::Empty) => Ok(None),
        Err(TryRecvError::Closed) => Err("nobody answers".to_owned()),
    }
}

fn failed(error: impl Display) -> Result<String, String> {
    Err(error.to_string())
}

fn receipt(delivered: Delivered) -> String {
    format!("number {} at {}", delivered.arrival, delivered.at)
}

fn change(answered: Answered) -> String {
    format!("{} by event {}", answered.value, answered.event)
}

/// What is refused leaves nothing behind, so that a run that has ended since says that instead.
fn no_change(error: UpdateError<Value>) -> Result<String, String> {
    match error {
        UpdateError::Refused(_)
        | UpdateError::RunFinished { .. }
        | UpdateError::RunEnded { .. } => Ok("it is not done".to_owned()),
        error => failed(error),
    }
}

fn reply(replied: Replied) -> String {
    match replied {
        Replied::Offer(offer) => format!("it says what operation {} says", offer.operation),
        Replied::Dropped(at) => format!("it has not heard that, since {at}"),
        Replied::Ended(ended) => format!("it has ended: {ended:?}"),
    }
}

const PAUSE: &str = "it has the pause, or its end";

/// A run that has ended since has had the pause, and its end.
fn no_pause(error: PauseError) -> Result<String, String> {
    match error {
        PauseError::Finished { .. } => Ok(PAUSE.to_owned()),
        error => failed(error),
    }
}

const FORK: &str = "the fork is there";

/// Whoever asks again hears of which run it is one.
fn no_fork(error: ForkError) -> Result<String, String> {
    match error {
        ForkError::TargetExists {
            forked_from: Some(_),
            ..
        } => Ok(FORK.to_owned()),
        error => failed(error),
    }
}
