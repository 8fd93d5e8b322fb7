//! The engine: shards that own runs, a thread for timers, and what they share.
//!
//! A run belongs to the shard that its name hashes to. The shard is one thread; it alone touches the run's
//! machine, so a workflow's future need not be `Send`. Everything reaches a shard as a [`Message`] and
//! nothing polls: a shard sleeps until it is told something.
//!
//! The way of one step: a worker reports how an attempt ended → the shard feeds it to the machine and hands
//! the unit to the store → the store says that it is durable → the shard dispatches what was decided.

mod advance;
mod block;
mod commit;
mod dispatch;
mod fork;
mod fulfil;
mod inputs;
mod message;
mod migrate;
mod observers;
mod open;
mod outbox;
mod pause;
mod program;
mod reply;
mod retention;
mod reuse;
mod run;
mod send;
mod settle;
mod shard;
#[cfg(test)]
mod simulation;
mod start;
mod threads;
mod timers;
mod unblock;
mod unheard;
mod update;
mod views;
mod warm;

use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use perennial::{RunKey, Stop, Timestamp};

use crate::activity::Slots;
use crate::artifact::Artifact;
use crate::clock::Clock;
use crate::control::Control;
use crate::error::Unavailable;
use crate::registry::Registry;
use crate::store::{Owner, Remains, Store, StoreError};

pub(crate) use fulfil::FulfilRequest;
pub(crate) use migrate::{MigrateReply, MigrateRequest};
pub(crate) use observers::{Follower, Observers};
pub(crate) use open::entropy;
#[cfg(feature = "cli")]
pub(crate) use open::unreadable_history;
pub(crate) use pause::{PauseReply, PauseRequest, PauseWish};
pub(crate) use reply::{Heard, Replied, ReplyRequest};
pub(crate) use retention::SLICE;
pub use reuse::Reuse;
pub(crate) use send::{SendRequest, observation, too_late};
pub(crate) use update::UpdateRequest;

pub(crate) use message::{Message, StartReply, StartRequest, WaitError};
use threads::Threads;
use timers::{TimerMessage, Timers};
use unheard::Unheard;

/// What a runtime may be told about how to work.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How many threads run workflows.
    pub(crate) shards: usize,
    /// How many activities run at once.
    pub(crate) activities: usize,
    /// How many bytes runs may hold that nothing happens to.
    pub(crate) warm_memory: usize,
    /// From how long on a poll is warned about.
    pub(crate) slow_poll: Duration,
    /// How long finished runs are kept; `None`: for ever.
    pub(crate) retention: Option<Duration>,
    /// How long the ids of purged runs are kept.
    pub(crate) keep_ids: Duration,
}

/// What all parts of an engine share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) owner: Owner,
    pub(crate) artifact: Arc<str>,
    pub(crate) registry: Registry,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    pub(crate) tokio: tokio::runtime::Handle,
    pub(crate) slots: Slots,
    pub(crate) mailboxes: Arc<[Sender<Message>]>,
    /// Which shard a run belongs to.
    by_run: ToShard,
    timers: Sender<TimerMessage>,
    /// About how many bytes the runs hold that nothing happens to.
    warm: Arc<AtomicUsize>,
    /// Who reads what runs give out.
    pub(crate) observers: Arc<Observers>,
    /// Blocked runs that the program has nobody for to tell of.
    unheard: Unheard,
    /// No run is started and no attempt is begun any more. Attempts see it too.
    pub(crate) stop: Stop,
}

impl Shared {
    /// Hands a message to the shard that owns `run`. A shard that has stopped takes none.
    pub(crate) fn tell(&self, run: &RunKey, message: Message) {
        let _ = self.mailboxes[shard_of(run, &self.by_run, self.mailboxes.len())].send(message);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.stop.is_raised()
    }

    /// Of a run the head alone is left since then, which is to go too one day.
    pub(crate) fn head_is_left(&self, at: Timestamp) {
        self.timer(TimerMessage::Finished {
            remains: Remains::Head,
            at,
        });
    }

    fn timer(&self, message: TimerMessage) {
        let _ = self.timers.send(message);
    }
}

/// By a hash that is quick and has a random seed: whoever chooses names cannot tell where they meet.
type ByRun = foldhash::fast::RandomState;

/// The same, where the seed can be said.
pub(crate) type ToShard = foldhash::fast::SeedableRandomState;

fn shard_of(run: &RunKey, by: &ToShard, shards: usize) -> usize {
    usize::try_from(by.hash_one(run) % shards as u64).unwrap_or(0)
}

/// A running engine.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) shared: Arc<Shared>,
    /// Where it is asked from outside.
    pub(crate) control: Option<Control>,
    threads: Threads,
    stopped: bool,
}

/// What an engine is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) artifact: Artifact,
    pub(crate) registry: Registry,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    pub(crate) tokio: tokio::runtime::Handle,
    /// Which shard has which runs.
    pub(crate) by_run: ToShard,
}

