//! Messages, values for a mailbox and updates, in between pauses, forks, restarts, lost writes and answers, other owners and
//! code that panics, in an order that looks random: whatever was acknowledged is in the run's log once and in its order, and
//! a fork has what the other run had up to its event, and then what it is told itself.
//!
//! The long form of it is `.ci/harness mixed`.
#![allow(clippy::unwrap_used)]

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use perennial::prelude::*;
use perennial_runtime::store::Owner;
use perennial_runtime::{
    Client, ForkError, FulfilError, PauseError, RunHandle, Runtime, SendError, UnblockError,
    UpdateError,
};

use support::held::HeldStore;
use support::seeded::Seeded;
use support::waiting::{soon, until};
use support::{Place, rounds, seed};

const SAY: Message<String> = Message::new("say");
const NOTE: Update<String, usize, String> = Update::new("note");
const LOG: Stream<String> = Stream::new("log");
const SIZE: View<usize> = View::new("size");

#[stub]
async fn mail(cx: &Cx) -> String;

#[activity(idempotent)]
async fn work(_acx: &ActivityCx, what: String) -> Result<String, Failure> {
    Ok(format!("{what}!"))
}

/// While this is set the workflow panics where it hears something.
static BROKEN: AtomicBool = AtomicBool::new(false);

/// Keeps a log of all that it hears, and works now and then.
#[workflow]
async fn ledger(cx: &Cx) -> Result<Vec<String>, Error> {
    let log = Rc::new(RefCell::new(Vec::<String>::new()));
    let notes = Rc::clone(&log);
    cx.handle(
        NOTE,
        |note: &String| match note.is_empty() {
            true => Err("it is empty".to_owned()),
            false => Ok(()),
        },
        move |note| {
            let mut notes = notes.borrow_mut();
            notes.push(format!("n:{note}"));
            notes.len()
        },
    );
    let mailbox = Mailbox::open(cx, mail);
    let mut given = 0;
    loop {
        select! {
            said = cx.receive(SAY) => {
                let said = said?;
                if said == "end" {
                    while let Some(heard) = mailbox.try_next() {
                        log.borrow_mut().push(format!("m:{}", heard?));
                    }
                    break;
                }
                #[allow_nondeterminism(statics, reason = "what is configured outside the program")]
                {
                    assert!(!BROKEN.load(Ordering::SeqCst), "the setting is wrong");
                }
                log.borrow_mut().push(format!("s:{said}"));
            },
            heard = mailbox.next() => log.borrow_mut().push(format!("m:{}", heard?)),
            () = cx.until(|| log.borrow().len() > given) => {}
        }
        while given < log.borrow().len() {
            let what = log.borrow()[given].clone();
            cx.emit(LOG, what);
            given += 1;
        }
        cx.set(SIZE, given);
        if given % 3 == 2 {
            let done = work(cx, given.to_string()).await?;
            log.borrow_mut().push(format!("w:{done}"));
        }
    }
    let log = log.borrow().clone();
    Ok(log)
}

/// What a run was told, as it has acknowledged it.
#[derive(Clone, Debug, Default)]
struct Told {
    id: String,
    says: Vec<String>,
    mails: Vec<String>,
    /// With the length of the log then.
    notes: Vec<(String, usize)>,
    /// What was said at once, in whatever order it came.
    crowd: Vec<String>,
    /// The same of notes, with the length of the log then.
    noted: Vec<(String, usize)>,
    /// Of which other run it is a fork, if it is one.
    of: Option<usize>,
}

struct Story {
    seed: u64,
    choose: Seeded,
    place: Place,
    runtime: Option<Runtime>,
    runs: Vec<Told>,
    count: u64,
}

impl Story {
    async fn new(seed: u64, index: u64, place: Place) -> Self {
        let mut story = Self {
            seed: index,
            choose: Seeded::nth(seed, index),
            place,
            runtime: None,
            runs: Vec::new(),
            count: 0,
        };
        story.restart().await;
        let id = "main".to_owned();
        story.client().start(ledger, &*id, ()).await.unwrap();
        story.runs.push(Told {
            id,
            ..Told::default()
        });
        story
    }

