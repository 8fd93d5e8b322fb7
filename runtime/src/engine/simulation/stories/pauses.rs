//! Those who pause runs and let them go on, and what they were told.

use perennial::RunKey;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::super::process::Process;
use crate::client::PauseError;
use crate::engine::{Message, PauseReply, PauseRequest, PauseWish};
use crate::store::Head;

/// What somebody wants of a run, and is not answered yet.
#[derive(Debug)]
pub(super) struct Pause {
    pub(super) run: usize,
    wish: PauseWish,
    answer: oneshot::Receiver<Result<PauseReply, PauseError>>,
}

/// What is known of a wish.
pub(super) enum Told {
    /// It is not answered yet.
    Nothing(Pause),
    /// It is answered.
    Done(Pause),
    /// Nothing came of it, or nobody knows: the run is not there or has ended, or the process.
    NotDone,
}

impl Pause {
    /// Tells a process of it.
    pub(super) fn ask(process: &Process, run: usize, key: RunKey, wish: PauseWish) -> Self {
        let (reply, answer) = oneshot::channel();
        let request = PauseRequest {
            run: key.clone(),
            wish,
            reply,
        };
        process.shared.tell(&key, Message::Pause(request));
        Self { run, wish, answer }
    }

    /// Takes the answer, if it has come.
    pub(super) fn hear(mut self) -> Result<Told, String> {
        match self.answer.try_recv() {
            Ok(Ok(_)) => Ok(Told::Done(self)),
            Err(TryRecvError::Empty) => Ok(Told::Nothing(self)),
            Err(TryRecvError::Closed)
            | Ok(Err(
                PauseError::NotFound { .. }
                | PauseError::Finished { .. }
                | PauseError::Unavailable(_),
            )) => Ok(Told::NotDone),
        }
    }

    /// It is done, and nobody has wanted anything else since: that stands in the store.
    pub(super) fn check(&self, head: &Head) -> Result<(), String> {
        let (run, is_paused) = (self.run, head.paused.is_some());
        match self.wish {
            PauseWish::Pause if !is_paused && !head.status.is_finished() => {
                Err(format!("run {run} was said to be paused, and is not"))
            }
            PauseWish::Resume if is_paused => {
                Err(format!("run {run} was said to go on, and is paused"))
            }
            _ => Ok(()),
        }
    }
}
