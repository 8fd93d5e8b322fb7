//! The world of a story: its clocks, its store, at most one process at a time, and its senders.

use std::sync::Arc;

use perennial::history::{Channel, Unit};
use perennial::value::Value;
use perennial::{Namespace, RunId, RunKey, WorkflowDefinition};
use tokio::sync::oneshot;

use super::super::faults::Fault;
use super::super::faulty::{Fate, FaultyStore};
use super::super::process::{Process, SHARDS};
use super::super::time::Time;
use super::super::watch::{Watch, text};
use super::fulfils::Fulfil;
use super::judge;
use super::pauses::{Pause, Told};
use super::plan::follow;
use super::senders::Send;
use super::story::{Event, RUNS, Story};
use crate::clock::Clock as _;
use crate::engine::{Message, PauseWish, Reuse, SendRequest, StartRequest};
use crate::registry::Registry;
use crate::store::{MemoryStore, Offer, Store as _};

/// How often a story may need something more to come to its end.
const PATIENCE: usize = 300;

pub(super) struct World<'a> {
    story: &'a Story,
    pub(super) store: Arc<MemoryStore>,
    faulty: FaultyStore,
    time: Time,
    tokio: tokio::runtime::Runtime,
    process: Option<Process>,
    registry: Registry,
    pub(super) sends: Vec<Send>,
    pub(super) fulfils: Vec<Fulfil>,
    /// In the order in which they were asked for.
    pauses: Vec<Pause>,
    pub(super) watch: Watch,
    /// What was durable at the end of each process: of each run.
    pub(super) before: Vec<(usize, Vec<Unit>)>,
    /// What the next message says.
    next: u64,
}

