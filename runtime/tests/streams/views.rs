//! Views: what a run shows of itself, read from outside while it is in memory, not in memory, blocked or over (S28).

use std::sync::atomic::{AtomicBool, Ordering};

use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Client, Runtime, ViewError, Viewed};

use crate::read::look;
use crate::support::held::{HeldStore, Shared};
use crate::support::{Place, each_place, each_store};
use crate::world::*;

const STATUS: View<String> = View::new("status");
const DONE: View<u64> = View::new("done");

/// Says what it has been sent so far, and how much that was.
#[workflow]
async fn says(cx: &Cx, count: u64) -> Result<u64, Error> {
    cx.set(STATUS, "waits".to_owned());
    for done in 1..=count {
        let number = cx.receive(GO).await?;
        cx.set(STATUS, format!("has got {number}"));
        cx.set(DONE, done);
    }
    cx.set(STATUS, "over".to_owned());
    Ok(count)
}

mod later {
    use super::*;

    /// The same as a later program has it: it shows something else, and has one view less and one more.
    #[workflow]
    pub(super) async fn says(cx: &Cx, count: u64) -> Result<u64, Error> {
        for done in 1..=count {
            cx.set(STATUS, format!("step {done} of {count}"));
            cx.set(LEFT, count - done);
            cx.receive(GO).await?;
        }
        Ok(count)
    }

    pub(super) const LEFT: View<u64> = View::new("left");
}

mod other {
    use super::*;

    /// Waits for something else first, so that runs of the first one do not fit.
    #[workflow]
    pub(super) async fn says(cx: &Cx, _count: u64) -> Result<u64, Error> {
        cx.sleep(days(1)).await?;
        Ok(cx.receive(GO).await?)
    }
}

async fn first(store: std::sync::Arc<dyn Store>) -> Runtime {
    let builder = Runtime::builder(store).workflow(says).artifact("first");
    builder.shards(1).start().await.unwrap()
}

async fn shown<T: perennial::Data>(client: &Client, id: &str, view: View<T>) -> Viewed<T> {
    let run = id.parse().unwrap();
    let shown = soon(client.view(&run, view)).await.unwrap();
    shown.expect("the run shows it")
}

#[tokio::test]
async fn o53_a_view_shows_what_the_run_has_set_last_while_it_lives_and_afterwards() {
    each_store(async |store| {
        let runtime = first(store).await;
        let client = runtime.client();
        let run = client.start(says, "o53", 2).await.unwrap();
        let status = run.view(STATUS).await.unwrap().unwrap();
        assert_eq!(status.value, "waits");
        assert_eq!((status.artifact.as_str(), status.stale), ("first", false));
        assert_eq!(run.view(DONE).await.unwrap(), None);
        let mut watch = run.watch(DONE);
        for number in [7, 8] {
            run.send(GO, &number).await.unwrap();
            let done = soon(watch.next()).await.unwrap().unwrap();
            assert_eq!(done.value, number - 6);
        }
        assert!(soon(watch.next()).await.is_none());
        assert_eq!(soon(run.result()).await.unwrap(), 2);
        let status = shown(&client, "o53", STATUS).await;
        assert_eq!((status.value.as_str(), status.event), ("over", 8));
        let all = client.views(run.id()).await.unwrap();
        let names: Vec<_> = all.iter().map(|view| view.name.as_str()).collect();
        assert_eq!(names, ["status", "done"]);
        assert_eq!(all[1].data, "u64");
        let json = client.view_json(run.id(), "done").await.unwrap().unwrap();
        assert_eq!(json.value.as_json(), "2");
    })
    .await;
}

