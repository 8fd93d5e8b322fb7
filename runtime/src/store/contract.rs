//! What a store is asked to do, in the words of the domain.
//!
//! Writes (`create`, `commit`, `deliver`, `claim`, `migrate`, `purge`, `restore`, `record_program`) are handed
//! over with an [`Ack`] and answered once they are durable, refused, or unknown (S3, S4); writes that arrive
//! together share one flush. They take effect in the order in which they were handed over, and each is guarded
//! against the state that the earlier ones leave behind. Reads see what has been acknowledged.

use std::fmt;
use std::path::Path;

use perennial::history::{Observation, Unit};
use perennial::value::Digest;
use perennial::{Namespace, RunId, RunKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::blocked::{BlockedChange, BlockedRecord};
use super::inbox::{Awaited, Delivered, Inbox, KeyKind, KeyRecord, SendKey};
use super::list::{ListQuery, Page};
use super::migrate::Migrate;
use super::offers::{Offer, OfferChange, Waiting};
use super::program::ProgramRecord;
use super::purge::{FinishedRun, Progress, Purge, Purged, Remains};
use super::restore::Restore;
use super::slots::{Committed, Slot};
use super::stream::{StreamItem, StreamRange};
use super::tasks::{AttemptRecord, DueTimer, Task, TaskChange, TimerChange};
use super::update_keys::UpdateKey;
use super::view::{ViewChange, ViewRecord};
use crate::profile::Profile;

/// Called once with the fate of a write, on a thread of the store or of whoever writes just then: it must not
/// block, nor wait for the store.
pub type Ack<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

/// A process that may own runs, as the store counts them: each opening of a store gets a new number.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Owner(pub u64);

/// Counts the owners of one run. A write with a fence that is not the run's current one is refused.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Fence(pub u64);

/// Keeps runs.
pub trait Store: Send + Sync + fmt::Debug + 'static {
    /// What this store claims to do (O62). It does not change while the store is open.
    fn profile(&self) -> Profile;

    /// A number for this process that no other has had.
    ///
    /// # Errors
    ///
    /// When it cannot be made durable.
    fn enroll(&self) -> Result<Owner, StoreError>;

    /// Makes a run, or its next generation, and answers with its head. If there is such a run already, and
    /// it is not the finished generation that [`Create::after`] names, nothing is written and the answer is
    /// the head of what there is.
    fn create(&self, create: Create, ack: Ack<Created>);

    /// Writes all of `commit` or nothing, what its [slots](Changes::slots) do to other runs too. Refused when its
    /// fence or its sequence is not the run's. Answered with what it has put into queues.
    fn commit(&self, commit: Commit, ack: Ack<Committed>);

    /// Hands several commits over at once, of different runs, by somebody who has nothing else to do until
    /// they are answered: a store may do the writing within this call. The same as one after another
    /// otherwise: each is guarded and answered by itself.
    fn commit_all(&self, commits: Vec<(Commit, Ack<Committed>)>) {
        for (commit, ack) in commits {
            self.commit(commit, ack);
        }
    }

    /// Says that whoever hands over batches has nothing to do until something happens: a store may do now what
    /// nobody waits for.
    fn at_rest(&self) {}

    /// Puts an observation into a run's queue and answers with its arrival number. Anybody may; it never
    /// touches the history. What was delivered before under the same [key](Deliver::key) is not delivered again,
    /// whatever has become of the run since (M18). Refused when the run is unknown or finished, when it has too
    /// many messages that it has not taken, or signals in its queue, and when the key was used for something else
    /// or is older than what the run knows (S26).
    ///
    /// A value for an [offer](Offer) is known by the operation: the same value is not delivered again, whatever has
    /// become of the run since (B3, B7), and another one is refused (B4, B5). Refused too where there is no such
    /// operation, or it is no offer, or one of another stub (B12), and where the offer was closed (B11).
    fn deliver(&self, deliver: Deliver, ack: Ack<Delivered>);

    /// Makes `owner` the owner of the run under a new fence, and answers with the head.
    fn claim(&self, run: RunKey, owner: Owner, ack: Ack<Head>);

    /// Ends a run and makes the one that goes on in its place, all of both or nothing (S38). Answered with the
    /// head of the new run, and whether this write made it: one that was done before is not done again (see
    /// [`Migrate`]). Refused where the old run is unknown, has ended, has another fence or stands elsewhere
    /// than the write says, and where there is a run of the new one's id, or a restore of one.
    fn migrate(&self, migrate: Migrate, ack: Ack<Created>);

    /// Takes a slice of a finished run away, whatever its owner, and says whether there is more (see
    /// [`Purge`]). Refused when the run is unknown, has not finished, stands elsewhere than the purge says, or
    /// has open tasks. A purged run takes no commits; [`create`](Self::create) can make its next generation.
    fn purge(&self, purge: Purge, ack: Ack<Progress>);

    /// Puts a part of a run back as an export holds it (see [`Restore`]), and says whether there is more to
    /// be done, which is so only for [`Restore::GiveUp`]. Refused when there is such a run, when a part does
    /// not follow on those before it, or when the run contradicts itself. Until its last part the run is not
    /// there, and `create` is refused.
    fn restore(&self, restore: Restore, ack: Ack<Progress>);

    /// Notes what a program can run, in place of what was noted of the same artifact before. Of the others the
    /// newest stay, so that there are at most [`MAX_PROGRAMS`](super::MAX_PROGRAMS). Refused when a part of the
    /// record is too large.
    fn record_program(&self, program: ProgramRecord, ack: Ack<()>);

    /// The programs that were noted, the newest first.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn programs(&self) -> Result<Vec<ProgramRecord>, StoreError>;

    /// How a run stands; `None` when there is no such run.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn head(&self, run: &RunKey) -> Result<Option<Head>, StoreError>;

    /// All that is kept of a run beside its history, its [keys](Self::keys) and its [offers](Self::offers); `None`
    /// when there is no such run. Of a purged run that is its head.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn load(&self, run: &RunKey) -> Result<Option<Loaded>, StoreError>;

    /// The blocked records of a run, in the order of their artifacts; none where it is not blocked, or is not
    /// there. One that cannot be read has another in its place that says so: [`BlockedRecord::unreadable`].
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn blocked(&self, run: &RunKey) -> Result<Vec<BlockedRecord>, StoreError> {
        let loaded = self.load(run)?;
        Ok(loaded.map(|loaded| loaded.blocked).unwrap_or_default())
    }

    /// At most `limit` sends and accepted updates that a run knows by their idempotency keys (S26), in the order of their
    /// arrival, after the arrival number `after`. None where the run was purged, or is not there; none of those before it began
    /// [anew](Inbox::keys_after).
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn keys(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<KeyRecord>, StoreError>;

    /// What a run knows by that key, of those that [`keys`](Self::keys) gives. A store that can find it without looking
    /// through all of them does so.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn key(&self, run: &RunKey, kind: KeyKind, key: &str) -> Result<Option<KeyRecord>, StoreError> {
        const PAGE: usize = 1_000;
        let mut after = 0;
        loop {
            let page = self.keys(run, after, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(None);
            };
            after = last.arrival;
            let found = page
                .into_iter()
                .find(|one| one.kind() == kind && one.key == key);
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// At most `limit` items of a stream of a run, after the one of number `after`, over all generations, in the
    /// order of their numbers (S28). Nothing of a stream that the run does not have, and nothing before the
    /// [first](StreamRange::first) that is kept.
    ///
    /// # Errors
    ///
    /// When an item is damaged or missing; nothing is skipped (S5).
    fn stream(
        &self,
        run: &RunKey,
        name: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<StreamItem>, StoreError>;

    /// What the views of a run show, in the order of [`Head::views`]; none where the run was purged, or is not there.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn views(&self, run: &RunKey) -> Result<Vec<ViewRecord>, StoreError> {
        let loaded = self.load(run)?;
        Ok(loaded.map(|loaded| loaded.views).unwrap_or_default())
    }

    /// What one view of a run shows; `None` where there is none of that name.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn view(&self, run: &RunKey, name: &str) -> Result<Option<ViewRecord>, StoreError> {
        let views = self.views(run)?;
        Ok(views.into_iter().find(|view| view.name == name))
    }

    /// The offer of an operation, whatever has become of it. `None` where the operation is no offer or not there yet,
    /// and where the run or that generation was purged, or is not there.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn offer(&self, run: &RunKey, operation: u64) -> Result<Option<Offer>, StoreError>;

    /// At most `limit` offers of a run, whatever has become of them, in the order of their operations, after the
    /// operation `after`; those that [`offer`](Self::offer) gives.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn offers(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<Offer>, StoreError>;

    /// At most `limit` open offers of all runs of a namespace, in the order of the runs' ids and then of the
    /// operations, after the operation `after` of a run, which need not exist.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn waiting(
        &self,
        namespace: &Namespace,
        after: Option<(&RunId, u64)>,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError>;

    /// At most `limit` units of a generation, from the one on that holds event number `from`. Nothing of
    /// generations that were purged: those before [`Head::kept_from`].
    ///
    /// # Errors
    ///
    /// When a unit is damaged, of an unknown kind, or missing ([`StoreError::Gap`]); nothing is skipped (S5).
    fn history(
        &self,
        run: &RunKey,
        generation: u64,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Unit>, StoreError>;

    /// What became of the attempts of a generation's activities that did not bring a result, in the order
    /// in which that was recorded. Nothing of generations that were purged.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn attempts(&self, run: &RunKey, generation: u64) -> Result<Vec<AttemptRecord>, StoreError>;

    /// At most `limit` timers of all runs in the order of their deadlines, after the timer `after`.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn due(&self, after: Option<&DueTimer>, limit: usize) -> Result<Vec<DueTimer>, StoreError>;

    /// At most `limit` runs after the run `after`, in the order of their keys, that have something to do
    /// without waiting for a timer: an open task, or, of those that are not [paused](Head::paused), a row in the queue
    /// or a blocked record. Runs for which `artifact` is [unfit](BlockedRecord::unfit) are left out; one whose record
    /// cannot be read is not.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn claimable(
        &self,
        artifact: &str,
        after: Option<&RunKey>,
        limit: usize,
    ) -> Result<Vec<RunKey>, StoreError>;

    /// At most `limit` finished runs of which so much `remains`, of all namespaces, in the order of their
    /// times and then of their keys, after the run `after`: those with a time before `before`.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn finished(
        &self,
        remains: Remains,
        before: Timestamp,
        after: Option<&FinishedRun>,
        limit: usize,
    ) -> Result<Vec<FinishedRun>, StoreError>;

    /// A page of runs in the order of their ids.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn list(&self, query: &ListQuery) -> Result<Page, StoreError>;

    /// At most `limit` namespaces that have runs, after the namespace `after`, in their order.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    fn namespaces(
        &self,
        after: Option<&Namespace>,
        limit: usize,
    ) -> Result<Vec<Namespace>, StoreError>;

    /// The folder that it is in, if it is in one that belongs to it alone while it is open: there a program puts its
    /// [control socket](crate::Builder::control_socket).
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// Makes everything durable and lets go of the files. Later writes are refused as
    /// [`StoreError::Closed`].
    ///
    /// # Errors
    ///
    /// When the last flush fails.
    fn close(&self) -> Result<(), StoreError>;
}

