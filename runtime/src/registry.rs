//! What a program can run, and whether that is complete.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use perennial::history::Channel;
use perennial::value::{DecodeError, Value};
use perennial::{
    ActivityDefinition, Blocked, CalleeKind, Incompatible, MigrationDefinition, RunKey, States,
    StubDefinition, WorkflowDefinition,
};
use rustc_hash::FxBuildHasher;
use strsim::levenshtein;

use crate::client::{SendError, UpdateError};
use crate::migrate::MigrateError;

/// The workflows, activities and application state of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry {
    pub(crate) workflows: HashMap<&'static str, WorkflowDefinition, FxBuildHasher>,
    pub(crate) activities: HashMap<&'static str, ActivityDefinition, FxBuildHasher>,
    pub(crate) migrations: HashMap<&'static str, MigrationDefinition, FxBuildHasher>,
    pub(crate) stubs: HashMap<&'static str, StubDefinition, FxBuildHasher>,
    pub(crate) states: Arc<States>,
    /// Names that were given twice, with what they name.
    pub(crate) twice: Vec<(&'static str, &'static str)>,
}

impl Registry {
    pub(crate) fn add_workflow(&mut self, workflow: WorkflowDefinition) {
        for stub in workflow.graph.offers() {
            self.add_stub(stub);
        }
        if self
            .workflows
            .insert(workflow.name, workflow)
            .is_some_and(|old| old.id != workflow.id)
        {
            self.twice.push(("workflow", workflow.name));
        }
    }

    pub(crate) fn add_activity(&mut self, activity: ActivityDefinition) {
        if self
            .activities
            .insert(activity.name, activity)
            .is_some_and(|old| old.id != activity.id)
        {
            self.twice.push(("activity", activity.name));
        }
    }

    pub(crate) fn add_migration(&mut self, migration: MigrationDefinition) {
        if self
            .migrations
            .insert(migration.name, migration)
            .is_some_and(|old| old.id != migration.id)
        {
            self.twice.push(("migration", migration.name));
        }
    }

    pub(crate) fn add_stub(&mut self, stub: StubDefinition) {
        let (id, name) = (stub.id, stub.name);
        if self
            .stubs
            .insert(name, stub)
            .is_some_and(|old| old.id != id)
        {
            self.twice.push(("stub", name));
        }
    }

    /// Why a stub of that name cannot be completed with that value: its type, and what is wrong. `None`: it can, as
    /// far as is known here.
    pub(crate) fn refuses(&self, stub: &str, value: &Value) -> Option<(&'static str, DecodeError)> {
        let stub = self.stubs.get(stub)?;
        let error = (stub.accepts)(value).err()?;
        Some((stub.result.name, error))
    }

    /// The migration of that name.
    pub(crate) fn migration(&self, name: &str) -> Result<MigrationDefinition, MigrateError> {
        self.migrations
            .get(name)
            .copied()
            .ok_or_else(|| MigrateError::UnknownMigration {
                name: name.to_owned(),
                closest: closest(name, self.migrations.keys().copied()),
            })
    }

    /// Checks that all that is known to be needed is there.
    pub(crate) fn check(&self, states: &States) -> Result<(), Incomplete> {
        let mut incomplete = Incomplete::default();
        for (what, name) in &self.twice {
            incomplete.twice.push(format!("{what} `{name}`"));
        }
        for workflow in self.workflows.values() {
            let callees = workflow.graph.callees.iter();
            let activities = callees.filter(|callee| callee.kind == CalleeKind::Activity);
            for missing in activities.filter(|callee| !self.activities.contains_key(callee.name)) {
                let names = incomplete
                    .activities
                    .entry(workflow.name.to_owned())
                    .or_default();
                names.push(missing.name.to_owned());
            }
        }
        for activity in self.activities.values() {
            for state in (activity.states)()
                .iter()
                .filter(|state| !states.has(state))
            {
                let names = incomplete
                    .states
                    .entry(activity.name.to_owned())
                    .or_default();
                names.push(state.name().to_owned());
            }
        }
        incomplete.twice.sort();
        incomplete
            .activities
            .values_mut()
            .for_each(|names| names.sort());
        if incomplete == Incomplete::default() {
            Ok(())
        } else {
            Err(incomplete)
        }
    }

