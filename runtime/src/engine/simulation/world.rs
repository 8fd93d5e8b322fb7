//! The world of a story: its clocks, its store, at most one process at a time, and its senders.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use perennial::history::{Channel, Unit};
use perennial::value::Value;
use perennial::{Namespace, RunId, RunKey, Timestamp, WorkflowDefinition};
use tokio::sync::oneshot;

use super::faulty::{Fate, Fault, FaultyStore};
use super::judge;
use super::plan::follow;
use super::process::Process;
use super::senders::Send;
use super::story::{Event, RUNS, Story};
use crate::clock::Clock;
use crate::engine::{Message, Reuse, SendRequest, StartRequest};
use crate::store::{MemoryStore, Store as _};

/// The wall clock begins here, in milliseconds.
const BEGIN: u64 = 1_800_000_000_000;
/// How often a story may need something more to come to its end.
const PATIENCE: usize = 300;

/// Two clocks: one that can be set, and one that only goes on.
#[derive(Clone, Debug)]
pub(super) struct Time(Arc<(AtomicU64, AtomicU64)>);

impl Time {
    fn new() -> Self {
        Self(Arc::new((AtomicU64::new(BEGIN), AtomicU64::new(0))))
    }

    pub(super) fn wall(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }

    pub(super) fn passed(&self) -> u64 {
        self.0.1.load(Ordering::Relaxed)
    }

    fn pass(&self, milliseconds: u64) {
        self.0.0.fetch_add(milliseconds, Ordering::Relaxed);
        self.0.1.fetch_add(milliseconds, Ordering::Relaxed);
    }

    fn jump(&self, milliseconds: i64) {
        let wall = self.wall().saturating_add_signed(milliseconds);
        self.0.0.store(wall, Ordering::Relaxed);
    }
}

impl Clock for Time {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.wall())
    }
}

pub(super) struct World<'a> {
    story: &'a Story,
    pub(super) store: Arc<MemoryStore>,
    faulty: FaultyStore,
    time: Time,
    tokio: tokio::runtime::Runtime,
    process: Option<Process>,
    pub(super) sends: Vec<Send>,
    /// What was durable at the end of each process: of each run.
    pub(super) before: Vec<(usize, Vec<Unit>)>,
    /// What the next message says.
    next: u64,
}

impl<'a> World<'a> {
    pub(super) fn new(story: &'a Story, fault: Option<Fault>) -> Result<Self, String> {
        let tokio = tokio::runtime::Builder::new_current_thread().build();
        let store = Arc::new(MemoryStore::new());
        Ok(Self {
            story,
            faulty: FaultyStore::new(Arc::clone(&store), fault),
            store,
            time: Time::new(),
            tokio: tokio.map_err(|error| error.to_string())?,
            process: None,
            sends: Vec::new(),
            before: Vec::new(),
            next: 0,
        })
    }

    /// Tells the story to its end, and judges.
    pub(super) fn tell(mut self) -> Result<(), String> {
        self.open()?;
        for event in &self.story.events {
            self.happen(*event)?;
            self.hear()?;
        }
        self.settle()?;
        judge::judge(&self)
    }

    pub(super) fn key(run: usize) -> Result<RunKey, String> {
        let id: RunId = format!("run-{run}").parse().map_err(|_| "no id")?;
        Ok(RunKey::new(Namespace::default(), id))
    }

    fn happen(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Start { run } => self.start(run)?,
            Event::Send { run, name, key } => self.send(run, name, key)?,
            Event::Again { send } => {
                let mut keyed = self
                    .sends
                    .iter()
                    .enumerate()
                    .filter(|(_, send)| send.has_key());
                if let Some((at, _)) = keyed.nth(send) {
                    self.send_again(at)?;
                }
            }
            Event::Signal { run } => self.signal(run)?,
            Event::Read { messages } => {
                if let Some(process) = &mut self.process {
                    (0..messages).all(|_| process.read());
                }
            }
            Event::Write { writes } => {
                if let Some(process) = &self.process {
                    (0..writes).all(|_| process.write(Fate::Done));
                }
            }
            Event::Pass { milliseconds } => {
                self.time.pass(milliseconds);
                if let Some(process) = &mut self.process {
                    process.ring();
                }
            }
            Event::Jump { milliseconds } => self.time.jump(milliseconds),
            Event::Crash { done } => self.crash(done)?,
            Event::Unknown { done } => {
                if let Some(process) = &self.process {
                    process.write(Fate::Unknown { done });
                }
            }
            Event::Open => self.open()?,
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), String> {
        if self.process.is_none() {
            let (store, time) = (self.faulty.clone(), self.time.clone());
            let process = Process::open(store, time, self.story.warm, self.tokio.handle())?;
            self.process = Some(process);
        }
        Ok(())
    }

