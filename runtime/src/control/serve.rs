//! Answering requests: the same over the client of a running program, a store that is stopped, and an export.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::SystemTime;

use perennial::{MAX_CHANNEL_NAME, Publication, RunKey, Timestamp, is_channel_name};

use super::declared::{self, declared};
use super::follow::{self, Ended, Follow, GivenUp, Listener};
use super::offers::{self, Fulfil};
use super::pause;
use super::publications;
use super::refused::Refused;
use super::request::{
    Answer, Ask, Attempts, HistoryPart, ListMessages, ListRuns, Publishes, Receives, Request,
    RunDetails, StubType, Tell, UpdateType,
};
use super::room::{size, within_room};
#[cfg(unix)]
use super::types;
use super::unpublished::check_published;
use crate::client::{
    self, Answered, Forked, MessageFilter, MessagePage, Paused, Receipt, Resumed, RunInfo, RunPage,
    SendError,
};
#[cfg(unix)]
use crate::engine::Shared;
use crate::engine::{self, PauseReply, PauseWish};
use crate::error::{ReadError, Unavailable};
use crate::fork::Wish;
use crate::manifest::{OfferManifest, PublishManifest, ReceiveManifest, UpdateManifest};
use crate::store::{
    Ack, AttemptRecord, Deliver, KeyKind, ListQuery, Queued, Refusal, SendKey, Store, StoreError,
    send_digest,
};

/// So many units of a history are looked at for one answer.
const UNITS: usize = 1_000;

/// Who can do what is asked. To read is the same for all of them; to change something is not.
pub(super) trait Serve: fmt::Debug + Send + Sync {
    /// Where the runs are.
    fn store(&self) -> &dyn Store;

    /// What the time is there.
    fn now(&self) -> Timestamp;

    /// Tells a run something.
    fn send(&self, tell: Tell) -> Result<Receipt, Refused>;

    /// Asks a run for a change, which only a program can.
    fn update(&self, _: Ask) -> Result<Answered, Refused> {
        Err(no_program())
    }

    /// Gives a call of a stub its value.
    fn fulfil(&self, fulfil: Fulfil) -> Result<Receipt, Refused>;

    /// Hands on what a run gives out or shows, until nothing more comes or nobody listens.
    fn follow(&self, follow: Follow, listener: Listener<'_>) -> Result<Ended, GivenUp> {
        follow::stored(self.store(), follow, listener)
    }

    /// Has a run paused, or go on.
    fn pause(&self, _run: &RunKey, _wish: PauseWish) -> Result<PauseReply, Refused> {
        Err(read_only("changed"))
    }

    /// Makes a new run that goes on from where another one was.
    fn fork(&self, _wish: Wish) -> Result<Forked, Refused> {
        Err(Refused::new(
            Refused::NO_PROGRAM,
            "the run was not forked, since the code of its workflow has to replay what the fork is to begin with, and \
             no program is at work here\n\n\
             help: start the program, with `.control_socket()`, and ask it",
        ))
    }

    /// Hands on what a run gives out or shows, if it is not known that it never will under that name.
    fn follow_known(&self, follow: Follow, listener: Listener<'_>) -> Result<Ended, GivenUp> {
        match &follow {
            Follow::Stream { run, stream, .. } => {
                check_published(self.store(), run, Publication::Stream, stream)?;
            }
            Follow::View { run, name } => {
                check_published(self.store(), run, Publication::View, name)?;
            }
        }
        self.follow(follow, listener)
    }