    /// Refuses what a workflow of this program is known not to wait for (M38).
    pub(crate) fn check_awaited(
        &self,
        workflow: &str,
        channel: Channel,
        name: &str,
    ) -> Result<(), SendError> {
        let Some(definition) = self.workflows.get(workflow) else {
            return Ok(());
        };
        let graph = definition.graph;
        if graph.declares(channel, name) != Some(false) {
            return Ok(());
        }
        let known = graph.receives().into_iter();
        let known = known.filter(|known| known.channel == channel);
        let declared: Vec<&str> = known.map(|known| known.name).collect();
        Err(SendError::NoSuchMessage {
            workflow: workflow.to_owned(),
            channel,
            name: name.to_owned(),
            closest: closest(name, declared.iter().copied()),
            declared: declared.into_iter().map(str::to_owned).collect(),
        })
    }

    /// Refuses what a workflow of this program is known not to handle (M38).
    pub(crate) fn check_handled(
        &self,
        workflow: &str,
        name: &str,
    ) -> Result<(), UpdateError<Value>> {
        let Some(definition) = self.workflows.get(workflow) else {
            return Ok(());
        };
        let graph = definition.graph;
        if graph.handles_update(name) != Some(false) {
            return Ok(());
        }
        let declared: Vec<&str> = graph.handled().iter().map(|known| known.name).collect();
        Err(UpdateError::NoSuchUpdate {
            workflow: workflow.to_owned(),
            name: name.to_owned(),
            closest: closest(name, declared.iter().copied()),
            declared: declared.into_iter().map(str::to_owned).collect(),
        })
    }

    pub(crate) fn closest_workflow(&self, name: &str) -> Option<String> {
        closest(name, self.workflows.keys().copied())
    }

    /// That the program lacks the workflow of a run, which another one has begun; empty: that is not known.
    pub(crate) fn no_workflow(
        &self,
        run: &RunKey,
        workflow: &str,
        began_by: &str,
        artifact: &str,
    ) -> Blocked {
        let near = self.closest_workflow(workflow);
        let (what, name) = ("workflow", workflow);
        let error = Incompatible::not_registered(run, workflow, 1, what, name, near.as_deref());
        Blocked::Incompatible(Box::new(error.between(began_by, artifact)))
    }

    /// That the program lacks an activity, which the run asked for with this event.
    pub(crate) fn no_activity(
        &self,
        run: &RunKey,
        workflow: &str,
        event: u64,
        name: &str,
        artifact: &str,
    ) -> Blocked {
        let near = closest(name, self.activities.keys().copied());
        let (what, near) = ("activity", near.as_deref());
        let error = Incompatible::not_registered(run, workflow, event, what, name, near);
        Blocked::Incompatible(Box::new(error.between("", artifact)))
    }
}

/// What a program lacks.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incomplete {
    /// Different functions under one name.
    pub twice: Vec<String>,
    /// Workflows, each with the activities that it calls and that were not registered.
    pub activities: BTreeMap<String, Vec<String>>,
    /// Activities, each with the types of state that it asks for and that were not given.
    pub states: BTreeMap<String, Vec<String>>,
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program is not complete, so the runtime does not start")?;
        for name in &self.twice {
            write!(f, "\n\n  two different functions are registered as {name}")?;
            f.write_str("\n  help: give one of them another name with `name = \"..\"`")?;
        }
        for (workflow, activities) in &self.activities {
            let list = activities
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ");
            write!(
                f,
                "\n\n  the workflow `{workflow}` calls {list}, which no one has registered"
            )?;
            f.write_str("\n  help: add each to the builder with `.activity(..)`, or all with `.activities((.., ..))`")?;
        }
        for (activity, states) in &self.states {
            for state in states {
                write!(
                    f,
                    "\n\n  the activity `{activity}` asks for the state `{state}`, which was not given"
                )?;
                f.write_str("\n  help: add `.state(..)` with a value of that type to the builder")?;
            }
        }
        Ok(())
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Incomplete {}

/// The name that is most like `name`, where one is like it at all.
/// The name that is most like that one, if one is like it.
pub(crate) fn closest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let near = names.map(|other| (levenshtein(name, other), other));
    let (distance, best) = near.min()?;
    // Of a short name two letters may have changed their places.
    let most = (best.len().max(name.len()) / 4).max(2);
    (distance <= most && distance < name.len().min(best.len())).then(|| best.to_owned())
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn a_mistyped_name_finds_the_one_that_was_meant() {
        let names = ["charge_card", "refund", "ship"];
        assert_eq!(
            closest("charge_crad", names.into_iter()).as_deref(),
            Some("charge_card")
        );
        assert_eq!(
            closest("refnd", names.into_iter()).as_deref(),
            Some("refund")
        );
        assert_eq!(closest("something_else", names.into_iter()), None);
        assert_eq!(closest("x", std::iter::empty()), None);
        // Two words that have some letters in common.
        assert_eq!(closest("drive", ["deliver"].into_iter()), None);
        assert_eq!(closest("a", ["b"].into_iter()), None);
    }
}