/// What a run is, in one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The name of the workflow.
    pub workflow: String,
    /// The digest of the input.
    pub input: Digest,
    /// How it stands.
    pub status: Status,
    /// Which generation; the first is 1.
    pub generation: u64,
    /// The number of the last event in the generation's history; 0 when there is none.
    pub sequence: u64,
    /// Who owns it.
    pub owner: Owner,
    /// The fence of that owner.
    pub fence: Fence,
    /// The last arrival number given out in its queue.
    pub arrivals: u64,
    /// The last stamp in its history or queue.
    pub stamp: Timestamp,
    /// The number that its next operation gets.
    pub next_operation: u64,
    /// What it is told from outside.
    pub inbox: Inbox,
    /// The streams in which it has given out items, in the order in which it began them: at most
    /// [`MAX_STREAMS`](perennial::MAX_STREAMS). A run that begins anew goes on with their numbers (S28), also after
    /// a purge.
    pub streams: Vec<StreamRange>,
    /// The names of its views, in the order in which they came: at most [`MAX_VIEWS`](perennial::MAX_VIEWS). A run
    /// that begins anew shows nothing.
    pub views: Vec<String>,
    /// When the generation was made.
    pub created: Timestamp,
    /// When the generation ended.
    pub finished: Option<Timestamp>,
    /// Whether a blocked record exists that has not been cleared.
    pub blocked: bool,
    /// Whether the run was purged; `None` again when it begins anew.
    pub purged: Option<Purged>,
    /// The first generation that is kept, from 1: those before it were purged. Of a run that was purged this
    /// is the one that does not exist yet.
    pub kept_from: u64,
    /// The run, in the same namespace, to which this one was moved: with the status [`Status::Migrated`], and
    /// with no other.
    pub migrated_to: Option<RunId>,
    /// Since when it is told nothing, because somebody has paused it; `None`: it is not paused. One that has ended
    /// is not.
    pub paused: Option<Timestamp>,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// It has not ended.
    Running,
    /// It returned a result.
    Completed,
    /// It returned an error.
    Failed,
    /// It was moved to a new run, which goes on in its place.
    Migrated,
}