    /// Does what is asked.
    fn serve(&self, request: Request) -> Result<Answer, Refused> {
        let store = self.store();
        Ok(match request {
            Request::Send(tell) => {
                check_name(&tell.name, "sent", "a message or signal")?;
                Answer::Sent(self.send(tell)?)
            }
            Request::Pause { run } => {
                let reply = self.pause(&run, PauseWish::Pause)?;
                Answer::Paused(Paused::new(run, reply))
            }
            Request::Resume { run } => {
                let reply = self.pause(&run, PauseWish::Resume)?;
                Answer::Resumed(Resumed::new(run, reply))
            }
            Request::Fork { run, event, to } => {
                Answer::Forked(self.fork(Wish { run, event, to })?)
            }
            Request::Update(ask) => {
                check_name(&ask.name, "done", "an update")?;
                Answer::Updated(self.update(ask)?)
            }
            Request::List(list) => Answer::Runs(cut_runs(client::list_page(store, query(list)?)?)),
            Request::Show { run } => Answer::Run(details(store, run, self.now())?.into()),
            Request::History { run, from } => Answer::History(part(store, run, from)?),
            Request::Messages(list) => {
                let (run, filter) = filter(list);
                let page = client::message_page(store, &run, &filter)?;
                Answer::Messages(cut_messages(page, filter.before.is_some()))
            }
            Request::Fulfil(fulfil) => {
                offers::check_stub(&fulfil.stub)?;
                Answer::Fulfilled(self.fulfil(fulfil)?)
            }
            Request::Waiting(list) => Answer::Offers(offers::waiting(store, &list)?),
            Request::Stream(read) => {
                let page = publications::items(store, &read)?;
                if page.items.is_empty() {
                    check_published(store, &read.run, Publication::Stream, &read.stream)?;
                }
                Answer::Items(page)
            }
            Request::View { run, name } => {
                let name = name.as_deref();
                let (views, _) = publications::views(store, &run, name)?;
                if let (Some(name), true) = (name, views.views.is_empty()) {
                    check_published(store, &run, Publication::View, name)?;
                }
                Answer::Views(views)
            }
        })
    }
}

/// A program that has the store open.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Program {
    shared: Arc<Shared>,
    followers: follow::program::Followers,
}

#[cfg(unix)]
impl Program {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let followers = follow::program::Followers::default();
        Self { shared, followers }
    }
}

#[cfg(unix)]
impl Serve for Program {
    fn store(&self) -> &dyn Store {
        &*self.shared.store
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    fn send(&self, tell: Tell) -> Result<Receipt, Refused> {
        let Self { shared, .. } = self;
        types::check(shared, &tell)?;
        let key = key(&tell, self.now());
        let Tell {
            run,
            channel,
            name,
            payload,
            ..
        } = tell;
        let sent = client::send(shared, run, channel, &name, Ok(payload), key);
        Ok(shared.tokio.block_on(sent)?.into())
    }

    fn update(&self, ask: Ask) -> Result<Answered, Refused> {
        let Self { shared, .. } = self;
        let now = self.now();
        let Ask {
            run,
            name,
            input,
            key,
            first,
        } = ask;
        let key = key.map(|key| (key, first.unwrap_or(now)));
        let answered = client::update(shared, run, &name, Ok(input), key);
        Ok(shared.tokio.block_on(answered)?)
    }

    fn fulfil(&self, fulfil: Fulfil) -> Result<Receipt, Refused> {
        let Self { shared, .. } = self;
        let reference = Ok(fulfil.reference());
        let Fulfil {
            run, stub, value, ..
        } = fulfil;
        let there = Arc::clone(shared);
        let fulfil = client::Fulfil::json(there, run.namespace, reference, &stub, value);
        Ok(shared.tokio.block_on(fulfil.into_future())?)
    }

    fn follow(&self, follow: Follow, listener: Listener<'_>) -> Result<Ended, GivenUp> {
        let _follower = self.followers.one_more()?;
        follow::program::follow(&self.shared, follow, listener)
    }

    fn pause(&self, run: &RunKey, wish: PauseWish) -> Result<PauseReply, Refused> {
        let Self { shared, .. } = self;
        Ok(shared
            .tokio
            .block_on(client::ask_pause(shared, run, wish))?)
    }

    fn fork(&self, wish: Wish) -> Result<Forked, Refused> {
        let Self { shared, .. } = self;
        Ok(shared.tokio.block_on(client::fork(shared, wish))?)
    }
}

/// A store that no program has open.
#[derive(Debug)]
pub(super) struct Stopped(pub(super) Arc<dyn Store>);

impl Serve for Stopped {
    fn store(&self) -> &dyn Store {
        &*self.0
    }

    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }

    /// Puts it into the run's queue: the next program that is started on the store tells it to the run.
    fn send(&self, tell: Tell) -> Result<Receipt, Refused> {
        let checked = declared::check_told(self.store(), &tell);
        let now = self.now();
        let key = match key(&tell, now) {
            Some((key, at)) => {
                SendError::check_key(&key)?;
                let digest = send_digest(tell.channel, &tell.name, &tell.payload);
                Some(SendKey { key, at, digest })
            }
            None => None,
        };
        let told = key.as_ref().map(|key| key.key.clone());
        if let Err(refused) = checked {
            // It may have been sent before, when the workflow waited for it (M18).
            let known = |key: &String| self.0.key(&tell.run, KeyKind::Send, key);
            if told.as_ref().map(known).transpose()?.flatten().is_none() {
                return Err(refused);
            }
        }
        let deliver = Deliver {
            run: tell.run.clone(),
            observation: engine::observation(tell.channel, tell.name, tell.payload, told),
            at: now,
            tasks: Vec::new(),
            stub: None,
            key,
        };
        match wait(|ack| self.0.deliver(deliver, ack)) {
            Ok(delivered) => Ok(delivered.into()),
            Err(StoreError::Refused(refusal)) => {
                // Nobody else has the store, so that it has not begun anew since.
                let too_late = matches!(refusal, Refusal::Finished { .. })
                    .then(|| engine::too_late(self.store(), &tell.run));
                Err(too_late
                    .flatten()
                    .unwrap_or_else(|| SendError::of(refusal))
                    .into())
            }
            Err(error) => Err(SendError::unavailable(&tell.run, error.into()).into()),
        }
    }

