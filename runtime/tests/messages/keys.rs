//! Sends that are the same again (M13 to M19, S26).

use perennial::Timestamp;
use perennial::history::Channel;
use perennial::prelude::*;
use perennial::value::Value;
use perennial_runtime::control::{Answer, AskError, Refused, Request, Runs, Tell};
use perennial_runtime::store::{KEY_WINDOW, MAX_KEY_BYTES};
use perennial_runtime::{Receipt, SendError, StartError};

use crate::support::clock::{START, Set};
use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn m13_m17_m18_the_same_send_again_is_one_message_whatever_has_become_of_it() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let run = first.client().start(busy, "m13", 1).await.unwrap();
        let send = async |value| run.send(A, &value).idempotency_key("k").await;
        let receipt = send(7).await.unwrap();
        assert!(!receipt.duplicate);
        let again = |duplicate: Receipt| {
            let same = (duplicate.number, duplicate.at) == (receipt.number, receipt.at);
            same && duplicate.duplicate
        };
        assert!(again(send(7).await.unwrap()), "while it is pending");
        assert_eq!(messages(&run).await.len(), 1);
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), [7]);
        assert!(again(send(7).await.unwrap()), "when the run has ended");
        assert_eq!(messages(&run).await.len(), 1);
        drop(first);
        let second = runtime(place.open(), &world).await;
        let run = second.client().run(busy, "m13").unwrap();
        let late = run.send(A, &7).idempotency_key("k").await.unwrap();
        assert!(again(late), "in another process");
    })
    .await;
}

/// Hears of one thing, and in a later program of another.
#[workflow]
async fn hears(cx: &Cx) -> Result<u64, Error> {
    Ok(cx.receive(A).await?)
}

mod later {
    use super::*;

    #[workflow]
    pub(super) async fn hears(cx: &Cx) -> Result<u64, Error> {
        Ok(cx.receive(B).await?)
    }
}

#[tokio::test]
async fn m18_m38_what_was_sent_before_has_its_receipt_though_nobody_waits_for_such_things_any_more()
{
    each_place(async |place: Place| {
        let world = World::new();
        let first = builder(place.open(), &world).workflow(hears);
        let first = first.start().await.unwrap();
        let run = first.client().start(hears, "m18", ()).await.unwrap();
        let receipt = run.send(A, &7).idempotency_key("k").await.unwrap();
        soon(run.result()).await.unwrap();
        drop((run, first));
        let second = builder(place.open(), &world).workflow(later::hears);
        let second = second.start().await.unwrap();
        let run = second.client().run(later::hears, "m18").unwrap();
        let again = run.send(A, &7).idempotency_key("k").await.unwrap();
        assert_eq!(
            (again.number, again.at, again.duplicate),
            (receipt.number, receipt.at, true)
        );
        let other = run.send(A, &8).idempotency_key("k").await;
        assert!(matches!(other, Err(SendError::IdempotencyConflict { .. })));
        for new in [
            run.send(A, &7).into_future(),
            run.send(A, &7).idempotency_key("new").into_future(),
        ] {
            assert!(matches!(new.await, Err(SendError::NoSuchMessage { .. })));
        }
        drop((run, second));
        // The same where nobody has the store.
        if let Place::Folder(folder) = &place {
            let mut runs = Runs::at(folder.path()).unwrap();
            let mut tell = |key: &str| {
                runs.ask(Request::Send(Tell {
                    run: "m18".parse().unwrap(),
                    channel: Channel::Message,
                    name: "a".to_owned(),
                    payload: Value::encode(&7).unwrap(),
                    key: Some(key.to_owned()),
                    first: None,
                }))
            };
            let again = tell("k").unwrap();
            assert!(
                matches!(&again, Answer::Sent(again) if again.duplicate && again.number == receipt.number),
                "{again:?}"
            );
            let new = tell("new").unwrap_err();
            assert!(
                matches!(&new, AskError::Refused(refused) if refused.code == Refused::NO_SUCH_MESSAGE),
                "{new}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn m13_m15_m18_a_message_that_comes_with_a_start_is_known_by_its_key() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let client = first.client();
        let start = || client.start(busy, "m13-start", 2).send(A, &5);
        let run = start().send_with_key(A, &7, "k").await.unwrap();
        let receipt = run.send(A, &7).idempotency_key("k").await.unwrap();
        assert!(receipt.duplicate);
        let other = run.send(A, &8).idempotency_key("k").await;
        assert!(matches!(other, Err(SendError::IdempotencyConflict { .. })));
        start().send_with_key(A, &7, "k").await.unwrap();
        let listed = messages(&run).await;
        assert_eq!(listed.len(), 2);
        assert_eq!(
            (listed[1].number, listed[1].key.as_deref()),
            (receipt.number, Some("k"))
        );
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), [5, 7]);
        drop(first);
        let second = runtime(place.open(), &world).await;
        let run = second.client().run(busy, "m13-start").unwrap();
        let late = run.send(A, &7).idempotency_key("k").await.unwrap();
        assert_eq!((late.number, late.duplicate), (receipt.number, true));
    })
    .await;
}

