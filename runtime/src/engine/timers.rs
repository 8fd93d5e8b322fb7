//! The thread that waits: for deadlines of timers, for the ends of back-offs, and until finished runs are to
//! be purged. The timers of the near future are in its memory; the rest stays in the store until its time
//! comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use perennial::{RunKey, Timestamp};

use super::retention::Retention;
use super::{Message, Shared};
use crate::activity::panic_text;
use crate::error::Unavailable;
use crate::store::{DueTimer, Progress, Remains, StoreError};

/// How many timers are read from the store at a time.
const PAGE: usize = 10_000;
/// How many timers are in memory at most. Those that were dropped are among them until their time comes.
const MOST: usize = 4 * PAGE;

/// What the thread is told.
#[derive(Debug)]
pub(super) enum TimerMessage {
    /// A timer was made durable. It rings at that time of the monotonic clock; `None`: in no process's life.
    Timer {
        timer: DueTimer,
        rings: Option<Instant>,
    },
    /// An attempt waits for its time, or for a slot until then.
    Retry {
        run: RunKey,
        operation: u64,
        at: Timestamp,
    },
    /// A run has finished and has no open activities, or its head alone is left, since that time.
    Finished { remains: Remains, at: Timestamp },
    /// There are blocked runs of which is to be told at that time.
    Unheard { rings: Instant },
    /// The store has answered a slice of a purge.
    Purged(Result<Progress, StoreError>),
    /// Stop.
    Stop,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Alarm {
    rings: Instant,
    timer: DueTimer,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A workflow's timer.
    Timer,
    /// An operation is tried again.
    Retry,
}

/// The thread's state.
#[derive(Debug)]
pub(super) struct Timers {
    shared: Arc<Shared>,
    alarms: BinaryHeap<Reverse<Alarm>>,
    /// How many of the alarms are workflows' timers.
    timers: usize,
    /// Timers up to this one are in memory; `None`: all of them.
    horizon: Option<DueTimer>,
    retention: Retention,
    /// When to tell of blocked runs.
    unheard: Option<Instant>,
}

impl Timers {
    /// Reads the timers of the near future.
    pub(super) fn new(shared: Arc<Shared>) -> Result<Self, StoreError> {
        let mut timers = Self {
            retention: Retention::new(Arc::clone(&shared)),
            shared,
            alarms: BinaryHeap::new(),
            timers: 0,
            horizon: None,
            unheard: None,
        };
        timers.read_page(None)?;
        Ok(timers)
    }

    fn read_page(&mut self, after: Option<&DueTimer>) -> Result<(), StoreError> {
        let page = self.shared.store.due(after, PAGE)?;
        let full = page.len() == PAGE;
        self.horizon = page.last().filter(|_| full).cloned();
        for timer in page {
            let rings = self.rings_at(timer.deadline);
            self.set(timer, rings, Kind::Timer);
        }
        Ok(())
    }

    /// Waiting is measured from now on, on the monotonic clock (S7).
    fn rings_at(&self, deadline: Timestamp) -> Option<Instant> {
        Instant::now().checked_add(deadline.since(self.shared.clock.now()))
    }

    fn set(&mut self, timer: DueTimer, rings: Option<Instant>, kind: Kind) {
        // A wait of more than the clock can count is longer than the process lives.
        let Some(rings) = rings else { return };
        self.timers += usize::from(kind == Kind::Timer);
        self.alarms.push(Reverse(Alarm { rings, timer, kind }));
        if self.timers > MOST {
            self.leave_the_later_half();
        }
    }

    /// Forgets timers that the store knows as well.
    fn leave_the_later_half(&mut self) {
        let alarms = std::mem::take(&mut self.alarms).into_iter();
        let (mut timers, retries): (Vec<_>, Vec<_>) =
            alarms.partition(|Reverse(alarm)| alarm.kind == Kind::Timer);
        timers.sort_unstable_by(|Reverse(a), Reverse(b)| a.timer.cmp(&b.timer));
        timers.truncate(MOST / 2);
        self.horizon = timers.last().map(|Reverse(alarm)| alarm.timer.clone());
        self.timers = timers.len();
        self.alarms = retries.into_iter().chain(timers).collect();
    }

    /// Until it is told to stop. Where it cannot go on the shards do not either: runs that wait for their
    /// timers in vain would look as if all were well.
    pub(super) fn run(mut self, messages: &Receiver<TimerMessage>) {
        let shared = Arc::clone(&self.shared);
        let end =
            catch_unwind(AssertUnwindSafe(|| self.wait(messages))).unwrap_or_else(|payload| {
                let reason = format!(
                    "its thread for timers panicked: {}",
                    panic_text(payload.as_ref())
                );
                Err(Unavailable::Broken { reason })
            });
        if let Err(error) = end {
            for mailbox in shared.mailboxes.iter() {
                let _ = mailbox.send(Message::Failed(error.clone()));
            }
        }
    }

    fn wait(&mut self, messages: &Receiver<TimerMessage>) -> Result<(), Unavailable> {
        loop {
            self.ring()?;
            self.retention.ring();
            if self
                .unheard
                .take_if(|rings| *rings <= Instant::now())
                .is_some()
            {
                self.shared.unheard.say();
            }
            let next = self.alarms.peek().map(|Reverse(next)| next.rings);
            let others = self.retention.rings().into_iter().chain(self.unheard);
            let message = match next.into_iter().chain(others).min() {
                None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(rings) => {
                    messages.recv_timeout(rings.saturating_duration_since(Instant::now()))
                }
            };
            match message {
                Ok(TimerMessage::Timer { timer, rings }) => {
                    if self.horizon.as_ref().is_none_or(|last| timer <= *last) {
                        self.set(timer, rings, Kind::Timer);
                    }
                }
                Ok(TimerMessage::Retry { run, operation, at }) => {
                    let rings = self.rings_at(at);
                    self.set(
                        DueTimer {
                            deadline: at,
                            run,
                            operation,
                        },
                        rings,
                        Kind::Retry,
                    );
                }
                Ok(TimerMessage::Finished { remains, at }) => self.retention.note(remains, at),
                Ok(TimerMessage::Unheard { rings }) => self.unheard = Some(rings),
                Ok(TimerMessage::Purged(result)) => self.retention.purged(result),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(TimerMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// Tells the shards what is due, and reads on in the store when no timer is left in memory.
    fn ring(&mut self) -> Result<(), StoreError> {
        loop {
            let now = Instant::now();
            while self
                .alarms
                .peek()
                .is_some_and(|Reverse(next)| next.rings <= now)
            {
                let Some(Reverse(Alarm {
                    timer:
                        DueTimer {
                            deadline,
                            run,
                            operation,
                        },
                    kind,
                    ..
                })) = self.alarms.pop()
                else {
                    break;
                };
                let message = match kind {
                    Kind::Timer => {
                        self.timers -= 1;
                        Message::Due {
                            run: run.clone(),
                            deadline,
                        }
                    }
                    Kind::Retry => Message::Retry {
                        run: run.clone(),
                        operation,
                    },
                };
                self.shared.tell(&run, message);
            }
            let Some(last) = self.horizon.take_if(|_| self.timers == 0) else {
                return Ok(());
            };
            self.read_page(Some(&last))?;
        }
    }
}