    fn fulfil(&self, fulfil: Fulfil) -> Result<Receipt, Refused> {
        let now = self.now();
        declared::check_given(self.store(), &fulfil, now)?;
        offers::fulfil(self.store(), fulfil, now)
    }

    fn pause(&self, run: &RunKey, wish: PauseWish) -> Result<PauseReply, Refused> {
        Ok(pause::change(self.store(), run, wish, self.now())?)
    }
}

/// An update is for a program.
fn no_program() -> Refused {
    Refused::new(
        Refused::NO_PROGRAM,
        "nothing was done, since no program has the store open: whether an update may be done, and what it does, the \
         code of the run's workflow says\n\n\
         help: start the program, with `.control_socket()` in the builder of its runtime, and ask again",
    )
}

/// What an export holds: nothing can be changed in it.
#[derive(Debug)]
pub(super) struct Exported {
    pub(super) store: Arc<dyn Store>,
    /// When it was written.
    pub(super) at: Timestamp,
}

impl Serve for Exported {
    fn store(&self) -> &dyn Store {
        &*self.store
    }

    fn now(&self) -> Timestamp {
        self.at
    }

    fn send(&self, _: Tell) -> Result<Receipt, Refused> {
        Err(read_only("sent"))
    }

    fn update(&self, _: Ask) -> Result<Answered, Refused> {
        Err(read_only("changed"))
    }

    fn fulfil(&self, _: Fulfil) -> Result<Receipt, Refused> {
        Err(read_only("sent"))
    }
}

/// Nothing can be done in an export.
pub(super) fn read_only(what: &str) -> Refused {
    let text = format!(
        "nothing was {what}, since an export only tells how things were\n\n\
         help: name the folder of the store that the runs are in"
    );
    Refused::new(Refused::READ_ONLY, text)
}

/// Waits for the fate of a write.
pub(super) fn wait<T: Send + 'static>(write: impl FnOnce(Ack<T>)) -> Result<T, StoreError> {
    let (answer, answered) = channel();
    write(Box::new(move |result| drop(answer.send(result))));
    answered.recv().unwrap_or_else(|_| {
        Err(StoreError::Unknown {
            reason: "it did not answer".into(),
        })
    })
}

/// The key of a send, and when it was first used.
fn key(tell: &Tell, now: Timestamp) -> Option<(String, Timestamp)> {
    let key = tell.key.clone()?;
    Some((key, tell.first.unwrap_or(now)))
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Unavailable::from(error).into()
    }
}

/// Which runs that are; the cursor is the id of the last run of its page.
pub(super) fn query(list: ListRuns) -> Result<ListQuery, ReadError> {
    Ok(ListQuery {
        after: client::cursor(list.after)?,
        namespace: list.namespace,
        workflow: list.workflow,
        status: list.status,
        blocked: list.blocked,
        paused: list.paused,
        prefix: list.prefix,
        limit: client::page_limit(list.limit),
    })
}

/// Of a page of runs what an answer has room for.
pub(super) fn cut_runs(page: RunPage) -> RunPage {
    let RunPage { runs, mut next } = page;
    let all = runs.len();
    let runs = within_room(runs, size);
    if let Some(last) = runs.last().filter(|_| runs.len() < all) {
        next = Some(last.run.id.to_string());
    }
    RunPage { runs, next }
}

/// Of a page of messages what an answer has room for: the first of them, or the last where it is read backwards.
fn cut_messages(page: MessagePage, backwards: bool) -> MessagePage {
    let MessagePage {
        mut messages,
        mut more,
    } = page;
    let all = messages.len();
    if backwards {
        messages.reverse();
    }
    let mut messages = within_room(messages, size);
    if backwards {
        messages.reverse();
    }
    more |= messages.len() < all;
    MessagePage { messages, more }
}

