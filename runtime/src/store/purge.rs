//! Taking away runs that have finished (S26).
//!
//! | what is left of a run | its head says | it is listed among |
//! |---|---|---|
//! | all of it | nothing | [`Remains::Whole`] |
//! | some of it: a purge has begun | purged, not complete | [`Remains::Whole`] |
//! | the head, with the input's digest | purged, complete | [`Remains::Head`] |
//! | nothing | | |
//!
//! A purge is done in slices, each a write of its own, so that a long history holds nobody up. The first
//! marks the run, and from then on nothing of it is shown but its head. One that is interrupted leaves a
//! marked run behind, which the next purge finds in its place and goes on with.

use perennial::{RunKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::contract::Head;
use super::inbox::Inbox;
use super::{Refusal, StoreError, stream};

/// Takes a slice of a finished run away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purge {
    /// The run.
    pub run: RunKey,
    /// Its generation, as the purger knows it.
    pub generation: u64,
    /// The last event of that, as the purger knows it.
    pub sequence: u64,
    /// What is to be left in the end.
    pub keep: Keep,
    /// When.
    pub at: Timestamp,
    /// At most so many units, attempts, rows, timers, blocked records and keys go in this slice, and at least one
    /// of them. A store that counts by bytes may take fewer.
    pub limit: usize,
}

/// What a purge leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Keep {
    /// The head: a start with the same id still finds that there was such a run.
    Head,
    /// Nothing: there was no such run.
    Nothing,
}

/// Whether a write that is done in slices has been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Progress {
    /// There is more: it is to be handed over again.
    More,
    /// It has been done.
    Done,
}

/// That a run was purged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Purged {
    /// When its purge began.
    pub at: Timestamp,
    /// Whether nothing is left but the head.
    pub complete: bool,
}

/// What is left of a finished run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Remains {
    /// All of it, or what an interrupted purge has not come to.
    Whole,
    /// Its head alone.
    Head,
}

/// A finished run in the order of ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FinishedRun {
    /// When it finished; of one of which the head alone is left, when it was purged.
    pub at: Timestamp,
    /// The run.
    pub run: RunKey,
}

/// Where a run stands among those that have finished; `None`: it has not.
pub(super) fn remains(head: &Head) -> Option<(Remains, Timestamp)> {
    match (head.finished, head.purged) {
        (None, _) => None,
        (Some(_), Some(Purged { at, complete: true })) => Some((Remains::Head, at)),
        (Some(finished), _) => Some((Remains::Whole, finished)),
    }
}

/// The head that a slice begins with: marked, if it was not. `tasks` says how many the run has.
pub(super) fn begin(head: Option<&Head>, tasks: u64, purge: &Purge) -> Result<Head, StoreError> {
    let run = || purge.run.clone();
    let refused = |refusal| Err(StoreError::Refused(refusal));
    let Some(head) = head else {
        return refused(Refusal::NoRun { run: run() });
    };
    let (given, current) = (
        (purge.generation, purge.sequence),
        (head.generation, head.sequence),
    );
    if given != current {
        return refused(Refusal::Moved {
            run: run(),
            given,
            current,
        });
    }
    if !head.status.is_finished() {
        return refused(Refusal::Unfinished { run: run() });
    }
    if tasks > 0 {
        return refused(Refusal::OpenTasks { run: run(), tasks });
    }
    let mut head = head.clone();
    head.purged.get_or_insert(Purged {
        at: purge.at.max(head.stamp),
        complete: false,
    });
    head.kept_from = head.generation + 1;
    head.blocked = false;
    // Its unread messages go with it, and the keys of those that it had (M42).
    head.inbox = Inbox::default();
    stream::purged(&mut head.streams);
    head.views.clear();
    Ok(head)
}

/// The head that the last slice leaves.
pub(super) fn end(mut head: Head) -> Head {
    if let Some(purged) = &mut head.purged {
        purged.complete = true;
    }
    head
}
