//! Following what a run gives out or shows: each thing is handed on once it is durable (S4, S28). Nobody asks again and
//! again.

use perennial::RunKey;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::publications::{self, ItemPage, ReadStream, Views};
use super::refused::Refused;
use super::request::Answer;
use crate::client::StreamError;
use crate::error::ReadError;
use crate::store::Store;

/// What can be followed. On the socket it is a line as a request is, `{"follow":{"stream":{..}}}`, and answered with
/// any number of [`Answer::Items`] or [`Answer::Views`] and then with [`Answer::Ended`] or a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Follow {
    /// The items of a stream: those that there are, and each new one, until the run has ended.
    Stream {
        /// The run.
        run: RunKey,
        /// The name of the stream.
        stream: String,
        /// Only items with greater numbers; 0: all that are kept.
        #[serde(default)]
        after: u64,
    },
    /// What a view shows, and what it shows whenever that has changed, until the run has ended. Who is slow gets the
    /// newest value and not those between.
    View {
        /// The run.
        run: RunKey,
        /// The name of the view.
        name: String,
    },
}

/// That nothing more comes of what was followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ended {
    /// Whether the run has ended. If not, more comes once a program goes on with it, or it was followed no longer
    /// than wished.
    pub finished: bool,
}

#[cfg(any(unix, test))]
impl Follow {
    /// The name of the line, as it stands in JSON.
    pub(super) const NAME: &str = "follow";
}

/// The line that asks for it.
#[cfg(any(unix, test))]
#[derive(Debug, Serialize)]
pub(super) struct FollowLine<'a> {
    pub(super) follow: &'a Follow,
}

/// Who follows.
pub(super) struct Listener<'a> {
    /// Hands on what there is. `false`: no more is taken.
    pub(super) tell: &'a mut dyn FnMut(Answer) -> bool,
    /// Resolved when nobody listens any more.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there is no socket"))]
    pub(super) gone: oneshot::Receiver<()>,
}

/// Why following was given up.
#[derive(Debug)]
pub(super) enum GivenUp {
    /// What comes cannot be had.
    Refused(Refused),
    /// It is not taken.
    NotTaken,
}

impl From<Refused> for GivenUp {
    fn from(error: Refused) -> Self {
        Self::Refused(error)
    }
}

impl From<ReadError> for GivenUp {
    fn from(error: ReadError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<StreamError> for GivenUp {
    fn from(error: StreamError) -> Self {
        Self::Refused(error.into())
    }
}

impl Listener<'_> {
    pub(super) fn items(&mut self, page: ItemPage) -> Result<(), GivenUp> {
        self.tell(Answer::Items(page))
    }

    pub(super) fn views(&mut self, views: Views) -> Result<(), GivenUp> {
        self.tell(Answer::Views(views))
    }

    fn tell(&mut self, answer: Answer) -> Result<(), GivenUp> {
        match (self.tell)(answer) {
            true => Ok(()),
            false => Err(GivenUp::NotTaken),
        }
    }
}

/// What there is in a store that no program has: more does not come.
pub(super) fn stored(
    store: &dyn Store,
    follow: Follow,
    mut listener: Listener<'_>,
) -> Result<Ended, GivenUp> {
    match follow {
        Follow::Stream { run, stream, after } => {
            let mut read = ReadStream {
                run,
                stream,
                after,
                limit: 0,
            };
            loop {
                let mut page = publications::items(store, &read)?;
                let Some(last) = page.items.last() else {
                    let head = store.head(&read.run).map_err(Refused::from)?;
                    let finished = head.is_some_and(|head| head.status.is_finished());
                    return Ok(Ended { finished });
                };
                read.after = last.number;
                page.more = true;
                listener.items(page)?;
            }
        }
        Follow::View { run, name } => {
            let (views, finished) = publications::views(store, &run, Some(&name))?;
            if !views.views.is_empty() {
                listener.views(views)?;
            }
            Ok(Ended { finished })
        }
    }
}

#[cfg(unix)]
pub(super) mod program {
    //! In a program that is at work.

    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::listen::FOLLOWERS;
    use super::*;
    use crate::client::{Items, Watch};
    use crate::engine::Shared;
    use crate::store::ViewRecord;

