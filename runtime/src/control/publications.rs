//! What runs give out and show.

use perennial::RunKey;
use perennial::value::Value;
use serde::{Deserialize, Serialize};

use super::refused::Refused;
use super::room::{size, within_room};
use crate::client::{self, Item, StreamError};
use crate::error::ReadError;
use crate::store::{Store, ViewRecord};

/// What a run has given out in a stream: see [`Client::stream_json`](crate::Client::stream_json).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadStream {
    /// The run.
    pub run: RunKey,
    /// The name of the stream.
    pub stream: String,
    /// Only items with greater numbers; 0: all that are kept.
    #[serde(default)]
    pub after: u64,
    /// At most so many; 0: 100.
    #[serde(default)]
    pub limit: usize,
}

/// Items of a stream, in their order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ItemPage {
    /// The items.
    pub items: Vec<Item<Value>>,
    /// Whether there are more after the last of them. While a stream is followed there may always be.
    pub more: bool,
}

/// What a run shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Views {
    /// The views, in the order in which the run has set them first; none where it has not set what was asked for.
    pub views: Vec<ViewRecord>,
    /// The run is blocked: more has come in that no program could tell it, and they are from before (S16).
    pub stale: bool,
}

/// A page of a stream, as a store has it.
pub(super) fn items(store: &dyn Store, read: &ReadStream) -> Result<ItemPage, Refused> {
    let ReadStream {
        run,
        stream,
        after,
        limit,
    } = read;
    let limit = client::page_limit(*limit);
    // One more, to know whether there are more.
    let (mut items, _) = client::stored_items(store, run, stream, *after, limit + 1)?;
    let mut more = items.len() > limit;
    items.truncate(limit);
    let all = items.len();
    let items = within_room(items, size);
    more |= items.len() < all;
    Ok(ItemPage { items, more })
}

/// What a run shows, as a store has it, and whether it has ended.
pub(super) fn views(
    store: &dyn Store,
    run: &RunKey,
    name: Option<&str>,
) -> Result<(Views, bool), ReadError> {
    // What the views show is no older than the head then, whatever is written meanwhile.
    let head = client::kept_head(store, run)?;
    let ended = head.status.is_finished();
    let views = match name {
        Some(name) => store.view(run, name)?.into_iter().collect(),
        None => store.views(run)?,
    };
    let stale = head.blocked && !ended;
    Ok((Views { views, stale }, ended))
}

impl From<StreamError> for Refused {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Read(error) => error.into(),
            StreamError::Missed { first, .. } => Self {
                kept_after: Some(first.saturating_sub(1)),
                ..Self::new(Self::ITEMS_MISSED, error)
            },
            // Items as JSON are of any type.
            StreamError::Undecodable { .. } => Self::new(Self::UNAVAILABLE, error),
        }
    }
}
