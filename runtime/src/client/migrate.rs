//! Moving a run to a new one.

use std::sync::Arc;

use perennial::{InvalidId, Migration, MigrationDefinition, MigrationFn, RunId, RunKey};
use tokio::sync::oneshot;

use super::{Client, RunHandle};
use crate::engine::{Message, MigrateReply, MigrateRequest, Shared};
use crate::error::Unavailable;
use crate::migrate::{Looked, MigrateError, TRIES, Wish};

impl Client {
    /// Moves a run to a new one (S38): `migration` makes the new run's input out of the old run, the old run ends
    /// there, and the new one begins in its place. Both are one write; it is durable when this answers. Each run's
    /// history refers to the other.
    ///
    /// It is for runs that are blocked, since their histories do not fit the code any more, and for runs that wait:
    /// a run that goes on while the migration looks at it is looked at again. Open activities go on under the old
    /// run where the migration keeps them ([`OldRun`](perennial::OldRun)). Who waits for the old run's result gets
    /// [`RunError::Migrated`](crate::RunError::Migrated).
    ///
    /// A repeated migration to the same id is answered with the run that it made, and the function is not run
    /// again.
    ///
    /// # Errors
    ///
    /// [`MigrateError`]: nothing was changed, unless it is [`MigrateError::Unavailable`] and says that this is not
    /// known. Then it can be asked for again.
    pub async fn migrate<X, F: MigrationFn<X>>(
        &self,
        id: impl TryInto<RunId, Error: Into<InvalidId>>,
        migration: F,
        to: impl TryInto<RunId, Error: Into<InvalidId>>,
    ) -> Result<RunHandle<<F::M as Migration>::To>, MigrateError> {
        let _ = migration;
        let (id, to) = (
            id.try_into().map_err(Into::into)?,
            to.try_into().map_err(Into::into)?,
        );
        let run = self.migrate_by(id, MigrationDefinition::of::<F::M>(), to);
        Ok(RunHandle::new(Arc::clone(&self.shared), run.await?))
    }

    /// Moves a run by the migration called `name`, which was given to the builder
    /// ([`Builder::migration`](crate::Builder::migration)), for who has no types: a command line, an admin page.
    /// Gives the new run.
    ///
    /// # Errors
    ///
    /// As [`migrate`](Self::migrate), and [`MigrateError::UnknownMigration`].
    pub async fn migrate_named(
        &self,
        id: RunId,
        name: &str,
        to: RunId,
    ) -> Result<RunKey, MigrateError> {
        let definition = self.shared.registry.migration(name)?;
        self.migrate_by(id, definition, to).await
    }

    async fn migrate_by(
        &self,
        id: RunId,
        migration: MigrationDefinition,
        to: RunId,
    ) -> Result<RunKey, MigrateError> {
        let run = RunKey::new(self.namespace.clone(), id);
        migrate(&self.shared, Wish { run, migration, to }).await
    }
}

async fn migrate(shared: &Arc<Shared>, wish: Wish) -> Result<RunKey, MigrateError> {
    for _ in 0..TRIES {
        let plan = match look(shared, wish.clone()).await? {
            Looked::Done => return Ok(wish.new_run()),
            Looked::Plan(plan) => plan,
        };
        let (reply, answer) = oneshot::channel();
        let request = MigrateRequest {
            run: wish.run.clone(),
            plan,
            reply,
        };
        shared.tell(&wish.run, Message::Migrate(request));
        let answer = answer.await.unwrap_or(Err(Unavailable::Stopped));
        match answer.map_err(MigrateError::Unavailable)? {
            MigrateReply::Done => return Ok(wish.new_run()),
            MigrateReply::Exists => {
                let run = wish.new_run();
                return Err(MigrateError::TargetExists { run });
            }
            MigrateReply::Moved => {}
        }
    }
    Err(MigrateError::Moving {
        run: wish.run,
        tries: TRIES,
    })
}

/// On a thread that may wait for the disk, and for the migration.
async fn look(shared: &Arc<Shared>, wish: Wish) -> Result<Looked, MigrateError> {
    let there = Arc::clone(shared);
    let looking = shared
        .tokio
        .spawn_blocking(move || wish.look(&*there.store, &there.registry));
    match looking.await {
        Ok(looked) => looked,
        Err(failed) if failed.is_panic() => std::panic::resume_unwind(failed.into_panic()),
        Err(_) => Err(MigrateError::Unavailable(Unavailable::Stopped)),
    }
}
