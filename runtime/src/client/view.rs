//! Reading what runs show of themselves (S28).

use std::fmt;
use std::sync::Arc;

use perennial::value::{DecodeError, Value};
use perennial::{Data, RunKey, Timestamp, View};
use serde::Serialize;

use super::read;
use crate::engine::{Follower, Shared};
use crate::error::ReadError;
use crate::store::ViewRecord;

/// What a view of a run shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Viewed<T> {
    /// The value that the run has set last.
    pub value: T,
    /// The time of what led to it: of what the run was told when it set the value, or where another program has
    /// published the value again, when that was. What had waited for a program came before the value was published.
    pub at: Timestamp,
    /// The number of the last event that it takes into account.
    pub event: u64,
    /// The program that has published it.
    pub artifact: String,
    /// The run is blocked: more has come in that no program could tell it, and the value is from before (S16).
    pub stale: bool,
}

/// Why a view cannot be read.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ViewError {
    /// The run is not there, was purged, or the store could not be read.
    Read(ReadError),
    /// The value is not of the type that it is read as.
    Undecodable(Box<UndecodableView>),
}

/// A value that is not of the type that it is read as.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UndecodableView {
    /// The run.
    pub run: RunKey,
    /// The name of the view.
    pub view: String,
    /// The type that it was published as, as the compiler of that program called it.
    pub published_as: String,
    /// The program that has published it.
    pub artifact: String,
    /// What does not fit.
    pub error: DecodeError,
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Undecodable(undecodable) => {
                let UndecodableView {
                    run,
                    view,
                    published_as,
                    artifact,
                    error,
                } = &**undecodable;
                write!(
                    f,
                    "view \"{}\" of run {run} is not of the type that it is read as: {error}; {} has published it \
                     as `{}`\n\n\
                     help: read it as that program does, or as JSON, with `client.view_json(..)`; the program that goes \
                     on with the run publishes it again as its own type",
                    view.escape_debug(),
                    artifact.escape_debug(),
                    published_as.escape_debug()
                )
            }
        }
    }
}

/// As its text: a `main` that returns an error shows it like this.
impl fmt::Debug for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ViewError {}

impl From<ReadError> for ViewError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

type Decode<T> = fn(&Value) -> Result<T, DecodeError>;

/// What the store has of a view, how the run stands, and whether that is all.
struct Looked {
    record: Option<ViewRecord>,
    stale: bool,
    ended: bool,
}

/// In the store: the run itself is not asked.
async fn look(shared: &Arc<Shared>, run: &RunKey, name: &str) -> Result<Looked, ReadError> {
    let (run, name) = (run.clone(), name.to_owned());
    read(shared, move |shared| {
        // The record is no older than the head then, whatever is written meanwhile.
        let Some(head) = shared.store.head(&run)? else {
            return Err(ReadError::NotFound { run });
        };
        if let Some(purged) = head.purged {
            let at = purged.at;
            return Err(ReadError::Purged { run, at });
        }
        let ended = head.status.is_finished();
        Ok(Looked {
            record: shared.store.view(&run, &name)?,
            stale: head.blocked && !ended,
            ended,
        })
    })
    .await
}

fn decoded<T>(
    run: &RunKey,
    record: ViewRecord,
    stale: bool,
    decode: Decode<T>,
) -> Result<Viewed<T>, ViewError> {
    let ViewRecord {
        name,
        value,
        data,
        artifact,
        at,
        event,
    } = record;
    match decode(&value) {
        Ok(value) => Ok(Viewed {
            value,
            at,
            event,
            artifact,
            stale,
        }),
        Err(error) => Err(ViewError::Undecodable(Box::new(UndecodableView {
            run: run.clone(),
            view: name,
            published_as: data,
            artifact,
            error,
        }))),
    }
}

/// What a view shows now.
pub(super) async fn view<T>(
    shared: Arc<Shared>,
    run: RunKey,
    name: String,
    decode: Decode<T>,
) -> Result<Option<Viewed<T>>, ViewError> {
    let Looked { record, stale, .. } = look(&shared, &run, &name).await?;
    let shown = record.map(|record| decoded(&run, record, stale, decode));
    shown.transpose()
}

pub(super) async fn json(
    shared: Arc<Shared>,
    run: RunKey,
    name: String,
) -> Result<Option<Viewed<Value>>, ViewError> {
    view(shared, run, name, |value| Ok(value.clone())).await
}

/// All views of a run.
pub(super) async fn views(shared: &Arc<Shared>, run: RunKey) -> Result<Vec<ViewRecord>, ReadError> {
    read(shared, move |shared| {
        match shared.store.head(&run)? {
            None => return Err(ReadError::NotFound { run }),
            Some(head) => {
                if let Some(purged) = head.purged {
                    let at = purged.at;
                    return Err(ReadError::Purged { run, at });
                }
            }
        }
        Ok(shared.store.views(&run)?)
    })
    .await
}

/// Follows a view: what it shows, and then what it shows whenever that has changed. Whoever is slow gets the newest
/// value and not those between. See [`Client::watch`](super::Client::watch).
#[must_use = "values come when they are asked for with `next`"]
pub struct Watch<T> {
    shared: Arc<Shared>,
    run: RunKey,
    name: String,
    decode: Decode<T>,
    follower: Follower,
    seen: Option<(ViewRecord, bool)>,
    ended: bool,
}

impl<T: Data> Watch<T> {
    pub(super) fn new(shared: Arc<Shared>, run: RunKey, view: View<T>) -> Self {
        Self {
            follower: shared.observers.follow(&run),
            shared,
            run,
            name: view.name().to_owned(),
            decode: T::from_value,
            seen: None,
            ended: false,
        }
    }
}

impl Watch<Value> {
    pub(crate) fn json(shared: Arc<Shared>, run: RunKey, view: &str) -> Self {
        Self {
            follower: shared.observers.follow(&run),
            shared,
            run,
            name: view.to_owned(),
            decode: |value| Ok(value.clone()),
            seen: None,
            ended: false,
        }
    }
}

impl<T> Watch<T> {
    /// What the view shows, once that is something else than the last time; `None` when the run has ended and all was
    /// given. To drop the future of it loses nothing.
    ///
    /// # Errors
    ///
    /// [`ViewError`]. After [`ViewError::Undecodable`] it goes on with the next value, after any other there are no
    /// more.
    pub async fn next(&mut self) -> Option<Result<Viewed<T>, ViewError>> {
        Some(match self.next_record().await? {
            Ok((record, stale)) => decoded(&self.run, record, stale, self.decode),
            Err(error) => Err(ViewError::Read(error)),
        })
    }

    /// The same as the store has it, and whether it is stale.
    pub(crate) async fn next_record(&mut self) -> Option<Result<(ViewRecord, bool), ReadError>> {
        loop {
            if self.ended {
                return None;
            }
            self.follower.look();
            let looked = match look(&self.shared, &self.run, &self.name).await {
                Ok(looked) => looked,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            };
            let now = looked.record.map(|record| (record, looked.stale));
            if now != self.seen {
                self.seen.clone_from(&now);
                if let Some(shown) = now {
                    return Some(Ok(shown));
                }
            }
            if looked.ended {
                self.ended = true;
                return None;
            }
            if let Err(error) = self.follower.changed().await {
                self.ended = true;
                return Some(Err(error.into()));
            }
        }
    }
}

impl<T> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("run", &self.run.to_string())
            .field("view", &self.name)
            .finish_non_exhaustive()
    }
}
