//! A run is ended and another one made, by one write: what both come to is in one frame of the journal.

use super::effects::Effects;
use super::resolve::{change, change_offers};
use super::writer::{Drain, Resolution, Writer};
use crate::store::contract::Created;
use crate::store::migrate::{self, Migrate, Migration};
use crate::store::slots::Committed;
use crate::store::{Refusal, StoreError};

impl Writer {
    pub(super) fn resolve_migrate(
        &mut self,
        drain: &Drain,
        migrate: &Migrate,
    ) -> Result<Resolution<Created>, StoreError> {
        let (old, new) = (&migrate.end.run, migrate.new_run());
        let before = self.record(drain, old)?;
        let there = self.record(drain, &new)?;
        let resolved = migrate::migrate(
            before.as_ref().map(|record| &record.head),
            there.as_ref().map(|record| &record.head),
            migrate,
        )?;
        let (mut end, mut begin) = match resolved {
            Migration::Done(head) => return Ok(Resolution::nothing(Created::Exists(*head))),
            Migration::New { end, begin } => (*end, *begin),
        };
        if self.restoring(drain, &new)?.is_some() {
            return Err(StoreError::Refused(Refusal::Restoring { run: new }));
        }
        let (step, ended, begun, attempts) = self.shared.overlay.read(|view| {
            let mut effects = Effects::new(view, &drain.changed, drain.commit, drain.next_chunk);
            self.change_runs(&mut effects, 1);
            let changes = &migrate.end.changes;
            let head = before.as_ref().map(|record| &record.head);
            change_offers(&effects, old, head, &mut end, changes)?;
            change_offers(&effects, &new, None, &mut begin, &migrate.begin)?;
            let (ended, attempts) = change(&mut effects, drain, old, before, end, changes)?;
            let (begun, more) = change(&mut effects, drain, &new, None, begin, &migrate.begin)?;
            Ok((effects.finish(), ended, begun, attempts + more))
        })?;
        let answer = Created::New(begun.head.clone(), Committed::default());
        Ok(Resolution {
            step,
            also: vec![(new, begun)],
            attempts,
            runs: 1,
            ..Resolution::nothing(answer)
        }
        .with_record(old, ended))
    }
}
