//! What runs show of themselves (S28).

use perennial::machine::Shown;
use perennial::{RunKey, Timestamp};

use super::Shared;
use super::run::{After, Run};
use super::shard::Shard;
use crate::store::{StoreError, ViewChange, ViewRecord};

impl Run {
    /// Puts into the next commit what a view shows.
    pub(super) fn show(&mut self, shared: &Shared, shown: Shown, at: Timestamp, event: u64) {
        self.change_view(ViewChange::Put(ViewRecord {
            name: shown.view.to_owned(),
            value: shown.value,
            data: shown.data,
            artifact: shared.artifact.to_string(),
            at,
            event,
        }));
    }

    fn change_view(&mut self, change: ViewChange) {
        let views = &mut self.changes.views;
        views.retain(|before| before.name() != change.name());
        views.push(change);
    }
}

impl Shard {
    /// The run was replayed. Where another program has published its views, those that this one makes something else
    /// of are published again, and those that it does not have any more go.
    pub(super) fn publish_again(&mut self, key: &RunKey) -> Result<(), StoreError> {
        let Some(run) = self.runs.get_mut(key) else {
            return Ok(());
        };
        let shown = run.machine.as_ref().map(|machine| machine.views());
        let shown = shown.unwrap_or_default();
        if shown.is_empty() && !run.shows {
            return Ok(());
        }
        let stored = match self.shared.store.views(key) {
            // It is published anew. What the run does does not depend on it.
            Err(StoreError::Damaged { place, problem }) => {
                tracing::warn!(run = %key, "{place} is published again: {problem}");
                Vec::new()
            }
            stored => stored?,
        };
        let (at, event) = (self.shared.clock.now().max(run.stamp), run.sequence);
        let is_shown = |record: &ViewRecord| shown.iter().any(|shown| shown.view == record.name);
        let gone: Vec<_> = stored.iter().filter(|record| !is_shown(record)).collect();
        for record in gone {
            run.change_view(ViewChange::Remove(record.name.clone()));
        }
        for shown in shown {
            let before = stored.iter().find(|record| record.name == shown.view);
            let same =
                |record: &ViewRecord| record.value == shown.value && record.data == shown.data;
            if !before.is_some_and(same) {
                run.show(&self.shared, shown, at, event);
            }
        }
        if !run.changes.views.is_empty() {
            run.after.push(After::News);
        }
        Ok(())
    }
}
