//! Reading what runs give out in streams (S28).

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use perennial::value::{DecodeError, Value};
use perennial::{Data, RunKey, Stream, Timestamp};
use serde::{Deserialize, Serialize};

use super::{StreamError, kept_head, read};
use crate::engine::{Follower, Shared};
use crate::error::ReadError;
use crate::store::{Store, StreamItem, StreamRange};

/// An item of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Item<T> {
    /// Its number in the stream, from 1 and without gaps: where to go on [after](Items::after).
    pub number: u64,
    /// The time of what led to it: of what the run was told when it gave it out.
    pub at: Timestamp,
    /// The item.
    pub value: T,
}

/// The items of a stream of a run, in their order, each once: those that there are, and then each new one as soon as
/// it is durable, until the run has ended (B17). It holds nobody up and changes nothing, whether the run is in memory
/// or not (O20).
///
/// It is read with [`next`](Self::next), and is a [`futures_core::Stream`] too, so that it can be filtered and
/// merged: the numbers of what was left out are not missed, and whoever goes on later says which was the
/// last (B16).
///
/// ```no_run
/// # use perennial::prelude::*;
/// # use perennial_runtime::{Client, StreamError};
/// const OUTPUT: Stream<String> = Stream::new("output");
///
/// # async fn show(client: &Client, run: &RunId, seen: u64) -> Result<(), StreamError> {
/// let mut items = client.stream(run, OUTPUT).after(seen);
/// while let Some(item) = items.next().await {
///     let item = item?;
///     println!("{}: {}", item.number, item.value);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "items come when they are asked for with `next`"]
pub struct Items<T> {
    place: Place,
    page: VecDeque<StreamItem>,
    reader: Reader,
    decode: fn(&Value) -> Result<T, DecodeError>,
}

/// What is read, and from where on.
#[derive(Clone, Debug)]
struct Place {
    shared: Arc<Shared>,
    run: RunKey,
    stream: String,
    after: u64,
    waits: bool,
}

type Reading = dyn Future<Output = (Follower, Result<Vec<StreamItem>, StreamError>)> + Send;

enum Reader {
    /// Nothing was read yet.
    New,
    Rests(Follower),
    Reads(Pin<Box<Reading>>),
    Ended,
}

/// So many items are read at once.
const PAGE: usize = 64;

impl<T: Data> Items<T> {
    pub(super) fn new(shared: Arc<Shared>, run: RunKey, stream: Stream<T>) -> Self {
        Self {
            place: Place {
                shared,
                run,
                stream: stream.name().to_owned(),
                after: 0,
                waits: true,
            },
            page: VecDeque::new(),
            reader: Reader::New,
            decode: T::from_value,
        }
    }
}

impl Items<Value> {
    pub(crate) fn json(shared: Arc<Shared>, run: RunKey, stream: &str) -> Self {
        Self {
            place: Place {
                shared,
                run,
                stream: stream.to_owned(),
                after: 0,
                waits: true,
            },
            page: VecDeque::new(),
            reader: Reader::New,
            decode: |value| Ok(value.clone()),
        }
    }
}

impl<T> Items<T> {
    /// Only items with greater numbers: what comes after the last one that was seen. Without it, or after 0, all that
    /// are kept.
    pub fn after(mut self, number: u64) -> Self {
        self.place.after = number;
        self
    }

    /// Ends where it would wait for more.
    pub fn no_wait(mut self) -> Self {
        self.place.waits = false;
        self
    }

    /// The next item; `None` when the run has ended and all were given. To drop the future of it loses nothing: the
    /// next call gives the same item.
    ///
    /// # Errors
    ///
    /// [`StreamError`]. After [`StreamError::Undecodable`] the next call gives the item after that; after any other
    /// there are no more.
    pub async fn next(&mut self) -> Option<Result<Item<T>, StreamError>> {
        poll_fn(|context| self.poll_item(context)).await
    }

    /// The next item, if it was read already.
    pub(crate) fn at_hand(&mut self) -> Option<Result<Item<T>, StreamError>> {
        let item = self.page.pop_front()?;
        self.place.after = item.number;
        Some(self.decoded(item))
    }

