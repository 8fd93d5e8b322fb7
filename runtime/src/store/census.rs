//! How the runs of a store stand, counted.

use std::collections::BTreeMap;

use perennial::{Namespace, RunKey, Timestamp};

use super::contract::{Head, Status, Store};
use super::tasks::DueTimer;
use super::{Purged, StoreError, runs};

/// How the runs of a store stand, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Census {
    /// All runs.
    pub all: Standing,
    /// The runs of each workflow, by its name.
    pub workflows: BTreeMap<String, Standing>,
    /// How many runs each namespace has.
    pub namespaces: BTreeMap<Namespace, u64>,
    /// The run that has been open for the longest time, and since when: since its generation was made.
    pub oldest_open: Option<(RunKey, Timestamp)>,
    /// How many timers there are.
    pub timers: u64,
    /// Those that are due next, at most [`Census::NEXT`] of them.
    pub next: Vec<DueTimer>,
}

/// How many runs stand how. Each run counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standing {
    /// They go on, or wait.
    pub running: u64,
    /// No program that has tried could go on with them.
    pub blocked: u64,
    /// They returned a result.
    pub completed: u64,
    /// They returned an error.
    pub failed: u64,
    /// They were moved to new runs.
    pub migrated: u64,
    /// They had finished and were purged; their heads are left.
    pub purged: u64,
}

impl Standing {
    fn count(&mut self, head: &Head) {
        let count = match (head.purged, head.status) {
            (Some(Purged { .. }), _) => &mut self.purged,
            (None, Status::Running) if head.blocked => &mut self.blocked,
            (None, Status::Running) => &mut self.running,
            (None, Status::Completed) => &mut self.completed,
            (None, Status::Failed) => &mut self.failed,
            (None, Status::Migrated) => &mut self.migrated,
        };
        *count += 1;
    }

    /// All together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.running + self.blocked + self.completed + self.failed + self.migrated + self.purged
    }
}

impl Census {
    /// So many timers are told.
    pub const NEXT: usize = 5;

    /// Counts the runs of a store.
    ///
    /// # Errors
    ///
    /// When something that is stored cannot be read.
    pub fn of(store: &dyn Store) -> Result<Self, StoreError> {
        const PAGE: usize = 1_000;
        let mut census = Self::default();
        runs::each(store, |run, head| {
            census.count(&run, &head);
            Ok::<_, StoreError>(())
        })?;
        let mut after = None;
        loop {
            let timers = store.due(after.as_ref(), PAGE)?;
            let Some(last) = timers.last().cloned() else {
                return Ok(census);
            };
            timers.into_iter().for_each(|timer| census.timer(timer));
            after = Some(last);
        }
    }

    /// Counts a run.
    pub(super) fn count(&mut self, run: &RunKey, head: &Head) {
        self.all.count(head);
        match self.workflows.get_mut(&head.workflow) {
            Some(standing) => standing.count(head),
            None => self
                .workflows
                .entry(head.workflow.clone())
                .or_default()
                .count(head),
        }
        *self.namespaces.entry(run.namespace.clone()).or_default() += 1;
        let is_older = |(_, since): &(RunKey, Timestamp)| head.created < *since;
        if !head.status.is_finished() && self.oldest_open.as_ref().is_none_or(is_older) {
            self.oldest_open = Some((run.clone(), head.created));
        }
    }

    /// Counts a timer.
    pub(super) fn timer(&mut self, timer: DueTimer) {
        self.timers += 1;
        let at = self.next.partition_point(|other| *other < timer);
        if at < Self::NEXT {
            self.next.insert(at, timer);
            self.next.truncate(Self::NEXT);
        }
    }
}
