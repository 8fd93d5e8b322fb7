//! Moving a run to a new one: an explicit, recorded step for what neither a marker nor a refactoring can do (S38).

mod messages;
mod old;
mod open;
mod refuse;
mod told;

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;

use crate::value::Value;
use crate::{Data, Workflow, WorkflowDefinition};

pub use old::{BlockedBy, OldRun};
pub use open::{Open, OpenKind};
pub use refuse::Refuse;
pub use told::{OldFulfilment, OldSend};

/// A function with `#[migration]`. Implemented by the attribute.
pub trait Migration: 'static {
    /// The name under which histories know it.
    const NAME: &'static str;
    /// The workflow that it moves runs of, by its name in histories.
    const FROM: &'static str;
    /// The workflow that it moves them to.
    type To: Workflow;

    /// Makes the new run's input out of the old run.
    ///
    /// # Errors
    ///
    /// [`Refuse`]: the run is not to be moved.
    fn run(old: &OldRun) -> Result<<Self::To as Workflow>::Input, Refuse>;
}

/// What calling a migration gives: nothing is done. The type exists so that a migration's name can stand for it:
/// `client.migrate("order-42", to_v2, "order-42-v2")`. The function itself is called as `to_v2::run(&old)`.
#[must_use = "a run is moved with the client"]
pub struct Migrates<M> {
    migration: PhantomData<fn() -> M>,
}

impl<M> Migrates<M> {
    #[doc(hidden)]
    pub fn new(_: &OldRun) -> Self {
        Self {
            migration: PhantomData,
        }
    }
}

impl<M: Migration> fmt::Debug for Migrates<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Migrates").field(&M::NAME).finish()
    }
}

/// The name of a migration's function, as in `client.migrate("order-42", to_v2, "order-42-v2")`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a migration",
    label = "not a migration",
    note = "put `#[migration(from = old_workflow, to = new_workflow)]` on the function"
)]
pub trait MigrationFn<X> {
    /// The migration that it names.
    type M: Migration;
}

#[diagnostic::do_not_recommend]
impl<F, M: Migration> MigrationFn<fn() -> M> for F
where
    F: Fn(&OldRun) -> Migrates<M>,
{
    type M = M;
}

/// A migration without its types: what drivers work with.
#[derive(Clone, Copy, Debug)]
pub struct MigrationDefinition {
    /// Which function it is, whatever its name.
    pub id: TypeId,
    /// The name under which histories know it.
    pub name: &'static str,
    /// The workflow that it moves runs of, by its name in histories.
    pub from: &'static str,
    /// The workflow that it moves them to.
    pub to: WorkflowDefinition,
    /// Makes the new run's input out of the old run.
    pub run: fn(&OldRun) -> Result<Value, Refuse>,
}

impl MigrationDefinition {
    /// The definition of `M`.
    #[must_use]
    pub fn of<M: Migration>() -> Self {
        fn run<M: Migration>(old: &OldRun) -> Result<Value, Refuse> {
            let input = M::run(old)?;
            input
                .to_value()
                .map_err(|error| Refuse::Unstorable { error })
        }
        Self {
            id: TypeId::of::<M>(),
            name: M::NAME,
            from: M::FROM,
            to: WorkflowDefinition::of::<M::To>(),
            run: run::<M>,
        }
    }
}
