//! Forking a run (M43): a new run that goes on from where another one was after some event.
//!
//! | of the other run | the fork |
//! |---|---|
//! | the history up to the unit that has the event | has it as its own, which the code that runs now replays first |
//! | open timers | has them, with their deadlines |
//! | open activities | schedules them anew: their effects may happen again |
//! | open offers of stubs | offers them anew, under references of its own |
//! | a message to another run, or a value for what that offers, of which the history does not say what it came to | sends it anew, under a key of its own |
//! | items of streams | has them, and counts on |
//! | views | shows what the code makes of the history |
//! | messages that no wait has returned, values that no unit has; idempotency keys; attempts | has none of them |
//!
//! The other run is read as it is stored, and not changed. All of the fork is one write.

mod error;
mod open;

use std::sync::Arc;

use perennial::history::{ForkedFrom, Observation, Started, Unit, encode_unit};
use perennial::machine::Machine;
use perennial::{Blocked, RunId, RunKey};
use tracing::subscriber::NoSubscriber;

pub use error::ForkError;
use open::Opened;

use crate::engine::{Shared, entropy};
use crate::store::{Changes, Create, Head, StoreError};

/// The most bytes that the history of a fork may have when it is made: they are one write.
pub(crate) const MAX_BYTES: usize = 64 << 20;

/// So many units are read at once.
const PAGE: usize = 1_000;
/// So many units are looked at that follow one which does not fit.
const AHEAD: usize = 20;

/// What is to be forked, where, and into what.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) run: RunKey,
    /// The number of the event after which the fork goes its own way, with the unit that has it.
    pub(crate) event: u64,
    /// The new run, in the namespace of the other one.
    pub(crate) to: RunId,
}

/// What is to be written.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) create: Box<Create>,
    /// The last event that both have.
    pub(crate) last: u64,
}

impl Wish {
    /// The new run.
    pub(crate) fn new_run(&self) -> RunKey {
        RunKey::new(self.run.namespace.clone(), self.to.clone())
    }

    /// Replays what the fork is to have with the code that runs here, and finds out what is open then.
    pub(crate) fn look(&self, shared: &Shared) -> Result<Plan, ForkError> {
        let head = self.head(shared)?;
        if let Some(there) = shared.store.head(&self.new_run())? {
            return Err(self.exists(shared, &there));
        }
        let units = match self.units(shared, &head) {
            Err(ForkError::Unavailable(error)) => {
                // It may have been purged, or begun anew, since its head was read.
                let now = self.head(shared)?;
                return match now.generation == head.generation {
                    true => Err(ForkError::Unavailable(error)),
                    false => self.look(shared),
                };
            }
            units => units?,
        };
        let blocked = |error| ForkError::Blocked {
            run: self.run.clone(),
            event: self.event,
            error: Box::new(error),
        };
        let (machine, opened) = self.replay(shared, &head, &units).map_err(blocked)?;
        let last = units.last().map_or(0, Unit::last);
        let changes = opened.changes(shared, self, &head.workflow, &machine, &units);
        let create = Create {
            run: self.new_run(),
            workflow: head.workflow,
            input: head.input,
            after: None,
            owner: shared.owner,
            changes: Changes {
                units: self.own(units)?,
                ..changes
            },
            keys: Vec::new(),
        };
        let create = Box::new(create);
        Ok(Plan { create, last })
    }

    fn head(&self, shared: &Shared) -> Result<Head, ForkError> {
        let run = || self.run.clone();
        let Some(head) = shared.store.head(&self.run)? else {
            return Err(ForkError::NotFound { run: run() });
        };
        match head.purged {
            Some(purged) => Err(ForkError::Purged {
                run: run(),
                at: purged.at,
            }),
            None => Ok(head),
        }
    }

    /// Why there is a run of the new id.
    pub(crate) fn exists(&self, shared: &Shared, there: &Head) -> ForkError {
        let run = self.new_run();
        let first = shared.store.history(&run, there.generation, 1, 1);
        let first = first.ok().and_then(|units| units.into_iter().next());
        let forked_from = match first.map(|unit| unit.observation) {
            Some(Observation::Started(mut started)) => started.forked_from.pop(),
            _ => None,
        };
        ForkError::TargetExists { run, forked_from }
    }

