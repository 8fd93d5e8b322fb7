//! What the store is asked to do, handed to the writer, or read.

use std::path::Path;

use perennial::history::Unit;
use perennial::{Namespace, RunId, RunKey, Timestamp};

use super::writer::Write;
use super::{Durability, SLICE, SledStore, blocked, offers, programs, read, sends, streams, views};
use crate::profile::{self, Profile};
use crate::store::StoreError;
use crate::store::blocked::BlockedRecord;
use crate::store::contract::{Ack, Commit, Create, Created, Deliver, Head, Loaded, Owner, Store};
use crate::store::inbox::{Delivered, KeyKind, KeyRecord};
use crate::store::list::{ListQuery, Page};
use crate::store::migrate::Migrate;
use crate::store::offers::{Offer, Waiting};
use crate::store::program::ProgramRecord;
use crate::store::purge::{FinishedRun, Progress, Purge, Remains};
use crate::store::restore::Restore;
use crate::store::slots::Committed;
use crate::store::stream::StreamItem;
use crate::store::tasks::{AttemptRecord, DueTimer};
use crate::store::view::ViewRecord;

impl Store for SledStore {
    fn folder(&self) -> Option<&Path> {
        Some(&self.folder)
    }

    fn profile(&self) -> Profile {
        Profile {
            durability: match self.durability {
                Durability::Sync => profile::Durability::Device,
                Durability::Os => profile::Durability::Process,
            },
            scheduling: profile::Scheduling::Listed,
            timer: profile::Timer::Listed,
            lease: profile::Lease::OneProcess,
            replay: profile::Replay::Checked,
            retention: profile::Retention::Purged,
            encryption: profile::Encryption::NotOffered,
            tenancy: profile::Tenancy::Namespaces,
            recovery: profile::Recovery::Whole,
            observation: profile::Observation::Acknowledged,
            bounds: profile::Bounds::default(),
        }
    }

    fn enroll(&self) -> Result<Owner, StoreError> {
        self.wait_for(Write::Enroll)
    }

    fn create(&self, create: Create, ack: Ack<Created>) {
        self.hand_over(Write::Create(Box::new(create), ack));
    }

    fn commit(&self, commit: Commit, ack: Ack<Committed>) {
        self.hand_over(Write::Commit(Box::new(commit), ack));
    }

    /// Written within this call, unless somebody is writing: who hands over a batch has nothing else to do.
    fn commit_all(&self, commits: Vec<(Commit, Ack<Committed>)>) {
        let (count, writes) = (commits.len(), commits.into_iter());
        self.line
            .queue
            .put(writes.map(|(commit, ack)| Write::Commit(Box::new(commit), ack)));
        self.line.lead(count);
    }

    /// Marks the last commit as acknowledged, in case damage to it would pass for a commit that came to nothing.
    fn at_rest(&self) {
        self.line.tidy();
    }

    fn deliver(&self, deliver: Deliver, ack: Ack<Delivered>) {
        self.hand_over(Write::Deliver(Box::new(deliver), ack));
    }

    fn claim(&self, run: RunKey, owner: Owner, ack: Ack<Head>) {
        self.hand_over(Write::Claim(run, owner, ack));
    }

    fn migrate(&self, migrate: Migrate, ack: Ack<Created>) {
        self.hand_over(Write::Migrate(Box::new(migrate), ack));
    }

    fn purge(&self, purge: Purge, ack: Ack<Progress>) {
        self.hand_over(Write::Purge(Box::new(purge), ack));
    }

    fn restore(&self, restore: Restore, ack: Ack<Progress>) {
        self.hand_over(Write::Restore(Box::new(restore), ack));
    }

    fn record_program(&self, program: ProgramRecord, ack: Ack<()>) {
        self.hand_over(Write::Program(Box::new(program), ack));
    }

    fn programs(&self) -> Result<Vec<ProgramRecord>, StoreError> {
        self.shared.overlay.read(programs::read)
    }

    fn head(&self, run: &RunKey) -> Result<Option<Head>, StoreError> {
        self.shared.overlay.read(|view| read::head(view, run))
    }

    fn load(&self, run: &RunKey) -> Result<Option<Loaded>, StoreError> {
        self.shared.overlay.read(|view| read::load(view, run))
    }

    fn blocked(&self, run: &RunKey) -> Result<Vec<BlockedRecord>, StoreError> {
        self.shared.overlay.read(|view| blocked::records(view, run))
    }

    fn key(&self, run: &RunKey, kind: KeyKind, key: &str) -> Result<Option<KeyRecord>, StoreError> {
        let overlay = &self.shared.overlay;
        overlay.read(|view| sends::find(view, run, kind, key))
    }