    async fn restart(&mut self) {
        drop(self.runtime.take());
        let warm_memory = *self.choose.one(&[0, 1 << 20]);
        let builder = Runtime::builder(self.place.open())
            .workflow(ledger)
            .activities((work,))
            .artifact("test")
            .shards(2)
            .warm_memory(warm_memory);
        self.runtime = Some(builder.start().await.unwrap());
    }

    fn client(&self) -> Client {
        self.runtime.as_ref().unwrap().client()
    }

    fn run(&self, at: usize) -> RunHandle<ledger> {
        self.client().run(ledger, &*self.runs[at].id).unwrap()
    }

    fn held(&self) -> Option<&Arc<HeldStore>> {
        match &self.place {
            Place::Memory(store) => Some(store),
            Place::Folder(_) => None,
        }
    }

    fn next(&mut self) -> String {
        self.count += 1;
        self.count.to_string()
    }

    async fn step(&mut self) {
        let at = usize::try_from(self.choose.within(0..self.runs.len() as u64)).unwrap();
        match self.choose.within(0..100) {
            0..20 => self.say(at).await,
            20..25 => self.crowd(at).await,
            25..45 => self.mail(at).await,
            45..65 => self.note(at).await,
            65..73 => self.pause(at, true).await,
            73..82 => self.pause(at, false).await,
            82..88 => self.fork(at).await,
            88..92 => self.restart().await,
            92..94 => BROKEN.store(true, Ordering::SeqCst),
            94..96 => self.mend().await,
            _ => {
                let key = self.runs[at].id.parse().unwrap();
                let loses = self.choose.percent(40);
                if let Some(store) = self.held() {
                    match loses {
                        true => store.lose_next_answer(),
                        false => store.claim_now(key, Owner(99)),
                    }
                }
            }
        }
    }

    async fn say(&mut self, at: usize) {
        let what = self.next();
        self.send(at, &what).await;
        self.runs[at].says.push(what);
    }

    async fn send(&mut self, at: usize, what: &str) {
        loop {
            let send = self.run(at).send(SAY, &what.to_owned());
            match soon(send.idempotency_key(what).into_future()).await {
                Ok(_) => return,
                Err(SendError::Unacknowledged { .. } | SendError::Unavailable(_)) => {
                    self.restart().await;
                }
                Err(error) => panic!("seed {}: {error}", self.seed),
            }
        }
    }

    /// Says and notes several things at once, while the run is paused, or the program ends, or what it writes is lost.
    async fn crowd(&mut self, at: usize) {
        let what: Vec<String> = (0..6).map(|_| format!("c{}", self.next())).collect();
        let meanwhile = self.choose.within(0..4);
        if let (3, Some(store)) = (meanwhile, self.held()) {
            store.hold();
            store.hold_deliveries();
        }
        let (mut says, mut notes) = (Vec::new(), Vec::new());
        for what in &what {
            let send = self.run(at).send(SAY, what).idempotency_key(what.clone());
            says.push(tokio::spawn(send.into_future()));
            let note = self.run(at).update(NOTE, what);
            let note = note.idempotency_key(format!("k{what}"));
            notes.push(tokio::spawn(note.into_future()));
            tokio::task::yield_now().await;
        }
        match meanwhile {
            0 => self.pause(at, true).await,
            1 => self.restart().await,
            3 => {
                if let Some(store) = self.held() {
                    // Nothing is held of an engine that has failed: it says so to all.
                    let answered = || says.iter().all(|said| said.is_finished());
                    until(async || store.holds.available_permits() > 0 || answered()).await;
                    store.holds.forget_permits(usize::MAX);
                    store.drop_held();
                }
                self.restart().await;
            }
            _ => {}
        }
        for (said, what) in says.into_iter().zip(&what) {
            match soon(said).await.unwrap() {
                Ok(_) => {}
                Err(SendError::Unacknowledged { .. } | SendError::Unavailable(_)) => {
                    self.send(at, what).await;
                }
                Err(error) => panic!("seed {}: {error}", self.seed),
            }
        }
        for (noted, what) in notes.into_iter().zip(&what) {
            let length = match soon(noted).await.unwrap() {
                Ok(length) => Some(length),
                Err(UpdateError::RunPaused { .. } | UpdateError::RunBlocked { .. }) => None,
                Err(UpdateError::Unacknowledged { .. } | UpdateError::Unavailable(_)) => {
                    self.ask(at, what).await
                }
                Err(error) => panic!("seed {}: {error}", self.seed),
            };
            if let Some(length) = length {
                self.runs[at].noted.push((what.clone(), length));
            }
        }
        self.runs[at].crowd.extend(what);
    }

