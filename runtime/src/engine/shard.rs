//! One shard: the loop, and who handles which message.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use perennial::RunKey;
use tokio::sync::{mpsc, oneshot};

use super::message::{Ended, Message, StartRequest, WaitError};
use super::migrate::{MigrateRequest, UnderWay};
use super::outbox::Outbox;
use super::pause::PauseRequest;
use super::reply::ReplyRequest;
use super::run::{BlockedNow, Run, Runs, Stage};
use super::send;
use super::unblock::Asked;
use super::warm::Warm;
use super::{ByRun, Shared, open, update};
use crate::activity::panic_text;
use crate::client::PauseError;
use crate::error::{Unavailable, UnblockError};
use crate::store::StoreError;

type Waiter = oneshot::Sender<Result<Ended, WaitError>>;

/// The runs of one thread.
pub(super) struct Shard {
    pub(super) shared: Arc<Shared>,
    index: usize,
    pub(super) runs: Runs,
    /// Clients that wait for a run's end.
    pub(super) waiters: HashMap<RunKey, Vec<Waiter>, ByRun>,
    /// Starts of runs that are just being opened or made.
    pub(super) starts: HashMap<RunKey, Vec<StartRequest>, ByRun>,
    /// Clients that asked for a try of a run that is blocked.
    pub(super) asked: HashMap<RunKey, Vec<Asked>, ByRun>,
    /// What is to become of runs that are moved to new ones, once nothing else is under way with them.
    pub(super) migrations: HashMap<RunKey, Vec<MigrateRequest>, ByRun>,
    /// Runs whose ends as such are being written.
    pub(super) moving: HashMap<RunKey, UnderWay, ByRun>,
    /// What clients want of runs that are to be paused, or to go on.
    pub(super) pauses: HashMap<RunKey, VecDeque<PauseRequest>, ByRun>,
    /// Clients that wait for answers of runs to what they gave them.
    pub(super) replies: HashMap<RunKey, Vec<ReplyRequest>, ByRun>,
    /// What clients tell runs, of which the store has not said that it has it.
    pub(super) sends: HashMap<RunKey, Vec<send::UnderWay>, ByRun>,
    /// The number of the last of them.
    pub(super) tickets: u64,
    /// Changes that clients ask of runs, until the runs are idle.
    pub(super) updates: HashMap<RunKey, update::Waiting, ByRun>,
    pub(super) outbox: Outbox,
    draining: Vec<mpsc::Sender<Infallible>>,
    /// Why nothing can be done any more.
    pub(super) failed: Option<Unavailable>,
    pub(super) warm: Warm,
}

impl Shard {
    pub(super) fn new(shared: Arc<Shared>, index: usize) -> Self {
        Self {
            warm: Warm::new(Arc::clone(&shared.warm)),
            shared,
            index,
            runs: Runs::default(),
            waiters: HashMap::default(),
            starts: HashMap::default(),
            asked: HashMap::default(),
            migrations: HashMap::default(),
            moving: HashMap::default(),
            pauses: HashMap::default(),
            sends: HashMap::default(),
            replies: HashMap::default(),
            tickets: 0,
            updates: HashMap::default(),
            outbox: Outbox::default(),
            draining: Vec::new(),
            failed: None,
        }
    }

    pub(super) fn run(mut self, messages: &Receiver<Message>) {
        loop {
            // Before it waits for a message it hands over what has gathered.
            let message = match messages.try_recv() {
                Ok(message) => Some(message),
                Err(_) if !self.outbox.is_empty() => None,
                Err(_) => {
                    self.turn(None);
                    match messages.recv() {
                        Ok(message) => Some(message),
                        Err(_) => break,
                    }
                }
            };
            if matches!(message, Some(Message::Stop)) {
                break;
            }
            self.turn(message);
        }
        // What was decided is known to the store, so that nothing is done twice for it.
        if self.failed.is_none() {
            self.turn(None);
        }
        tracing::debug!(shard = self.index, runs = self.runs.len(), "a shard stops");
    }