    fn keys(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<KeyRecord>, StoreError> {
        let mut found: Vec<KeyRecord> = Vec::new();
        loop {
            let after = found.last().map_or(after, |last| last.arrival);
            let most = (limit - found.len()).min(SLICE);
            let page = self
                .shared
                .overlay
                .read(|view| sends::page(view, run, after, most))?;
            let full = page.len() == SLICE;
            found.extend(page);
            if !full || found.len() == limit {
                return Ok(found);
            }
        }
    }

    fn view(&self, run: &RunKey, name: &str) -> Result<Option<ViewRecord>, StoreError> {
        self.shared.overlay.read(|view| views::one(view, run, name))
    }

    fn views(&self, run: &RunKey) -> Result<Vec<ViewRecord>, StoreError> {
        self.shared
            .overlay
            .read(|view| match read::head(view, run)? {
                Some(head) => views::all(view, run, &head),
                None => Ok(Vec::new()),
            })
    }

    fn stream(
        &self,
        run: &RunKey,
        name: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<StreamItem>, StoreError> {
        let mut found: Vec<StreamItem> = Vec::new();
        loop {
            let after = found.last().map_or(after, |last| last.number);
            let most = (limit - found.len()).min(SLICE);
            let page = self
                .shared
                .overlay
                .read(|view| streams::page(view, run, name, after, most))?;
            let full = page.len() == SLICE;
            found.extend(page);
            if !full || found.len() == limit {
                return Ok(found);
            }
        }
    }

    fn offer(&self, run: &RunKey, operation: u64) -> Result<Option<Offer>, StoreError> {
        self.shared
            .overlay
            .read(|view| offers::one(view, run, operation))
    }

    fn offers(&self, run: &RunKey, after: u64, limit: usize) -> Result<Vec<Offer>, StoreError> {
        let mut found: Vec<Offer> = Vec::new();
        loop {
            let after = found.last().map_or(after, |last| last.operation);
            let most = (limit - found.len()).min(SLICE);
            let page = self
                .shared
                .overlay
                .read(|view| offers::page(view, run, after, most))?;
            let full = page.len() == SLICE;
            found.extend(page);
            if !full || found.len() == limit {
                return Ok(found);
            }
        }
    }

    fn waiting(
        &self,
        namespace: &Namespace,
        after: Option<(&RunId, u64)>,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError> {
        let mut found = Vec::new();
        let mut from = Some(offers::waiting_start(namespace, after));
        while from.is_some() {
            self.shared
                .overlay
                .read(|view| offers::waiting(view, namespace, limit, &mut from, &mut found))?;
        }
        Ok(found)
    }

    fn history(
        &self,
        run: &RunKey,
        generation: u64,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Unit>, StoreError> {
        // It only grows, or is purged meanwhile: then there is nothing.
        let (mut units, mut from, mut expected) = (Vec::new(), from, 0);
        loop {
            let most = (limit - units.len()).min(SLICE);
            let (page, end) = self
                .shared
                .overlay
                .read(|view| read::history(view, run, generation, from, most))?;
            if end < expected {
                return Ok(Vec::new());
            }
            expected = end;
            let full = page.len() == SLICE;
            if units.is_empty() {
                units = page;
            } else {
                units.extend(page);
            }
            match units.last().filter(|_| full && units.len() < limit) {
                Some(last) => from = last.last() + 1,
                None => return Ok(units),
            }
        }
    }

    fn attempts(&self, run: &RunKey, generation: u64) -> Result<Vec<AttemptRecord>, StoreError> {
        self.shared
            .overlay
            .read(|view| read::attempts(view, run, generation))
    }

    fn due(&self, after: Option<&DueTimer>, limit: usize) -> Result<Vec<DueTimer>, StoreError> {
        let mut due: Vec<DueTimer> = Vec::new();
        loop {
            let most = (limit - due.len()).min(SLICE);
            let after = due.last().or(after);
            let page = self
                .shared
                .overlay
                .read(|view| read::due(view, after, most))?;
            let full = page.len() == SLICE;
            due.extend(page);
            if !full || due.len() == limit {
                return Ok(due);
            }
        }
    }

    fn claimable(
        &self,
        artifact: &str,
        after: Option<&RunKey>,
        limit: usize,
    ) -> Result<Vec<RunKey>, StoreError> {
        let (mut found, mut from) = (Vec::new(), Some(read::claimable_start(after)));
        while from.is_some() {
            self.shared
                .overlay
                .read(|view| read::claimable(view, artifact, limit, &mut from, &mut found))?;
        }
        Ok(found)
    }

    fn finished(
        &self,
        remains: Remains,
        before: Timestamp,
        after: Option<&FinishedRun>,
        limit: usize,
    ) -> Result<Vec<FinishedRun>, StoreError> {
        self.shared
            .overlay
            .read(|view| read::finished(view, remains, before, after, limit))
    }

    fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        let mut page = Page::default();
        let blocked = query.blocked == Some(true);
        let start = if blocked {
            blocked::start(query)
        } else {
            read::list_start(query)
        };
        let mut from = Some(start);
        while from.is_some() {
            self.shared.overlay.read(|view| {
                if blocked {
                    blocked::list(view, query, &mut from, &mut page)
                } else {
                    read::list(view, query, &mut from, &mut page)
                }
            })?;
        }
        Ok(page)
    }

    fn namespaces(
        &self,
        after: Option<&Namespace>,
        limit: usize,
    ) -> Result<Vec<Namespace>, StoreError> {
        self.shared
            .overlay
            .read(|view| read::namespaces(view, after, limit))
    }

    fn close(&self) -> Result<(), StoreError> {
        self.wait_for(Write::Close)
    }
}