#[tokio::test]
async fn messages_of_one_key_that_come_with_a_start_are_one_or_none() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store.clone(), &world).await;
        let client = runtime.client();
        let start = |id: &'static str, second| {
            let start = client.start(busy, id, 1).send_with_key(A, &7, "k");
            start.send_with_key(A, &second, "k")
        };
        let run = start("twice", 7).await.unwrap();
        assert_eq!(messages(&run).await.len(), 1);
        start("twice", 7).await.unwrap();
        let Err(StartError::Message(error)) = start("two", 8).await else {
            panic!("they are two messages");
        };
        assert!(matches!(*error, SendError::IdempotencyConflict { .. }));
        let Err(StartError::Message(error)) =
            client.start(busy, "two", 1).send_with_key(A, &7, "").await
        else {
            panic!("that is no key");
        };
        assert!(matches!(*error, SendError::InvalidKey { length: 0, .. }));
        assert_eq!(store.head(&key("two")).unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn m17_a_message_that_was_taken_is_not_delivered_again() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let run = runtime.client().start(several, "m17", 2).await.unwrap();
        let send = async || run.send(A, &1).idempotency_key("k").await.unwrap();
        let receipt = send().await;
        until(async || is_taken(&messages(&run).await[0])).await;
        let again = send().await;
        assert_eq!((again.number, again.duplicate), (receipt.number, true));
        run.send(A, &2).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), [1, 2]);
    })
    .await;
}

#[tokio::test]
async fn m14_of_many_who_send_the_same_at_once_one_stores_it() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let run = runtime.client().start(busy, "m14", 1).await.unwrap();
        let mut sends = tokio::task::JoinSet::new();
        for _ in 0..16 {
            sends.spawn(run.send(A, &7).idempotency_key("k").into_future());
        }
        let receipts: Vec<Receipt> = soon(sends.join_all())
            .await
            .into_iter()
            .map(|receipt| receipt.unwrap())
            .collect();
        assert!(
            receipts
                .iter()
                .all(|receipt| receipt.number == receipts[0].number)
        );
        assert_eq!(
            receipts.iter().filter(|receipt| !receipt.duplicate).count(),
            1
        );
        assert_eq!(messages(&run).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn m15_a_key_that_was_used_for_another_message_is_refused() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let run = runtime.client().start(busy, "m15", 1).await.unwrap();
        run.send(A, &7).idempotency_key("k").await.unwrap();
        for result in [
            run.send(A, &8).idempotency_key("k").await,
            run.send(B, &7).idempotency_key("k").await,
        ] {
            let Err(SendError::IdempotencyConflict {
                key,
                name,
                known,
                given,
                ..
            }) = result
            else {
                panic!("{result:?}");
            };
            assert_eq!((key.as_str(), name.as_str()), ("k", "a"));
            assert_ne!(known, given);
        }
        assert_eq!(messages(&run).await.len(), 1, "nothing is stored");
    })
    .await;
}

#[tokio::test]
async fn m16_m19_other_runs_and_sends_without_a_key_are_other_messages() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        for id in ["m16-one", "m16-other"] {
            let run = runtime.client().start(busy, id, 1).await.unwrap();
            let receipt = run.send(A, &7).idempotency_key("k").await.unwrap();
            assert!(!receipt.duplicate);
            run.send(A, &7).await.unwrap();
            run.send(A, &7).await.unwrap();
            assert_eq!(messages(&run).await.len(), 3);
        }
    })
    .await;
}

#[tokio::test]
async fn a_key_that_is_older_than_what_the_run_knows_is_refused() {
    each_store(async |store| {
        let (world, clock) = (World::new(), Set::new());
        let builder = builder(store, &world).clock(clock.clone());
        let runtime = builder.start().await.unwrap();
        let run = runtime.client().start(busy, "old", 1).await.unwrap();
        let from = |before: u64| Timestamp::from_millis(START - before);
        let send = async |key: &str, before| {
            let send = run.send(A, &7).idempotency_key_from(key, from(before));
            send.await
        };
        assert!(!send("k", KEY_WINDOW).await.unwrap().duplicate);
        assert_eq!(
            send("older", KEY_WINDOW + 1).await,
            Err(SendError::KeyTooOld {
                run: key("old"),
                key: "older".into(),
                at: from(KEY_WINDOW + 1),
            })
        );
        // Known keys are known, whatever their times.
        assert!(send("k", KEY_WINDOW + 1).await.unwrap().duplicate);
        assert_eq!(messages(&run).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_key_has_its_bounds() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let run = runtime.client().start(busy, "bounds", 1).await.unwrap();
        for length in [0, MAX_KEY_BYTES + 1] {
            assert_eq!(
                run.send(A, &7).idempotency_key("k".repeat(length)).await,
                Err(SendError::InvalidKey {
                    length,
                    limit: MAX_KEY_BYTES
                })
            );
        }
        let longest = "k".repeat(MAX_KEY_BYTES);
        assert!(run.send(A, &7).idempotency_key(longest).await.is_ok());
    })
    .await;
}