/// O20: neither the history nor anything else that is stored, and nobody is woken.
#[tokio::test]
async fn o20_reading_a_view_changes_nothing_of_a_run_that_is_warm_cold_or_over() {
    each_place(async |place: Place| {
        {
            let runtime = first(place.open()).await;
            let client = runtime.client();
            let parked = client.start(says, "parked", 2).await.unwrap();
            parked.send(GO, &1).await.unwrap();
            let over = client.start(says, "over", 1).await.unwrap();
            over.send(GO, &1).await.unwrap();
            soon(over.result()).await.unwrap();
            let mut done = parked.watch(DONE);
            soon(done.next()).await.unwrap().unwrap();
        }
        // The second process has the run not in memory.
        for _ in 0..2 {
            let store = place.open();
            let runtime = first(store.clone()).await;
            let client = runtime.client();
            for (id, value) in [("parked", "has got 1"), ("over", "over")] {
                let before = look(&*store, id);
                assert_eq!(shown(&client, id, STATUS).await.value, value);
                let run = id.parse().unwrap();
                assert_eq!(client.views(&run).await.unwrap().len(), 2);
                let mut watch = client.watch(&run, DONE);
                assert_eq!(soon(watch.next()).await.unwrap().unwrap().value, 1);
                assert_eq!(look(&*store, id), before);
            }
            let _ = soon(runtime.drain(std::time::Duration::ZERO)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn s04_a_view_shows_nothing_that_is_not_durable() {
    let store = HeldStore::new();
    let runtime = first(std::sync::Arc::new(Shared(store.clone()))).await;
    let client = runtime.client();
    let run = client.start(says, "held", 1).await.unwrap();
    store.hold();
    run.send(GO, &1).await.unwrap();
    soon(store.holds.acquire()).await.unwrap().forget();
    assert_eq!(shown(&client, "held", STATUS).await.value, "waits");
    store.release();
    soon(run.result()).await.unwrap();
    assert_eq!(shown(&client, "held", STATUS).await.value, "over");
}

#[tokio::test]
async fn s28_a_program_that_shows_something_else_publishes_that_once_it_has_the_run_in_memory() {
    each_place(async |place: Place| {
        {
            let runtime = first(place.open()).await;
            let run = runtime.client().start(says, "s28", 3).await.unwrap();
            run.send(GO, &1).await.unwrap();
            let mut done = run.watch(DONE);
            soon(done.next()).await.unwrap().unwrap();
        }
        let store = place.open();
        let history = store.history(&key("s28"), 1, 1, usize::MAX).unwrap();
        let builder = Runtime::builder(store.clone()).workflow(later::says);
        let runtime = builder.artifact("later").start().await.unwrap();
        let client = runtime.client();
        // It has not been asked to do anything.
        let status = shown(&client, "s28", STATUS).await;
        assert_eq!(
            (status.value.as_str(), status.artifact.as_str()),
            ("has got 1", "first")
        );
        let run = client.run(later::says, "s28").unwrap();
        let mut left = run.watch(later::LEFT);
        run.send(GO, &2).await.unwrap();
        let mut seen = soon(left.next()).await.unwrap().unwrap();
        while seen.value != 0 {
            seen = soon(left.next()).await.unwrap().unwrap();
        }
        let status = shown(&client, "s28", STATUS).await;
        assert_eq!(
            (status.value.as_str(), status.artifact.as_str()),
            ("step 3 of 3", "later")
        );
        // It has none of that name.
        assert_eq!(run.view(DONE).await.unwrap(), None);
        let now = store.history(&key("s28"), 1, 1, usize::MAX).unwrap();
        assert_eq!(now[..history.len()], history);
    })
    .await;
}

#[tokio::test]
async fn s16_the_view_of_a_blocked_run_answers_and_is_marked_stale() {
    each_place(async |place: Place| {
        {
            let runtime = first(place.open()).await;
            let run = runtime.client().start(says, "blocked", 2).await.unwrap();
            run.send(GO, &1).await.unwrap();
            let mut done = run.watch(DONE);
            soon(done.next()).await.unwrap().unwrap();
        }
        let builder = Runtime::builder(place.open()).workflow(other::says);
        let runtime = builder.artifact("other").start().await.unwrap();
        let client = runtime.client();
        let run = client.run(other::says, "blocked").unwrap();
        let mut watch = run.watch(STATUS);
        let before = soon(watch.next()).await.unwrap().unwrap();
        assert_eq!((before.value.as_str(), before.stale), ("has got 1", false));
        run.send(GO, &2).await.unwrap();
        let stale = soon(watch.next()).await.unwrap().unwrap();
        assert_eq!((stale.value.as_str(), stale.stale), ("has got 1", true));
        assert!(soon(run.result()).await.is_err());
        assert!(shown(&client, "blocked", STATUS).await.stale);
    })
    .await;
}

static BROKEN: AtomicBool = AtomicBool::new(false);

/// Falls over a setting where it is told the second number.
#[workflow]
async fn frail(cx: &Cx) -> Result<u64, Error> {
    cx.set(STATUS, "waits".to_owned());
    cx.receive(GO).await?;
    #[allow_nondeterminism(statics, reason = "what is configured outside the program")]
    {
        assert!(!BROKEN.load(Ordering::SeqCst), "the setting is wrong");
    }
    Ok(cx.receive(GO).await?)
}

#[tokio::test]
async fn s16_who_follows_a_view_is_told_that_its_run_goes_on_though_it_shows_the_same() {
    each_store(async |store| {
        BROKEN.store(true, Ordering::SeqCst);
        let builder = Runtime::builder(store).workflow(frail).artifact("test");
        let runtime = builder.start().await.unwrap();
        let run = runtime.client().start(frail, "frail", ()).await.unwrap();
        let mut watch = run.watch(STATUS);
        assert!(!soon(watch.next()).await.unwrap().unwrap().stale);
        run.send(GO, &1).await.unwrap();
        assert!(soon(watch.next()).await.unwrap().unwrap().stale);
        let waits = tokio::spawn(async move {
            let next = watch.next().await.unwrap().unwrap();
            (next.stale, watch)
        });
        // It has looked, and waits.
        for _ in 0..20 {
            run.status().await.unwrap();
        }
        BROKEN.store(false, Ordering::SeqCst);
        run.unblock().await.unwrap();
        let (stale, mut watch) = soon(waits).await.unwrap();
        assert!(!stale, "it goes on");
        run.send(GO, &2).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), 2);
        assert!(soon(watch.next()).await.is_none());
    })
    .await;
}

#[tokio::test]
async fn a_view_of_another_type_and_one_of_nobody_are_told() {
    const NUMBER: View<u64> = View::new("status");
    each_store(async |store| {
        let runtime = first(store).await;
        let client = runtime.client();
        let run = client.start(says, "other-type", 1).await.unwrap();
        let error = run.view(NUMBER).await.unwrap_err();
        insta::allow_duplicates! { insta::assert_snapshot!(error, @r#"
        view "status" of run other-type is not of the type that it is read as: the value does not decode as `u64`: invalid type: string "waits", expected u64; first has published it as `alloc::string::String`

        help: read it as that program does, or as JSON, with `client.view_json(..)`; the program that goes on with the run publishes it again as its own type
        "#) };
        let nobody: RunId = "nobody".parse().unwrap();
        let missing = client.view(&nobody, STATUS).await.unwrap_err();
        assert!(matches!(missing, ViewError::Read(_)), "{missing}");
        let mut watch = client.watch(&nobody, STATUS);
        assert!(soon(watch.next()).await.unwrap().is_err());
        assert!(soon(watch.next()).await.is_none());
        assert!(client.views(&nobody).await.is_err());
        let mut waits = run.watch(DONE);
        let waits = tokio::spawn(async move { waits.next().await });
        tokio::task::yield_now().await;
        drop(runtime);
        assert!(soon(waits).await.unwrap().unwrap().is_err());
    })
    .await;
}