fn filter(list: ListMessages) -> (RunKey, MessageFilter) {
    let ListMessages {
        run,
        after,
        before,
        limit,
        named,
    } = list;
    let filter = MessageFilter {
        after,
        before,
        limit: client::page_limit(limit),
        named,
    };
    (run, filter)
}

/// How a run stands.
fn details(store: &dyn Store, run: RunKey, at: Timestamp) -> Result<RunDetails, ReadError> {
    let Some(loaded) = store.load(&run)? else {
        return Err(ReadError::NotFound { run });
    };
    let rows = loaded.queue.len();
    let queue = within_room(loaded.queue, |row: &Queued| size(row));
    let attempts = attempts(store.attempts(&run, loaded.head.generation)?);
    let declared = declared(store, &loaded.head.workflow)?;
    // Of a workflow that nobody tells of nothing is known.
    let receives_others = declared.as_ref().is_none_or(|known| known.receives_others);
    let (receives, stubs, publishes, updates) = match declared {
        Some(known) => (known.receives, known.offers, known.publishes, known.updates),
        None => Default::default(),
    };
    let receives = receives.into_iter().map(Receives::from).collect();
    let stubs = stubs.into_iter().map(StubType::from).collect();
    let publishes = publishes.into_iter().map(Publishes::from).collect();
    let updates = updates.into_iter().map(UpdateType::from).collect();
    Ok(RunDetails {
        offers: offers::of_run(store, &run, &loaded.head)?,
        stubs: within_room(stubs, size),
        views: within_room(loaded.views, size),
        streams: loaded.head.streams.clone(),
        publishes: within_room(publishes, size),
        updates: within_room(updates, size),
        tasks: within_room(loaded.tasks, size),
        more_queue: (rows - queue.len()) as u64,
        queue,
        attempts: within_room(attempts, size),
        receives: within_room(receives, size),
        receives_others,
        info: RunInfo::new(run, loaded.head, loaded.blocked),
        at,
    })
}

/// By operation, in the order of their numbers.
fn attempts(records: Vec<AttemptRecord>) -> Vec<Attempts> {
    let mut found = std::collections::BTreeMap::new();
    for last in records {
        let count = match found.get(&last.operation) {
            Some(Attempts { count, .. }) => count + 1,
            None => 1,
        };
        found.insert(last.operation, Attempts { count, last });
    }
    found.into_values().collect()
}

impl From<ReceiveManifest> for Receives {
    fn from(one: ReceiveManifest) -> Self {
        Self {
            channel: one.channel,
            name: one.name,
            data: one.data,
        }
    }
}

impl From<PublishManifest> for Publishes {
    fn from(one: PublishManifest) -> Self {
        Self {
            kind: one.kind,
            name: one.name,
        }
    }
}

impl From<OfferManifest> for StubType {
    fn from(one: OfferManifest) -> Self {
        Self {
            name: one.name,
            result: one.result,
        }
    }
}

impl From<UpdateManifest> for UpdateType {
    fn from(one: UpdateManifest) -> Self {
        Self {
            name: one.name,
            input: one.input,
        }
    }
}

/// Refuses a name that nothing of that kind can have. `done`: what was not done.
fn check_name(name: &str, done: &str, kind: &str) -> Result<(), Refused> {
    if is_channel_name(name) {
        return Ok(());
    }
    let short: String = name.chars().take(60).collect();
    let text = format!(
        "nothing was {done}, since \"{}\" is no name of {kind}\n\n\
         help: a name has 1 to {MAX_CHANNEL_NAME} characters of `A-Z a-z 0-9 . _ : -`",
        short.escape_debug()
    );
    Err(Refused::new(Refused::INVALID_NAME, text))
}

/// A part of a history.
fn part(store: &dyn Store, run: RunKey, from: u64) -> Result<HistoryPart, ReadError> {
    let head = client::kept_head(store, &run)?;
    let mut units = Vec::new();
    if from <= head.sequence {
        units = store.history(&run, head.generation, from, UNITS)?;
        // What has come since is in the next part.
        units.retain(|unit| unit.number <= head.sequence);
        if units.is_empty() {
            let (expected, found) = (from, None);
            let gap = StoreError::Gap {
                run,
                expected,
                found,
            };
            return Err(gap.into());
        }
    }
    Ok(HistoryPart {
        generation: head.generation,
        events: head.sequence,
        units: within_room(units, size),
    })
}