impl Status {
    /// Whether nothing can happen to it any more.
    #[must_use]
    pub fn is_finished(self) -> bool {
        self != Self::Running
    }
}

/// Makes a run.
#[derive(Clone, Debug)]
pub struct Create {
    /// The run.
    pub run: RunKey,
    /// The name of the workflow.
    pub workflow: String,
    /// The digest of the input.
    pub input: Digest,
    /// `None`: there must be no such run. A number: the run's generation of that number must be its last
    /// and finished, and this makes the next one.
    pub after: Option<u64>,
    /// Who owns it from the first moment.
    pub owner: Owner,
    /// What comes with it: its first unit, or its first row in the queue. A run that is a fork of another one
    /// ([`Started::forked_from`](perennial::history::Started::forked_from)) comes with all units that it has from there,
    /// and what is open in them; the numbers of messages and of items of streams are counted on from those.
    pub changes: Changes,
    /// By which idempotency keys the run knows messages that come with it (S26): each is that of the first row of
    /// [`changes`](Self::changes) whose observation has it.
    pub keys: Vec<SendKey>,
}

/// The answer to [`Store::create`] and [`Store::migrate`].
#[derive(Clone, Debug, PartialEq)]
pub enum Created {
    /// The run was made, and this was put into queues.
    New(Head, Committed),
    /// There is one already.
    Exists(Head),
}