impl<'a> World<'a> {
    pub(super) fn new(story: &'a Story, fault: Option<Fault>) -> Result<Self, String> {
        let tokio = tokio::runtime::Builder::new_current_thread().build();
        let store = Arc::new(MemoryStore::new());
        let mut registry = Registry::default();
        registry.add_workflow(WorkflowDefinition::of::<follow>());
        Ok(Self {
            story,
            faulty: FaultyStore::new(store.clone(), fault, Arc::new(|_| Fate::Done)),
            store,
            registry,
            time: Time::new(),
            tokio: tokio.map_err(|error| error.to_string())?,
            process: None,
            sends: Vec::new(),
            fulfils: Vec::new(),
            pauses: Vec::new(),
            watch: Watch::default(),
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
            Event::Fulfil { run, offer } => {
                if let Some(offer) = self.open_offers(run)?.into_iter().nth(offer) {
                    self.fulfil(run, offer)?;
                }
            }
            Event::FulfilAgain { fulfil } => self.give(fulfil)?,
            Event::FulfilOtherwise { fulfil } => {
                if let Some(fulfil) = self.fulfils.get(fulfil) {
                    self.next += 1;
                    let other = fulfil.otherwise(self.next);
                    self.fulfils.push(other);
                    self.give(self.fulfils.len() - 1)?;
                }
            }
            Event::Signal { run } => self.signal(run)?,
            Event::Pause { run } => self.pause(run, PauseWish::Pause)?,
            Event::Resume { run } => self.pause(run, PauseWish::Resume)?,
            Event::Read { shard, messages } => {
                if let Some(process) = &mut self.process {
                    (0..messages).all(|_| process.read_of(shard));
                }
            }
            Event::Write { writes } => {
                for _ in 0..writes {
                    if !self.write(Fate::Done)? {
                        break;
                    }
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
            Event::Unknown { done } => drop(self.write(Fate::Unknown { done })?),
            Event::Open => self.open()?,
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), String> {
        if self.process.is_none() {
            let (store, time) = (self.faulty.clone(), self.time.clone());
            let (registry, warm) = (self.registry.clone(), self.story.warm);
            let process = Process::open(store, registry, time, warm, self.tokio.handle())?;
            self.process = Some(process);
        }
        Ok(())
    }

    /// The store does the next write, and whoever looks on sees what came of it. Says whether there was one.
    fn write(&mut self, fate: Fate) -> Result<bool, String> {
        let Some(process) = &self.process else {
            return Ok(false);
        };
        let is_done = process.write(fate);
        if is_done {
            for run in 0..RUNS {
                self.watch.look(&self.faulty, &Self::key(run)?)?;
            }
        }
        Ok(is_done)
    }

    fn crash(&mut self, done: usize) -> Result<(), String> {
        for _ in 0..done {
            if !self.write(Fate::Unheard)? {
                break;
            }
        }
        if self.process.take().is_none() {
            return Ok(());
        }
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
        let input = Value::encode(&(run, &self.story.plans[run]));
        let input = input.map_err(|error| error.to_string())?;
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

    /// The offers of a run that are open now.
    fn open_offers(&self, run: usize) -> Result<Vec<Offer>, String> {
        let offers = self.faulty.offers(&Self::key(run)?, 0, usize::MAX);
        let mut offers = offers.map_err(text)?;
        offers.retain(Offer::is_open);
        Ok(offers)
    }

    /// Somebody completes an offer with a value of theirs.
    fn fulfil(&mut self, run: usize, offer: Offer) -> Result<(), String> {
        self.next += 1;
        let fulfil = Fulfil::new(run, offer.operation, offer.name, self.next);
        self.fulfils.push(fulfil);
        self.give(self.fulfils.len() - 1)
    }

    fn give(&mut self, at: usize) -> Result<(), String> {
        match (&self.process, self.fulfils.get_mut(at)) {
            (Some(process), Some(fulfil)) => fulfil.give(process, Self::key(fulfil.run)?),
            _ => Ok(()),
        }
    }

    fn pause(&mut self, run: usize, wish: PauseWish) -> Result<(), String> {
        if let Some(process) = &self.process {
            let asked = Pause::ask(process, run, Self::key(run)?, wish);
            self.pauses.push(asked);
        }
        Ok(())
    }

    fn hear(&mut self) -> Result<(), String> {
        self.sends.iter_mut().try_for_each(Send::hear)?;
        self.fulfils.iter_mut().try_for_each(Fulfil::hear)?;
        let mut answered = [const { None }; RUNS];
        for pause in std::mem::take(&mut self.pauses) {
            let run = pause.run;
            // Of several wishes the last one counts, once it is answered.
            answered[run] = match pause.hear()? {
                Told::Nothing(pause) => {
                    self.pauses.push(pause);
                    None
                }
                Told::Done(pause) => Some(pause),
                Told::NotDone => None,
            };
        }
        for pause in answered.into_iter().flatten() {
            if let Some(head) = self.store.head(&Self::key(pause.run)?).map_err(text)? {
                pause.check(&head)?;
            }
        }
        Ok(())
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
                self.pause(run, PauseWish::Resume)?;
            }
            for at in 0..self.sends.len() {
                if self.sends[at].has_key() && self.sends[at].is_unanswered() {
                    self.send_again(at)?;
                }
            }
            for at in 0..self.fulfils.len() {
                if self.fulfils[at].is_unanswered() {
                    self.give(at)?;
                }
            }
            self.rest()?;
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
                        for offer in self.open_offers(run)? {
                            self.fulfil(run, offer)?;
                        }
                    }
                }
            }
        }
        Err("the story does not come to an end".into())
    }

    fn rest(&mut self) -> Result<(), String> {
        loop {
            let read = self.process.as_mut().is_some_and(Process::read);
            if !self.write(Fate::Done)? && !read {
                return Ok(());
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

#[test]
fn the_runs_of_a_story_are_on_different_shards() {
    let shard = |run| {
        let key = World::key(run).unwrap_or_else(|error| panic!("{error}"));
        crate::engine::shard_of(&key, &crate::engine::ToShard::fixed(), SHARDS)
    };
    assert_ne!(shard(0), shard(1));
}