    fn poll_item(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Item<T>, StreamError>>> {
        loop {
            if let Some(item) = self.at_hand() {
                return Poll::Ready(Some(item));
            }
            match &mut self.reader {
                Reader::Ended => return Poll::Ready(None),
                Reader::Reads(reading) => {
                    let (follower, page) = ready!(reading.as_mut().poll(context));
                    self.reader = Reader::Rests(follower);
                    match page {
                        Ok(page) if page.is_empty() => self.reader = Reader::Ended,
                        Ok(page) => self.page = page.into(),
                        Err(error) => {
                            self.reader = Reader::Ended;
                            return Poll::Ready(Some(Err(error)));
                        }
                    }
                }
                Reader::New | Reader::Rests(_) => {
                    let place = self.place.clone();
                    let follower = match std::mem::replace(&mut self.reader, Reader::Ended) {
                        Reader::Rests(follower) => follower,
                        _ => place.shared.observers.follow(&place.run),
                    };
                    self.reader = Reader::Reads(Box::pin(place.next_page(follower)));
                }
            }
        }
    }

    fn decoded(&self, item: StreamItem) -> Result<Item<T>, StreamError> {
        let StreamItem {
            number, at, value, ..
        } = item;
        match (self.decode)(&value) {
            Ok(value) => Ok(Item { number, at, value }),
            Err(error) => Err(StreamError::Undecodable {
                run: self.place.run.clone(),
                stream: self.place.stream.clone(),
                number,
                error,
            }),
        }
    }
}

impl<T> futures_core::Stream for Items<T> {
    type Item = Result<Item<T>, StreamError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_item(context)
    }
}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items")
            .field("run", &self.place.run.to_string())
            .field("stream", &self.place.stream)
            .field("after", &self.place.after)
            .finish_non_exhaustive()
    }
}

impl Place {
    /// Waits for a page with something on it. An empty one: nothing more comes.
    async fn next_page(
        self,
        mut follower: Follower,
    ) -> (Follower, Result<Vec<StreamItem>, StreamError>) {
        loop {
            follower.look();
            let place = self.clone();
            let looked = read(&self.shared, move |shared| place.look(shared)).await;
            match looked {
                Err(error) => return (follower, Err(error.into())),
                Ok(Looked::Missed { first }) => {
                    let missed = StreamError::Missed {
                        run: self.run,
                        stream: self.stream,
                        after: self.after,
                        first,
                    };
                    return (follower, Err(missed));
                }
                Ok(Looked::Nothing { ended }) if ended || !self.waits => {
                    return (follower, Ok(Vec::new()));
                }
                Ok(Looked::Nothing { .. }) => {
                    if let Err(error) = follower.changed().await {
                        return (follower, Err(StreamError::Read(error.into())));
                    }
                }
                Ok(Looked::Page(page)) => return (follower, Ok(page)),
            }
        }
    }

    fn look(&self, shared: &Shared) -> Result<Looked, ReadError> {
        look(&*shared.store, &self.run, &self.stream, self.after, PAGE)
    }
}

/// What there is in the store. The run itself is not asked.
fn look(
    store: &dyn Store,
    run: &RunKey,
    stream: &str,
    after: u64,
    limit: usize,
) -> Result<Looked, ReadError> {
    loop {
        let head = kept_head(store, run)?;
        let ended = head.status.is_finished();
        let mut streams = head.streams.iter();
        let Some(range) = streams.find(|range| range.name == stream) else {
            return Ok(Looked::Nothing { ended });
        };
        if after > 0 && after.saturating_add(1) < range.first {
            let first = range.first;
            return Ok(Looked::Missed { first });
        }
        let page = store.stream(run, stream, after, limit)?;
        if !page.is_empty() {
            return Ok(Looked::Page(page));
        }
        if range.last.max(after) == after || range.first > range.last {
            return Ok(Looked::Nothing { ended });
        }
        // It was purged between the two looks, and the next one says so.
    }
}

/// At most `limit` items that a store has after a number, and whether the run has ended where there are none.
pub(crate) fn stored_items(
    store: &dyn Store,
    run: &RunKey,
    stream: &str,
    after: u64,
    limit: usize,
) -> Result<(Vec<Item<Value>>, bool), StreamError> {
    match look(store, run, stream, after, limit)? {
        Looked::Page(page) => Ok((page.into_iter().map(Item::from).collect(), false)),
        Looked::Nothing { ended } => Ok((Vec::new(), ended)),
        Looked::Missed { first } => Err(StreamError::Missed {
            run: run.clone(),
            stream: stream.to_owned(),
            after,
            first,
        }),
    }
}

impl From<StreamItem> for Item<Value> {
    fn from(item: StreamItem) -> Self {
        let StreamItem {
            number, at, value, ..
        } = item;
        Self { number, at, value }
    }
}

enum Looked {
    Page(Vec<StreamItem>),
    Nothing { ended: bool },
    Missed { first: u64 },
}

/// The streams in which a run has given out items.
pub(super) async fn streams(
    shared: &Arc<Shared>,
    run: RunKey,
) -> Result<Vec<StreamRange>, ReadError> {
    read(shared, move |shared| match shared.store.head(&run)? {
        Some(head) => Ok(head.streams),
        None => Err(ReadError::NotFound { run }),
    })
    .await
}