    async fn mail(&mut self, at: usize) {
        let offers = self.client();
        let offers = offers.offers(&self.runs[at].id.parse().unwrap());
        let open = offers.open().page().await.unwrap().offers;
        let Some(offer) = open.first() else {
            return;
        };
        assert_eq!(open.len(), 1, "seed {}", self.seed);
        let what = self.next();
        loop {
            let fulfil = self.client().fulfil(&offer.reference, mail, &what);
            match soon(fulfil.into_future()).await {
                Ok(_) => return self.runs[at].mails.push(what),
                Err(FulfilError::Unacknowledged { .. } | FulfilError::Unavailable(_)) => {
                    self.restart().await;
                }
                Err(error) => panic!("seed {}: {error}", self.seed),
            }
        }
    }

    async fn note(&mut self, at: usize) {
        let what = match self.choose.percent(15) {
            true => String::new(),
            false => self.next(),
        };
        if let Some(length) = self.ask(at, &what).await {
            self.runs[at].notes.push((what, length));
        }
    }

    /// The length of the log with the note; `None`: the run does not take it.
    async fn ask(&mut self, at: usize, what: &str) -> Option<usize> {
        loop {
            let update = self.run(at).update(NOTE, &what.to_owned());
            let update = update.idempotency_key(format!("k{what}"));
            match soon(update.into_future()).await {
                Ok(length) => return Some(length),
                Err(UpdateError::Refused(_)) => {
                    assert_eq!(what, "");
                    return None;
                }
                Err(UpdateError::RunPaused { .. } | UpdateError::RunBlocked { .. }) => return None,
                Err(UpdateError::Unacknowledged { .. } | UpdateError::Unavailable(_)) => {
                    self.restart().await;
                }
                Err(error) => panic!("seed {}: {error}", self.seed),
            }
        }
    }

    async fn pause(&mut self, at: usize, pause: bool) {
        loop {
            let run = self.run(at);
            let changed = match pause {
                true => soon(run.pause()).await.map(drop),
                false => soon(run.resume()).await.map(drop),
            };
            match changed {
                Ok(()) => return,
                Err(PauseError::Unavailable(_)) => self.restart().await,
                Err(error) => panic!("seed {}: {error}", self.seed),
            }
        }
    }

    /// Whoever can go on goes on.
    async fn mend(&mut self) {
        BROKEN.store(false, Ordering::SeqCst);
        for at in 0..self.runs.len() {
            match soon(self.run(at).unblock()).await {
                Ok(_) | Err(UnblockError::NotBlocked { .. } | UnblockError::Paused { .. }) => {}
                Err(UnblockError::Unavailable(_)) => self.restart().await,
                Err(error) => panic!("seed {}: {error}", self.seed),
            }
        }
    }

    async fn fork(&mut self, at: usize) {
        if self.runs.len() > 4 {
            return;
        }
        let id = format!("fork-{}", self.runs.len());
        let events = self.run(at).status().await.unwrap().events;
        let event = self.choose.within(1..events + 1);
        loop {
            match soon(self.run(at).fork(event, &*id)).await {
                Ok(_) => break,
                // The answer of the first try was lost.
                Err(ForkError::TargetExists {
                    forked_from: Some(_),
                    ..
                }) => break,
                Err(ForkError::Blocked { .. }) if BROKEN.load(Ordering::SeqCst) => return,
                Err(ForkError::Unavailable(_)) => self.restart().await,
                Err(error) => panic!("seed {}: {error}", self.seed),
            }
        }
        self.runs.push(Told {
            id,
            of: Some(at),
            ..Told::default()
        });
    }