    fn crash(&mut self, done: usize) -> Result<(), String> {
        let Some(process) = self.process.take() else {
            return Ok(());
        };
        (0..done).all(|_| process.write(Fate::Unheard));
        drop(process);
        self.faulty.forget();
        for run in 0..RUNS {
            let units = judge::history(&*self.store, &Self::key(run)?)?;
            self.before.push((run, units));
        }
        Ok(())
    }

    fn start(&mut self, run: usize) -> Result<(), String> {
        let Some(process) = &self.process else {
            return Ok(());
        };
        let input = Value::encode(&self.story.plans[run]).map_err(|error| error.to_string())?;
        let (reply, _) = oneshot::channel();
        let run = Self::key(run)?;
        let request = StartRequest {
            run: run.clone(),
            workflow: WorkflowDefinition::of::<follow>(),
            digest: input.digest(),
            input,
            messages: Vec::new(),
            keys: Vec::new(),
            reuse: Reuse::Never,
            reply,
        };
        process.shared.tell(&run, Message::Start(request));
        Ok(())
    }

    fn send(&mut self, run: usize, name: u8, key: bool) -> Result<(), String> {
        if self.process.is_none() {
            return Ok(());
        }
        self.next += 1;
        let now = self.time.now();
        self.sends.push(Send::new(run, name, self.next, key, now)?);
        self.send_again(self.sends.len() - 1)
    }

    fn send_again(&mut self, at: usize) -> Result<(), String> {
        if let (Some(process), Some(send)) = (&self.process, self.sends.get_mut(at)) {
            send.send(process, Self::key(send.run)?);
        }
        Ok(())
    }

    fn signal(&mut self, run: usize) -> Result<(), String> {
        let Some(process) = &self.process else {
            return Ok(());
        };
        let (reply, _) = oneshot::channel();
        let run = Self::key(run)?;
        let request = SendRequest {
            run: run.clone(),
            channel: Channel::Signal,
            name: "nobody-waits".into(),
            payload: Value::null(),
            key: None,
            reply,
        };
        process.shared.tell(&run, Message::Send(request));
        Ok(())
    }

    fn hear(&mut self) -> Result<(), String> {
        self.sends.iter_mut().try_for_each(Send::hear)
    }

    /// All that is under way goes on until nothing is, and what runs still wait for they get.
    fn settle(&mut self) -> Result<(), String> {
        for _ in 0..PATIENCE {
            if self.process.as_ref().is_some_and(Process::has_failed) {
                self.crash(0)?;
            }
            self.open()?;
            for run in 0..RUNS {
                self.start(run)?;
            }
            for at in 0..self.sends.len() {
                if self.sends[at].has_key() && self.sends[at].is_unanswered() {
                    self.send_again(at)?;
                }
            }
            self.rest();
            self.hear()?;
            let unfinished = self.unfinished()?;
            if unfinished.is_empty() {
                return Ok(());
            }
            let alarm = self.process.as_ref().and_then(Process::next_alarm);
            match alarm {
                Some(rings) => {
                    self.time.pass(rings.saturating_sub(self.time.passed()));
                    self.process.as_mut().into_iter().for_each(Process::ring);
                }
                None => {
                    for run in unfinished {
                        (0..2).try_for_each(|name| self.send(run, name, true))?;
                    }
                }
            }
        }
        Err("the story does not come to an end".into())
    }

    fn rest(&mut self) {
        let Some(process) = &mut self.process else {
            return;
        };
        loop {
            let read = process.read();
            if !process.write(Fate::Done) && !read {
                return;
            }
        }
    }

    fn unfinished(&self) -> Result<Vec<usize>, String> {
        let mut found = Vec::new();
        for run in 0..RUNS {
            let head = self.store.head(&Self::key(run)?);
            match head.map_err(|error| error.to_string())? {
                Some(head) if head.blocked => {
                    let records = self.store.blocked(&Self::key(run)?);
                    return Err(format!("run {run} is blocked: {records:?}"));
                }
                Some(head) if head.status.is_finished() => {}
                _ => found.push(run),
            }
        }
        Ok(found)
    }
}