    /// Handles a message, and hands commits over where it is time for that. `None`: there is no message.
    pub(super) fn turn(&mut self, message: Option<Message>) {
        // A clock, a store or a subscriber to logs may be the user's, and may panic. What the shard was in the
        // middle of is then as unknown as a commit that failed.
        let turn = AssertUnwindSafe(|| {
            // A slice of a replay may take long, and another follows.
            let now = matches!(message, None | Some(Message::Replay { .. }));
            if (now && !self.outbox.is_empty()) || self.outbox.is_due() {
                let commits = self.outbox.take();
                self.shared.store.commit_all(commits);
            } else if message.is_none() {
                self.shared.store.at_rest();
            }
            if let Some(message) = message {
                let run = message.run().cloned();
                self.handle(message);
                if let Some(run) = run {
                    self.go_on_pausing(&run);
                    self.try_again(&run);
                    self.go_on_migrating(&run);
                    self.go_on_updating(&run);
                    self.keep_warm(&run);
                }
            }
        });
        if let Err(payload) = catch_unwind(turn) {
            let reason = format!(
                "one of its threads panicked: {}",
                panic_text(payload.as_ref())
            );
            self.fail(Unavailable::Broken { reason });
        }
        self.release_drained();
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Start(request) => self.start(request),
            Message::Await { run, reply } => self.wait_for(run, reply),
            Message::Unblock { run, reply } => self.unblock(&run, reply),
            Message::Pause(request) => self.pause(request),
            Message::Migrate(request) => self.migrate(request),
            Message::Migrated { run, result } => self.migrated(&run, result),
            Message::Send(request) => self.send(send::Sent::Told(request)),
            Message::Fulfil(request) => self.send(send::Sent::Value(request)),
            Message::Update(request) => self.update(request),
            Message::AwaitReply(request) => self.await_reply(request),
            Message::Delivered {
                run,
                ticket,
                result,
            } => self.delivered(&run, ticket, result),
            Message::Arrived(arrival) => self.told_by_another(arrival),
            Message::Wake { run } => self.wake_if_needed(&run),
            // The timer fires in the next process.
            Message::Due { .. } if self.shared.is_draining() => {}
            Message::Due { run, deadline } => {
                self.wake(&run);
                if let Some(run) = self.runs.get_mut(&run) {
                    run.due = run.due.max(deadline);
                }
                self.advance(&run);
            }
            Message::Retry { run, operation } => {
                self.prepare(&run, operation);
                self.advance(&run);
            }
            Message::Slot { waiting, slot } => {
                self.grant(&waiting.run, waiting.operation, slot);
                self.advance(&waiting.run);
            }
            Message::Attempt {
                run,
                operation,
                attempt,
                report,
            } => {
                self.settle(&run, operation, attempt, report);
                self.advance(&run);
            }
            Message::Committed { run, result } => self.committed(&run, result),
            Message::Created { run, result } => self.created(&run, result),
            Message::Claimed { run, result } => self.claimed(&run, result),
            Message::Replay { run } => self.replay(&run),
            Message::Drain { rest } => {
                self.draining.push(rest);
                self.fail_updates(&Unavailable::Draining);
            }
            Message::Failed(error) => self.fail(error),
            Message::Stop => {}
        }
    }

    fn wait_for(&mut self, run: RunKey, reply: Waiter) {
        match self.answer_now(&run) {
            Some(answer) => drop(reply.send(answer)),
            None => self.add_waiter(run, reply),
        }
    }

    /// The answer to those who wait for a run's end, where there is one; `None`: they are told when it comes.
    pub(super) fn answer_now(&self, run: &RunKey) -> Option<Result<Ended, WaitError>> {
        if let Some(error) = &self.failed {
            return Some(Err(WaitError::Unavailable(error.clone())));
        }
        match self.runs.get(run).map(Box::as_ref) {
            Some(open) if open.is_about_to_answer() => None,
            Some(Run {
                blocked: Some(blocked),
                ..
            }) => Some(Err(blocked.answer())),
            Some(open) if !open.ended => None,
            // Its end is in the store.
            Some(_) | None => self.end_of(run),
        }
    }

    /// What the store says of a run's end; `None`: it has not come.
    fn end_of(&self, run: &RunKey) -> Option<Result<Ended, WaitError>> {
        let store = &*self.shared.store;
        let unavailable = |error: StoreError| Err(WaitError::Unavailable(error.into()));
        let head = match store.head(run) {
            Err(error) => return Some(unavailable(error)),
            Ok(None) => return Some(Err(WaitError::NotFound)),
            Ok(Some(head)) => head,
        };
        if head.status.is_finished() {
            return Some(open::answer_of(store, run, &head));
        }
        if !head.blocked {
            return None;
        }
        match store.load(run) {
            Err(error) => Some(unavailable(error)),
            Ok(loaded) => BlockedNow::unfit(&loaded?.blocked, &self.shared.artifact)
                .map(|one| Err(one.answer())),
        }
    }

    fn add_waiter(&mut self, run: RunKey, reply: Waiter) {
        let waiters = self.waiters.entry(run).or_default();
        if waiters.len() == waiters.capacity() {
            // Some may wait no more, because of a time limit of theirs, say.
            waiters.retain(|waiter| !waiter.is_closed());
        }
        waiters.push(reply);
    }

    /// Tells all who wait for the run's end.
    pub(super) fn answer(&mut self, run: &RunKey, answer: &Result<Ended, WaitError>) {
        self.answer_replies(run, answer);
        for waiter in self.waiters.remove(run).into_iter().flatten() {
            let _ = waiter.send(answer.clone());
        }
    }

    /// What is in memory may not be what is durable any more, so all of it is forgotten (S4).
    pub(super) fn fail(&mut self, error: Unavailable) {
        tracing::error!(
            shard = self.index,
            "nothing goes on until the program is started again: {error}"
        );
        self.outbox.take();
        for (_, mut run) in std::mem::take(&mut self.runs) {
            run.answer_start(&Err(error.clone()));
        }
        for waiter in std::mem::take(&mut self.waiters).into_values().flatten() {
            let _ = waiter.send(Err(WaitError::Unavailable(error.clone())));
        }
        self.fail_replies(&WaitError::Unavailable(error.clone()));
        let asked: Vec<RunKey> = self.asked.keys().cloned().collect();
        for run in asked {
            self.answer_asked(&run, &UnblockError::Unavailable(error.clone()));
        }
        let paused: Vec<RunKey> = self.pauses.keys().cloned().collect();
        for run in paused {
            self.fail_pauses(&run, &PauseError::Unavailable(error.clone()));
        }
        for request in std::mem::take(&mut self.starts).into_values().flatten() {
            let _ = request.reply.send(Err(error.clone()));
        }
        let plans = std::mem::take(&mut self.migrations);
        let replies = plans.into_values().flatten().map(|request| request.reply);
        let under_way = std::mem::take(&mut self.moving).into_values();
        for reply in replies.chain(under_way.map(|under_way| under_way.reply)) {
            let _ = reply.send(Err(error.clone()));
        }
        self.fail_sends(&error);
        self.fail_updates(&error);
        self.shared.observers.close(error.clone());
        self.failed.get_or_insert(error);
    }

    /// Lets go of those who wait until nothing is under way.
    fn release_drained(&mut self) {
        if self.draining.is_empty() {
            return;
        }
        let busy =
            |run: &Run| run.attempts() > 0 || run.in_flight.is_some() || run.stage != Stage::Ready;
        if self.failed.is_some()
            || (self.sends.is_empty() && !self.runs.values().any(|run| busy(run)))
        {
            self.draining.clear();
        }
    }
}