impl Engine {
    /// Starts the threads, and wakes each run that has something to do.
    pub(crate) fn start(parts: Parts) -> Result<Self, StoreError> {
        let Assembled {
            shared,
            mailboxes,
            timers,
        } = assemble(parts)?;
        let mut engine = Self {
            shared,
            control: None,
            threads: Threads::default(),
            stopped: false,
        };
        engine.spawn_threads(mailboxes, timers)?;
        wake_all(&engine.shared)?;
        Ok(engine)
    }

    fn spawn_threads(
        &mut self,
        receivers: Vec<Receiver<Message>>,
        timer_messages: Receiver<TimerMessage>,
    ) -> Result<(), StoreError> {
        for (index, receiver) in receivers.into_iter().enumerate() {
            let shared = Arc::clone(&self.shared);
            let run = move || shard::Shard::new(shared, index).run(&receiver);
            self.threads
                .spawn(format!("perennial-shard-{index}"), run)?;
        }
        let timers = Timers::new(Arc::clone(&self.shared))?;
        self.threads.spawn("perennial-timers".into(), move || {
            timers.run(&timer_messages)
        })
    }

    /// Begins no more runs and attempts, waits until the attempts under way have ended and what they
    /// brought is durable, at most for `at_most`. Says how many attempts had not ended.
    pub(crate) async fn drain(&self, at_most: Duration) -> usize {
        self.shared.stop.raise();
        self.shared.slots.close();
        let (rest, mut resting) = tokio::sync::mpsc::channel(1);
        for mailbox in self.shared.mailboxes.iter() {
            let _ = mailbox.send(Message::Drain { rest: rest.clone() });
        }
        drop(rest);
        match tokio::time::timeout(at_most, resting.recv()).await {
            Ok(_) => 0,
            // Not asked of the shards: one of them may be what it waited for.
            Err(_) => self.shared.slots.taken(),
        }
    }

    /// Stops the threads. What is under way is left as it is: the store knows all that was decided.
    pub(crate) fn stop(&mut self) {
        if std::mem::replace(&mut self.stopped, true) {
            return;
        }
        self.shared.stop.raise();
        // The socket goes while the store is still ours.
        if let Some(control) = &mut self.control {
            control.close();
        }
        self.shared.slots.close();
        for mailbox in self.shared.mailboxes.iter() {
            let _ = mailbox.send(Message::Stop);
        }
        self.shared.timer(TimerMessage::Stop);
        self.threads.join();
        self.shared.observers.close(Unavailable::Stopped);
        // Those whose requests were under way are told by now that they were not answered.
        self.control = None;
        self.shared.unheard.say();
        if let Err(error) = self.shared.store.close() {
            tracing::error!("the store could not be closed in order: {error}");
        }
    }
}

/// What the shards and the thread for timers share, and the other ends of what they are told through.
struct Assembled {
    shared: Arc<Shared>,
    /// One a shard.
    mailboxes: Vec<Receiver<Message>>,
    timers: Receiver<TimerMessage>,
}

fn assemble(parts: Parts) -> Result<Assembled, StoreError> {
    let Parts {
        store,
        artifact,
        registry,
        clock,
        settings,
        tokio,
        by_run,
    } = parts;
    let artifact: Arc<str> = program::record(&*store, &artifact, &registry, &*clock)?.into();
    let owner = store.enroll()?;
    let count = settings.shards.max(1);
    let (mailboxes, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
    let mailboxes: Arc<[Sender<Message>]> = mailboxes.into();
    let (granting, by) = (Arc::clone(&mailboxes), by_run.clone());
    let slots = Slots::new(
        settings.activities.max(1),
        Box::new(move |waiting, slot| {
            let shard = shard_of(&waiting.run, &by, granting.len());
            let _ = granting[shard].send(Message::Slot { waiting, slot });
        }),
    );
    let (timers, timer_messages) = channel();
    let shared = Arc::new(Shared {
        store,
        owner,
        artifact,
        registry,
        clock,
        settings,
        tokio,
        slots,
        mailboxes,
        by_run,
        timers,
        warm: Arc::default(),
        observers: Arc::default(),
        unheard: Unheard::default(),
        stop: Stop::default(),
    });
    Ok(Assembled {
        shared,
        mailboxes: receivers,
        timers: timer_messages,
    })
}

/// Cold start: only runs that have something to do are touched, and only those are replayed that have something to be
/// told.
fn wake_all(shared: &Shared) -> Result<(), StoreError> {
    const PAGE: usize = 1_000;
    let mut after = None;
    loop {
        let runs = shared
            .store
            .claimable(&shared.artifact, after.as_ref(), PAGE)?;
        let full = runs.len() == PAGE;
        for run in &runs {
            shared.tell(run, Message::Wake { run: run.clone() });
        }
        match runs.into_iter().next_back() {
            Some(last) if full => after = Some(last),
            _ => return Ok(()),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
    }
}