/// Changes one run, by its owner.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The run.
    pub run: RunKey,
    /// The owner's fence.
    pub fence: Fence,
    /// The generation that is changed.
    pub generation: u64,
    /// The number of the last event that the owner knows of.
    pub sequence: u64,
    /// What changes.
    pub changes: Changes,
}

/// All that one write changes in a run: one commit, nothing beside it.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Units that the history gets, numbered on from its last event. Items of streams in them are numbered on from
    /// the last ones in [`Head::streams`].
    pub units: Vec<Unit>,
    /// Arrival numbers of queue rows that these units took.
    pub taken: Vec<u64>,
    /// How many of those are signals that nobody waited for: no unit has taken them.
    pub dropped_signals: u64,
    /// Observations that the run's own queue gets. [`Told::number`](perennial::history::Told::number) is the
    /// store's to fill in.
    pub enqueue: Vec<Observation>,
    /// Decisions whose results this write fills in, in their order (S3). A migration has none, and those of one are
    /// passed over.
    pub slots: Vec<Slot>,
    /// Updates that these units have accepted and that have idempotency keys: the run knows them from now on (S26, S27).
    /// The write is refused where the run knows a key before: the owner [looks](Store::key) first.
    pub update_keys: Vec<UpdateKey>,
    /// What the run waits to be told from now on; `None`: as before.
    pub awaited: Option<Awaited>,
    /// Tasks.
    pub tasks: Vec<TaskChange>,
    /// Timers.
    pub timers: Vec<TimerChange>,
    /// Offers. The end of the run closes those that are open (B11).
    pub offers: Vec<OfferChange>,
    /// Attempts to be shown.
    pub attempts: Vec<AttemptRecord>,
    /// What the run shows from now on; of several changes of one view the last counts.
    pub views: Vec<ViewChange>,
    /// How the run stands from now on; `None`: as before.
    pub status: Option<Status>,
    /// The stamp of the write; the head's stamp never goes back.
    pub stamp: Timestamp,
    /// The number that the run's next operation gets; `None`: as before.
    pub next_operation: Option<u64>,
    /// Whether the run is blocked.
    pub blocked: Option<BlockedChange>,
    /// Whether the run is paused; `None`: as before.
    pub pause: Option<PauseChange>,
}