    /// So many items go into one answer.
    const PAGE: usize = 100;
    /// From so many bytes on an item goes into the next one.
    const ROOM: usize = 1 << 20;

    /// How many follow something.
    #[derive(Debug, Default)]
    pub(in super::super) struct Followers(AtomicUsize);

    /// One of them, until it is dropped.
    pub(in super::super) struct One<'a>(&'a AtomicUsize);

    impl Followers {
        pub(in super::super) fn one_more(&self) -> Result<One<'_>, Refused> {
            let one = One(&self.0);
            if self.0.fetch_add(1, Ordering::Relaxed) < FOLLOWERS {
                return Ok(one);
            }
            drop(one);
            Err(Refused::new(
                Refused::BUSY,
                format!(
                    "{FOLLOWERS} follow something through the program's control socket, which is as many as may\n\n\
                     help: try again when one of them has ended; `list`, `show` and the others are answered"
                ),
            ))
        }
    }

    impl Drop for One<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Until the run has ended, nobody listens any more, or the program is stopped.
    pub(in super::super) fn follow(
        shared: &Arc<Shared>,
        follow: Follow,
        mut listener: Listener<'_>,
    ) -> Result<Ended, GivenUp> {
        // What is left of it, and what a view has shown.
        let (mut left, mut last) = (follow.clone(), None);
        let following = async {
            match follow {
                Follow::Stream { run, stream, after } => {
                    let mut items = Items::json(Arc::clone(shared), run, &stream).after(after);
                    while let Some(page) = next_page(&mut items, &mut listener.gone).await? {
                        if let (Follow::Stream { after, .. }, Some(last)) =
                            (&mut left, page.items.last())
                        {
                            *after = last.number;
                        }
                        listener.items(page)?;
                    }
                }
                Follow::View { run, name } => {
                    let mut watch = Watch::json(Arc::clone(shared), run, &name);
                    while let Some(shown) = or_gone(&mut listener.gone, watch.next_record()).await {
                        let (record, stale) = shown?;
                        last = Some(record.clone());
                        let views = vec![record];
                        listener.views(Views { views, stale })?;
                    }
                }
            }
            // It was let go once it is gone, which a receiver tells only once.
            Ok(Ended {
                finished: !listener.gone.is_terminated(),
            })
        };
        let ended = shared.tokio.block_on(following);
        match ended {
            // Stopping ends what is followed, whatever was noticed first.
            Ok(Ended { finished: false }) | Err(GivenUp::Refused(_)) if shared.stop.is_raised() => {
                rest(&*shared.store, left, last.as_ref(), listener)
            }
            ended => ended,
        }
    }

    /// What is left where the run has ended: a program may be stopped because of that. Otherwise more is to come, and
    /// not from this program.
    pub(in super::super) fn rest(
        store: &dyn Store,
        left: Follow,
        last: Option<&ViewRecord>,
        mut listener: Listener<'_>,
    ) -> Result<Ended, GivenUp> {
        let (Follow::Stream { run, .. } | Follow::View { run, .. }) = &left;
        let has_ended = match store.head(run) {
            Ok(Some(head)) => head.status.is_finished(),
            // It cannot be read any more.
            Ok(None) | Err(_) => false,
        };
        if !has_ended {
            return Err(stopping().into());
        }
        let told = match left {
            Follow::Stream { .. } => stored(store, left, listener),
            Follow::View { run, name } => match publications::views(store, &run, Some(&name)) {
                Ok((views, finished)) => {
                    if views.views.last() != last {
                        listener.views(views)?;
                    }
                    Ok(Ended { finished })
                }
                Err(error) => Err(error.into()),
            },
        };
        told.map_err(|given_up| match given_up {
            GivenUp::Refused(_) => stopping().into(),
            GivenUp::NotTaken => GivenUp::NotTaken,
        })
    }

    /// What comes next, and what is at hand after it. `None`: the run has ended, or nobody listens.
    async fn next_page(
        items: &mut Items<perennial::value::Value>,
        gone: &mut oneshot::Receiver<()>,
    ) -> Result<Option<ItemPage>, GivenUp> {
        let mut next = match or_gone(gone, items.next()).await {
            Some(next) => next,
            None => return Ok(None),
        };
        let mut page = ItemPage {
            items: Vec::new(),
            more: true,
        };
        let mut used = 0;
        loop {
            let item = next?;
            used += item.value.as_json().len();
            page.items.push(item);
            if used >= ROOM || page.items.len() >= PAGE {
                return Ok(Some(page));
            }
            match items.at_hand() {
                Some(at_hand) => next = at_hand,
                None => return Ok(Some(page)),
            }
        }
    }

    /// What comes, or nothing once nobody listens.
    async fn or_gone<T>(
        gone: &mut oneshot::Receiver<()>,
        what: impl Future<Output = Option<T>>,
    ) -> Option<T> {
        if gone.is_terminated() {
            return None;
        }
        tokio::select! {
            next = what => next,
            _ = gone => None,
        }
    }

    fn stopping() -> Refused {
        Refused::new(
            Refused::STOPPING,
            "the program is being stopped, so nothing more comes from it\n\n\
             help: follow it again, after what has come, when a program has the store open",
        )
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use perennial::prelude::*;

    use super::program::rest;
    use super::*;
    use crate::Runtime;
    use crate::store::MemoryStore;

    const OUT: Stream<u64> = Stream::new("out");
    const STAGE: View<u64> = View::new("stage");
    const GO: Message<()> = Message::new("go");

    #[workflow]
    async fn gives(cx: &Cx, waits: bool) -> Result<(), Error> {
        cx.emit(OUT, 1);
        cx.emit(OUT, 2);
        cx.set(STAGE, 3);
        if waits {
            cx.receive(GO).await?;
        }
        Ok(())
    }

    /// What comes to somebody when the program is stopped, who has seen so much of a run.
    fn left(
        store: &MemoryStore,
        follow: &Follow,
        last: Option<&crate::store::ViewRecord>,
    ) -> String {
        let mut told = Vec::new();
        let (_here, gone) = oneshot::channel();
        let mut tell = |answer: Answer| {
            told.push(match answer {
                Answer::Items(page) => format!(
                    "items {:?}",
                    page.items
                        .iter()
                        .map(|item| item.number)
                        .collect::<Vec<_>>()
                ),
                Answer::Views(views) => format!("view {}", views.views[0].value),
                other => format!("{other:?}"),
            });
            true
        };
        let listener = Listener {
            tell: &mut tell,
            gone,
        };
        let end = match rest(store, follow.clone(), last, listener) {
            Ok(ended) => format!("finished: {}", ended.finished),
            Err(GivenUp::Refused(refused)) => refused.code,
            Err(GivenUp::NotTaken) => "not taken".to_owned(),
        };
        told.push(end);
        told.join(", ")
    }

    #[tokio::test]
    async fn who_follows_a_run_that_has_ended_hears_so_though_the_program_is_being_stopped() {
        let store = Arc::new(MemoryStore::new());
        let runtime = Runtime::builder(Arc::clone(&store) as Arc<dyn Store>).workflow(gives);
        let runtime = runtime.start().await.unwrap();
        let client = runtime.client();
        client
            .start(gives, "over", false)
            .await
            .unwrap()
            .result()
            .await
            .unwrap();
        client.start(gives, "waits", true).await.unwrap();
        let stream = |run: &str, after| Follow::Stream {
            run: run.parse().unwrap(),
            stream: "out".to_owned(),
            after,
        };
        let view = |run: &str| Follow::View {
            run: run.parse().unwrap(),
            name: "stage".to_owned(),
        };
        let seen = store.view(&"over".parse().unwrap(), "stage").unwrap();
        assert_eq!(
            left(&store, &stream("over", 1), None),
            "items [2], finished: true"
        );
        assert_eq!(left(&store, &stream("over", 2), None), "finished: true");
        assert_eq!(left(&store, &view("over"), None), "view 3, finished: true");
        assert_eq!(left(&store, &view("over"), seen.as_ref()), "finished: true");
        // What goes on when a program has the store again is not over.
        assert_eq!(left(&store, &stream("waits", 1), None), "stopping");
        assert_eq!(left(&store, &view("waits"), None), "stopping");
        assert_eq!(left(&store, &stream("nobody", 0), None), "stopping");
    }
}