    /// Lets all go on and come to an end, and holds what they have come to against what they were told.
    async fn judge(mut self) {
        if let Some(store) = self.held() {
            store.release();
        }
        BROKEN.store(false, Ordering::SeqCst);
        self.restart().await;
        let mut logs = Vec::new();
        for at in 0..self.runs.len() {
            self.pause(at, false).await;
            self.send(at, "end").await;
            let log = loop {
                match soon(self.run(at).result()).await {
                    Ok(log) => break log,
                    Err(perennial_runtime::RunError::Unavailable(_)) => self.restart().await,
                    Err(error) => panic!("seed {}: {error}", self.seed),
                }
            };
            let mut items = Vec::new();
            let mut stream = self.run(at).stream(LOG);
            while let Some(item) = soon(stream.next()).await {
                let item = item.unwrap();
                items.push(item.value);
                assert_eq!(item.number, items.len() as u64);
            }
            assert_eq!(items, log[..items.len()], "seed {}", self.seed);
            logs.push(log);
        }
        for (told, log) in self.runs.iter().zip(&logs) {
            let about = format!("seed {}: {told:?} {log:?}", self.seed);
            let of = |log: &[String], kind: &str| -> Vec<String> {
                let found = log.iter().filter_map(|entry| entry.strip_prefix(kind));
                let found = found.filter(|what| !what.starts_with('c'));
                found.map(str::to_owned).collect()
            };
            let is_crowd = |entry: &&String| entry.starts_with("s:c") || entry.starts_with("n:c");
            let mut crowd: Vec<_> = log.iter().filter(is_crowd).collect();
            for what in &told.crowd {
                assert!(crowd.contains(&&format!("s:{what}")), "{what}: {about}");
            }
            let all = crowd.len();
            crowd.sort();
            crowd.dedup();
            assert_eq!(crowd.len(), all, "{about}");
            let shared = told.of.map_or(0, |other| {
                let pairs = log.iter().zip(&logs[other]);
                pairs.take_while(|(one, other)| one == other).count()
            });
            for (note, length) in told.notes.iter().chain(&told.noted) {
                assert_eq!(log[length - 1], format!("n:{note}"), "{about}");
            }
            // What it has from the other run comes first.
            let inherited = |kind: &str, own: &[String]| {
                let all = of(log, kind);
                let from = all.len().checked_sub(own.len());
                let from = from.unwrap_or_else(|| panic!("{kind} is missing: {about}"));
                assert_eq!(all[from..], *own, "{about}");
                let others = told
                    .of
                    .map_or_else(Vec::new, |other| of(&logs[other], kind));
                assert!(
                    others.starts_with(&all[..from]),
                    "{kind}: {about} {others:?}"
                );
                from
            };
            let notes: Vec<_> = told.notes.iter().map(|(note, _)| note.clone()).collect();
            let notes = inherited("n:", &notes);
            let says = inherited("s:", &told.says);
            inherited("m:", &told.mails);
            assert!(notes <= of(&log[..shared], "n:").len(), "{about}");
            assert!(says <= of(&log[..shared], "s:").len(), "{about}");
        }
    }
}

async fn stories(name: &str, short: u64, place: impl Fn() -> Place) {
    for index in 0..rounds(name, short) {
        let mut story = Story::new(seed(), index, place()).await;
        let steps = story.choose.within(10..60);
        for _ in 0..steps {
            story.step().await;
        }
        story.judge().await;
    }
}

#[tokio::test]
async fn m45_m43_s27_nothing_is_lost_or_told_twice_around_pauses_forks_and_restarts() {
    // One after the other, since they share what is broken.
    stories("PERENNIAL_MIXED", 30, || Place::Memory(HeldStore::new())).await;
    let folder = || Place::Folder(tempfile::tempdir().unwrap());
    stories("PERENNIAL_MIXED", 10, folder).await;
}