/// A change to whether a run is told what arrives for it. A run that is paused keeps it in its queue, with its stamps,
/// so that what it is told when it goes on comes in the order of that time (M45).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseChange {
    /// It is paused. One that was paused before is so since then.
    Pause {
        /// Since when.
        at: Timestamp,
    },
    /// It goes on.
    Resume,
}

/// Puts an observation into a run's queue.
#[derive(Clone, Debug)]
pub struct Deliver {
    /// The run.
    pub run: RunKey,
    /// What happened.
    pub observation: Observation,
    /// When; the row gets `max(at, the run's last stamp)` (S2).
    pub at: Timestamp,
    /// Tasks that this settles.
    pub tasks: Vec<TaskChange>,
    /// By what the run knows it again, where the sender may repeat it. An offer is known by its operation.
    pub key: Option<SendKey>,
    /// Of a value for an offer: the name of the stub that it is meant for, where that is to be checked (B12).
    pub stub: Option<String>,
}

/// A row of a run's queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queued {
    /// Its arrival number.
    pub arrival: u64,
    /// Its stamp.
    pub at: Timestamp,
    /// What happened.
    pub observation: Observation,
}

/// All that is kept of a run beside its history, its keys and its offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// Its head.
    pub head: Head,
    /// Its open tasks by operation.
    pub tasks: Vec<Task>,
    /// Its timers: operation and deadline, by operation.
    pub timers: Vec<(u64, Timestamp)>,
    /// Its queue by arrival.
    pub queue: Vec<Queued>,
    /// Its blocked records, as [`Store::blocked`] gives them.
    pub blocked: Vec<BlockedRecord>,
    /// What its views show. One that cannot be read has another in its place that says so; [`Store::views`] has an
    /// error for it.
    pub views: Vec<ViewRecord>,
}

impl Loaded {
    /// A head with nothing beside it.
    #[must_use]
    pub fn alone(head: Head) -> Self {
        Self {
            head,
            tasks: Vec::new(),
            timers: Vec::new(),
            queue: Vec::new(),
            blocked: Vec::new(),
            views: Vec::new(),
        }
    }
}
