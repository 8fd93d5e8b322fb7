//! Making a fork: the write is handed over by whoever asked for it, and the shard to which the new run belongs is told
//! when it is durable, as that of a run to which another one was moved.

use std::sync::Arc;
use std::time::Instant;

use perennial::RunKey;
use tokio::sync::oneshot;

use super::Shared;
use super::message::Message;
use super::timers::TimerMessage;
use crate::error::Unavailable;
use crate::store::{Committed, Create, Created, DueTimer, Head, StoreError, TimerChange};

impl Shared {
    /// Makes the run. `Err`: there is one already.
    pub(crate) async fn make_fork(
        self: &Arc<Self>,
        create: Create,
    ) -> Result<Result<(), Box<Head>>, Unavailable> {
        if self.is_draining() {
            return Err(Unavailable::Draining);
        }
        let (reply, answer) = oneshot::channel();
        // Not in the ack: a clock may be the user's, and may panic.
        let (run, timers) = (create.run.clone(), self.timers_of(&create));
        let shared = Arc::clone(self);
        // In the ack, so that the run goes on though nobody waits for the answer any more.
        let ack = Box::new(move |result: Result<Created, StoreError>| {
            let result = match result {
                Ok(Created::New(_, committed)) => {
                    shared.has_forked(&run, timers, committed);
                    Ok(Ok(()))
                }
                Ok(Created::Exists(head)) => Ok(Err(Box::new(head))),
                Err(error) => {
                    if error.ends_all() {
                        // A run may be there that nobody wakes.
                        shared.tell(&run, Message::Failed(error.clone().into()));
                    }
                    Err(error)
                }
            };
            let _ = reply.send(result);
        });
        self.store.create(create, ack);
        let answer = answer.await.map_err(|_| Unavailable::Stopped)?;
        Ok(answer?)
    }

    fn has_forked(&self, run: &RunKey, timers: Vec<TimerMessage>, mut committed: Committed) {
        for timer in timers {
            self.timer(timer);
        }
        self.pass_on(&mut committed);
        self.tell(run, Message::Wake { run: run.clone() });
    }

    /// What the thread that waits is told of a run's timers.
    fn timers_of(&self, create: &Create) -> Vec<TimerMessage> {
        let now = self.clock.now();
        let timers = create.changes.timers.iter();
        let timers = timers.filter_map(|timer| match timer {
            TimerChange::Put {
                operation,
                deadline,
            } => Some(TimerMessage::Timer {
                rings: Instant::now().checked_add(deadline.since(now)),
                timer: DueTimer {
                    deadline: *deadline,
                    run: create.run.clone(),
                    operation: *operation,
                },
            }),
            TimerChange::Remove { .. } => None,
        });
        timers.collect()
    }
}
