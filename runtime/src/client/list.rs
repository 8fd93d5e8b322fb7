//! Lists of runs.

use std::sync::Arc;

use perennial::{Namespace, RunId, RunKey};
use serde::{Deserialize, Serialize};

use super::{RunInfo, read};
use crate::engine::Shared;
use crate::error::ReadError;
use crate::store::{ListQuery, Status, Store};

/// A list of runs, to be narrowed and then asked for page by page. See
/// [`Client::list`](super::Client::list).
#[derive(Clone, Debug)]
#[must_use = "a list is read with `page`"]
pub struct List {
    shared: Arc<Shared>,
    query: ListQuery,
    cursor: Option<String>,
}

/// A page of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunPage {
    /// The runs, in the order of their ids.
    pub runs: Vec<RunInfo>,
    /// Where the next page begins; `None`: this is the last.
    pub next: Option<String>,
}

/// How many runs a page has where nothing else is asked for.
const PAGE: usize = 100;
/// How many it may have.
const MOST: usize = 10_000;

impl List {
    pub(super) fn new(shared: Arc<Shared>, namespace: Namespace) -> Self {
        Self {
            shared,
            query: ListQuery {
                namespace,
                limit: PAGE,
                ..ListQuery::default()
            },
            cursor: None,
        }
    }

    /// Only runs of the workflow of this name.
    pub fn workflow(mut self, name: impl Into<String>) -> Self {
        self.query.workflow = Some(name.into());
        self
    }

    /// Only runs that stand like this. A blocked run counts as running.
    pub fn status(mut self, status: Status) -> Self {
        self.query.status = Some(status);
        self
    }

    /// Only runs that are blocked (`true`), or only those that are not. Blocked ones stand in an index, so that
    /// they are found without a look at the others.
    pub fn blocked(mut self, blocked: bool) -> Self {
        self.query.blocked = Some(blocked);
        self
    }

    /// Only runs that are [paused](super::Client::pause) (`true`), or only those that are not.
    pub fn paused(mut self, paused: bool) -> Self {
        self.query.paused = Some(paused);
        self
    }

    /// Only runs whose ids begin with `prefix`.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.query.prefix = prefix.into();
        self
    }

    /// At most so many runs a page: 1 to 10,000. Default: 100.
    pub fn limit(mut self, limit: usize) -> Self {
        self.query.limit = limit.clamp(1, MOST);
        self
    }

    /// Begins where the page before ended: its `next`.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    /// Reads the page. A run that appears or goes meanwhile does not shift the others.
    ///
    /// # Errors
    ///
    /// [`ReadError::InvalidCursor`], [`ReadError::Unavailable`].
    pub async fn page(&self) -> Result<RunPage, ReadError> {
        let Self {
            shared,
            mut query,
            cursor,
        } = self.clone();
        query.after = after(cursor)?;
        read(&shared, move |shared| page(&*shared.store, query)).await
    }
}

/// Where a page begins. A cursor is the id of the last run of the page before, and may be of one that is gone.
pub(crate) fn after(cursor: Option<String>) -> Result<Option<RunId>, ReadError> {
    let Some(cursor) = cursor else {
        return Ok(None);
    };
    match RunId::new(&cursor) {
        Ok(after) => Ok(Some(after)),
        Err(_) => Err(ReadError::InvalidCursor { cursor }),
    }
}

/// How many of something a page may have where so many are asked for; 0: where nothing is said.
pub(crate) fn limit(asked: usize) -> usize {
    match asked {
        0 => PAGE,
        asked => asked.min(MOST),
    }
}

/// A page of runs, with what they are blocked with.
pub(crate) fn page(store: &dyn Store, query: ListQuery) -> Result<RunPage, ReadError> {
    let page = store.list(&query)?;
    let last = page.runs.last().filter(|_| page.more);
    let next = last.map(|(id, _)| id.to_string());
    let runs = page.runs.into_iter().map(|(id, head)| {
        let run = RunKey::new(query.namespace.clone(), id);
        let errors = if head.blocked {
            store.blocked(&run)?
        } else {
            Vec::new()
        };
        Ok(RunInfo::new(run, head, errors))
    });
    Ok(RunPage {
        runs: runs.collect::<Result<_, ReadError>>()?,
        next,
    })
}
