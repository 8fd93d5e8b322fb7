//! One process: its shards, their mailboxes, and the alarms that a thread would wait for.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use perennial::{RunKey, Timestamp};

use super::faulty::{Fate, FaultyStore};
use super::time::Time;
use crate::artifact::Artifact;
use crate::builder::KEEP_IDS;
use crate::engine::shard::Shard;
use crate::engine::timers::TimerMessage;
use crate::engine::{Assembled, Message, Parts, Settings, Shared, ToShard, assemble, wake_all};
use crate::registry::Registry;
use crate::store::{DueTimer, Store};

/// An alarm: when it rings on the clock that only goes on, and for what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Alarm {
    rings: u64,
    deadline: Timestamp,
    run: RunKey,
    /// `None`: a timer of a workflow.
    operation: Option<u64>,
}

/// How many shards a process has. Which runs they have is the same each time.
pub(super) const SHARDS: usize = 2;

/// A shard, and what it has been told and not read.
struct Reader {
    shard: Shard,
    mailbox: Receiver<Message>,
}

pub(super) struct Process {
    pub(super) shared: Arc<Shared>,
    store: FaultyStore,
    shards: Vec<Reader>,
    timers: Receiver<TimerMessage>,
    alarms: BTreeSet<Alarm>,
    time: Time,
}

impl Process {
    /// `warm`: whether runs stay in memory while nothing happens to them.
    pub(super) fn open(
        store: FaultyStore,
        registry: Registry,
        time: Time,
        warm: bool,
        tokio: &tokio::runtime::Handle,
    ) -> Result<Self, String> {
        let parts = Parts {
            store: Arc::new(store.clone()),
            artifact: Artifact {
                name: Some("simulated".into()),
                build: Some("simulated".into()),
            },
            registry,
            clock: Arc::new(time.clone()),
            settings: Settings {
                shards: SHARDS,
                activities: 2,
                warm_memory: if warm { 1 << 20 } else { 0 },
                slow_poll: Duration::from_secs(60),
                retention: None,
                keep_ids: KEEP_IDS,
            },
            tokio: tokio.clone(),
            by_run: ToShard::fixed(),
        };
        let text = |error: crate::store::StoreError| format!("a process could not begin: {error}");
        let Assembled {
            shared,
            mailboxes,
            timers,
        } = assemble(parts).map_err(text)?;
        let shards = mailboxes.into_iter().enumerate();
        let shards = shards.map(|(index, mailbox)| Reader {
            shard: Shard::new(Arc::clone(&shared), index),
            mailbox,
        });
        let mut process = Self {
            shards: shards.collect(),
            shared,
            timers,
            alarms: BTreeSet::new(),
            time,
            store,
        };
        for DueTimer { deadline, run, .. } in process.store.due(None, 10_000).map_err(text)? {
            process.set(run, deadline, None);
        }
        wake_all(&process.shared).map_err(text)?;
        Ok(process)
    }

    fn set(&mut self, run: RunKey, deadline: Timestamp, operation: Option<u64>) {
        let wait = deadline.as_millis().saturating_sub(self.time.wall());
        self.alarms.insert(Alarm {
            rings: self.time.passed() + wait,
            deadline,
            run,
            operation,
        });
    }

    /// A shard reads a message and hands over what that led to. Says whether there was one.
    pub(super) fn read(&mut self) -> bool {
        (0..SHARDS).any(|shard| self.read_of(shard))
    }

    /// The same of this one.
    pub(super) fn read_of(&mut self, shard: usize) -> bool {
        let Reader { shard, mailbox } = &mut self.shards[shard];
        let Ok(message) = mailbox.try_recv() else {
            return false;
        };
        shard.turn(Some(message));
        shard.turn(None);
        while let Ok(message) = self.timers.try_recv() {
            match message {
                TimerMessage::Timer { timer, .. } => self.set(timer.run, timer.deadline, None),
                TimerMessage::Retry { run, operation, at } => self.set(run, at, Some(operation)),
                _ => {}
            }
        }
        true
    }

    /// What is due by now is told.
    pub(super) fn ring(&mut self) {
        while let Some(alarm) = self.alarms.pop_first() {
            if alarm.rings > self.time.passed() {
                self.alarms.insert(alarm);
                return;
            }
            let Alarm {
                deadline,
                run,
                operation,
                ..
            } = alarm;
            let message = match operation {
                None => Message::Due {
                    run: run.clone(),
                    deadline,
                },
                Some(operation) => Message::Retry {
                    run: run.clone(),
                    operation,
                },
            };
            self.shared.tell(&run, message);
        }
    }

    /// When the next alarm rings.
    pub(super) fn next_alarm(&self) -> Option<u64> {
        self.alarms.first().map(|alarm| alarm.rings)
    }

    pub(super) fn write(&self, fate: Fate) -> bool {
        self.store.go_on(fate).is_some()
    }

    /// Whether nothing goes on in it any more.
    pub(super) fn has_failed(&self) -> bool {
        let mut shards = self.shards.iter();
        shards.any(|reader| reader.shard.failed.is_some())
    }
}
