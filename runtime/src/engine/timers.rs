//! The thread that waits: for deadlines of timers and for the ends of back-offs. The timers of the near
//! future are in its memory; the rest stays in the store until its time comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use perennial::{RunKey, Timestamp};

use super::{Message, Shared};
use crate::store::{DueTimer, StoreError};

/// How many timers are read from the store at a time.
const PAGE: usize = 10_000;

/// What the thread is told.
#[derive(Debug)]
pub(super) enum TimerMessage {
    /// A timer was made durable.
    Timer { run: RunKey, deadline: Timestamp },
    /// An attempt waits for its time.
    Retry { run: RunKey, operation: u64, at: Timestamp },
    /// Stop.
    Stop,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Alarm {
    at: Instant,
    deadline: Timestamp,
    run: RunKey,
    /// The operation that is tried again; `None`: a timer.
    retry: Option<u64>,
}

/// The thread's state.
#[derive(Debug)]
pub(super) struct Timers {
    shared: Arc<Shared>,
    alarms: BinaryHeap<Reverse<Alarm>>,
    /// Timers up to this one are in memory; `None`: all of them.
    horizon: Option<DueTimer>,
}

impl Timers {
    /// Reads the timers of the near future.
    pub(super) fn new(shared: Arc<Shared>) -> Result<Self, StoreError> {
        let mut timers = Self { shared, alarms: BinaryHeap::new(), horizon: None };
        timers.read_page(None)?;
        Ok(timers)
    }

    fn read_page(&mut self, after: Option<&DueTimer>) -> Result<(), StoreError> {
        let page = self.shared.store.due(after, PAGE)?;
        let full = page.len() == PAGE;
        self.horizon = page.last().filter(|_| full).cloned();
        for timer in page {
            self.set(timer.run, timer.deadline, None);
        }
        Ok(())
    }

    /// Waiting is measured from now on, on the monotonic clock (S7).
    fn set(&mut self, run: RunKey, deadline: Timestamp, retry: Option<u64>) {
        let wait = deadline.since(self.shared.clock.now());
        // A wait of more than the clock can count is longer than the process lives.
        if let Some(at) = Instant::now().checked_add(wait) {
            self.alarms.push(Reverse(Alarm { at, deadline, run, retry }));
        }
    }

    pub(super) fn run(mut self, messages: &Receiver<TimerMessage>) {
        loop {
            self.ring();
            let message = match self.alarms.peek() {
                None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(Reverse(next)) => messages.recv_timeout(next.at.saturating_duration_since(Instant::now())),
            };
            match message {
                Ok(TimerMessage::Timer { run, deadline }) => {
                    if self.horizon.as_ref().is_none_or(|last| deadline <= last.deadline) {
                        self.set(run, deadline, None);
                    }
                }
                Ok(TimerMessage::Retry { run, operation, at }) => self.set(run, at, Some(operation)),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(TimerMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Tells the shards what is due, and reads on in the store when the memory is empty.
    fn ring(&mut self) {
        loop {
            let now = Instant::now();
            while self.alarms.peek().is_some_and(|Reverse(next)| next.at <= now) {
                if let Some(Reverse(Alarm { deadline, run, retry, .. })) = self.alarms.pop() {
                    let message = match retry {
                        None => Message::Due { run: run.clone(), deadline },
                        Some(operation) => Message::Retry { run: run.clone(), operation },
                    };
                    self.shared.tell(&run, message);
                }
            }
            let Some(last) = self.horizon.take_if(|_| self.alarms.is_empty()) else { return };
            if let Err(error) = self.read_page(Some(&last)) {
                tracing::error!("timers cannot be read, so none fires any more: {error}");
                return;
            }
        }
    }
}