    /// The units that the fork is to have, as the other run has them.
    fn units(&self, shared: &Shared, head: &Head) -> Result<Vec<Unit>, ForkError> {
        let Self { run, event, .. } = self;
        if *event == 0 || *event > head.sequence {
            return Err(ForkError::NoSuchEvent {
                run: run.clone(),
                event: *event,
                events: head.sequence,
            });
        }
        let (mut units, mut next, mut bytes) = (Vec::<Unit>::new(), 1, 0);
        while next <= *event {
            let page = shared.store.history(run, head.generation, next, PAGE)?;
            let Some(last) = page.last() else {
                return Err(gap(run, next).into());
            };
            next = last.last() + 1;
            for unit in page {
                if unit.number > *event {
                    break;
                }
                bytes += encode_unit(&unit).len();
                if bytes > MAX_BYTES {
                    return Err(ForkError::TooLarge {
                        run: run.clone(),
                        event: *event,
                        limit: MAX_BYTES as u64,
                    });
                }
                units.push(unit);
            }
        }
        let ends = |unit: &Unit| {
            let last = unit.decisions.last();
            unit.observation.is_end() || last.is_some_and(perennial::history::Decision::is_end)
        };
        if units.last().is_some_and(ends) {
            return Err(ForkError::AtEnd {
                run: run.clone(),
                event: *event,
                last: units.last().map_or(0, |unit| unit.number.saturating_sub(1)),
            });
        }
        Ok(units)
    }

    fn replay(
        &self,
        shared: &Shared,
        head: &Head,
        units: &[Unit],
    ) -> Result<(Machine, Opened), Blocked> {
        let (run, registry, artifact) = (&self.run, &shared.registry, &shared.artifact);
        let Some(definition) = registry.workflows.get(head.workflow.as_str()) else {
            let began_by = started(units).map_or("", |started| &started.artifact);
            return Err(registry.no_workflow(run, &head.workflow, began_by, artifact));
        };
        let mut machine = Machine::new(*definition, artifact, entropy());
        let mut opened = Opened::default();
        // What the workflow's code logs was logged when it happened.
        tracing::subscriber::with_default(NoSubscriber::default(), || {
            for (place, unit) in units.iter().enumerate() {
                let retold = machine.retell(unit.clone()).map_err(|error| {
                    let ahead = units[place + 1..].iter().take(AHEAD).cloned();
                    error.look_ahead(&ahead.collect::<Vec<_>>())
                })?;
                opened.unit(unit, retold);
            }
            Ok(())
        })?;
        if let Some((event, name)) = opened.unknown(registry) {
            return Err(registry.no_activity(run, &head.workflow, event, name, artifact));
        }
        machine.fork();
        Ok((machine, opened))
    }

    /// The same units, as those of the new run.
    fn own(&self, mut units: Vec<Unit>) -> Result<Vec<Unit>, ForkError> {
        let last = units.last().map_or(0, Unit::last);
        let Some(Unit {
            observation: Observation::Started(started),
            ..
        }) = units.first_mut()
        else {
            return Err(gap(&self.run, 1).into());
        };
        // Of earlier forks those events that are among these.
        let mut from: Vec<ForkedFrom> = std::mem::take(&mut started.forked_from);
        let whole = from.iter().take_while(|from| from.last < last).count();
        from.truncate(whole + 1);
        match from.get_mut(whole) {
            Some(cut) => cut.last = last,
            None => from.push(ForkedFrom {
                run: self.run.id.clone(),
                last,
            }),
        }
        started.forked_from = from;
        started.run = self.to.clone();
        started.generation = 1;
        started.migrated_from = None;
        Ok(units)
    }
}

/// By which id the code knew itself in the unit of that event.
fn known_as<'a>(units: &'a [Unit], run: &'a RunId, event: u64) -> &'a RunId {
    let forks = started(units).map(|started| &started.forked_from[..]);
    let mut forks = forks.unwrap_or_default().iter();
    forks
        .find(|from| from.last >= event)
        .map_or(run, |from| &from.run)
}

fn started(units: &[Unit]) -> Option<&Started> {
    match &units.first()?.observation {
        Observation::Started(started) => Some(started),
        _ => None,
    }
}

fn gap(run: &RunKey, expected: u64) -> StoreError {
    StoreError::Gap {
        run: run.clone(),
        expected,
        found: None,
    }
}

/// On a thread that may wait for the disk, and for the code of a workflow.
pub(crate) async fn look(shared: &Arc<Shared>, wish: Wish) -> Result<Plan, ForkError> {
    let there = Arc::clone(shared);
    let looking = shared.tokio.spawn_blocking(move || wish.look(&there));
    match looking.await {
        Ok(looked) => looked,
        Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
        Err(_) => Err(ForkError::Unavailable(crate::error::Unavailable::Stopped)),
    }
}
