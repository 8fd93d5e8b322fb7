//! What workflows send to other runs, over each store (M47 to M52, S3).

use perennial::history::{Observation, SlotResult};
use perennial::prelude::*;
use perennial::{Namespace, RunEnd, SendFailure};
use perennial_runtime::store::{Deliver, MAX_INBOX, Store};
use perennial_runtime::{RunState, Runtime};

use crate::senders::*;
use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn m47_a_sibling_gets_what_is_sent_once_and_a_replay_sends_nothing() {
    each_place(async |place: Place| {
        let (counted, world) = (Counted::from_now("m47"), World::new());
        let first = senders(place.open(), &world).await;
        let client = first.client();
        client.start(several, "m47-to", 3).await.unwrap();
        let run = client.start(tells, "m47", (id("m47-to"), 2)).await.unwrap();
        let other = client.run(several, "m47-to").unwrap();
        until(async || {
            other
                .list_messages()
                .page()
                .await
                .unwrap()
                .messages
                .iter()
                .all(is_taken)
        })
        .await;
        until(async || sends(&history(&run).await).len() == 2).await;
        drop((first, run, other));

        let second = senders(place.open(), &world).await;
        let client = second.client();
        assert_eq!(counted.now().1, 0);
        ring(&client, "m47").await;
        let run = client.run(tells, "m47").unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), [Ok(1), Ok(2)]);
        assert_eq!(counted.now().1, 1, "it was replayed");
        let other = client.run(several, "m47-to").unwrap();
        let listed = messages(&other).await;
        assert_eq!(listed.len(), 2);
        assert!(listed.iter().all(is_taken));
        // Each says who has sent it.
        let keys = listed.iter().map(|message| message.key.clone().unwrap());
        assert!(
            keys.zip(["m47~1@", "m47~2@"])
                .all(|(key, start)| key.starts_with(start))
        );
        other.send(A, &9).await.unwrap();
        assert_eq!(soon(other.result()).await.unwrap(), [0, 1, 9]);
    })
    .await;
}

#[tokio::test]
async fn what_came_of_a_send_is_what_the_run_is_told_next() {
    each_store(async |store| {
        let world = World::new();
        let runtime = senders(store, &world).await;
        let client = runtime.client();
        client.start(several, "next-to", 9).await.unwrap();
        let run = client
            .start(tells, "next", (id("next-to"), 3))
            .await
            .unwrap();
        ring(&client, "next").await;
        let sent = soon(run.result()).await.unwrap();
        assert_eq!(sent, [Ok(1), Ok(2), Ok(3)]);
        let found = sends(&history(&run).await);
        let numbers = found.into_iter().map(|(operation, result)| match result {
            Some(SlotResult::Sent(receipt)) => (operation, receipt.number, receipt.duplicate),
            other => panic!("{other:?}"),
        });
        assert_eq!(
            numbers.collect::<Vec<_>>(),
            [(1, 1, false), (2, 2, false), (3, 3, false)]
        );
    })
    .await;
}

#[tokio::test]
async fn m49_a_run_that_has_ended_or_is_not_there_is_a_result_that_each_replay_finds() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = senders(place.open(), &world).await;
        let client = first.client();
        for (name, well) in [("m49-well", true), ("m49-not", false)] {
            let ended = client.start(ends, name, Some(well)).await.unwrap();
            let _ = soon(ended.result()).await;
        }
        let names = ["m49-well", "m49-not", "m49-nobody"];
        for name in names {
            let sender = format!("tells-{name}");
            let run = client.start(tells, sender, (id(name), 1)).await.unwrap();
            until(async || sends(&history(&run).await).len() == 1).await;
        }
        drop(first);

        let second = senders(place.open(), &world).await;
        let client = second.client();
        let mut failures = Vec::new();
        for name in names {
            let sender = format!("tells-{name}");
            ring(&client, &sender).await;
            let run = client.run(tells, sender).unwrap();
            let [Err(failure)] = &soon(run.result()).await.unwrap()[..] else {
                panic!("it was sent");
            };
            let recorded = sends(&history(&run).await);
            let result = SlotResult::NotSent(failure.clone());
            assert_eq!(recorded, [(1, Some(result))]);
            failures.push(failure.clone());
        }
        let [well, not, nobody] = &failures[..] else {
            panic!("{failures:?}")
        };
        let ended = |failure: &SendFailure| match failure {
            SendFailure::RunFinished { end, .. } => end.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            (ended(well), ended(not)),
            (RunEnd::Completed, RunEnd::Failed)
        );
        let nobody_there = SendFailure::RunNotFound {
            run: id("m49-nobody"),
        };
        assert_eq!(*nobody, nobody_there);
        // Nothing of it is with the one that has ended.
        let well = client.run(ends, "m49-well").unwrap();
        assert_eq!(messages(&well).await, []);
    })
    .await;
}

#[tokio::test]
async fn m50_a_run_tells_itself_something_and_takes_it() {
    each_store(async |store| {
        let world = World::new();
        let runtime = senders(store, &world).await;
        let run = runtime
            .client()
            .start(tells_itself, "m50", ())
            .await
            .unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), (5, 6, 2));
        assert!(messages(&run).await.iter().all(is_taken));
    })
    .await;
}

#[tokio::test]
async fn m52_a_run_of_the_same_id_in_another_namespace_is_not_reached() {
    each_store(async |store| {
        let world = World::new();
        let runtime = senders(store, &world).await;
        let (here, there) = (
            runtime.client(),
            runtime
                .client()
                .in_namespace(Namespace::new("shop").unwrap()),
        );
        let other = here.start(several, "m52-to", 1).await.unwrap();
        let run = there.start(tells, "m52", (id("m52-to"), 1)).await.unwrap();
        there.signal(&id("m52"), BELL, &1).await.unwrap();
        let sent = soon(run.result()).await.unwrap();
        assert!(
            matches!(sent[..], [Err(SendFailure::RunNotFound { .. })]),
            "{sent:?}"
        );
        assert_eq!(messages(&other).await, []);
        // One of its own is.
        there.start(several, "m52-to", 1).await.unwrap();
        let run = there
            .start(tells, "m52-again", (id("m52-to"), 1))
            .await
            .unwrap();
        there.signal(&id("m52-again"), BELL, &1).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), [Ok(1)]);
        assert_eq!(messages(&other).await, []);
    })
    .await;
}

/// Whatever shard its target is of, and whether that is in memory.
async fn talk(runtime: &Runtime, name: &str) {
    let client = runtime.client();
    let mut pairs = Vec::new();
    for n in 0..8 {
        let (answers_id, asks_id) = (format!("{name}-answers-{n}"), format!("{name}-asks-{n}"));
        let one = client.start(answers, answers_id.clone(), 5).await.unwrap();
        let other = client
            .start(asks, asks_id, (id(&answers_id), 5))
            .await
            .unwrap();
        pairs.push((one, other));
    }
    for (answers, asks) in pairs {
        assert_eq!(soon(asks.result()).await.unwrap(), [1, 3, 6, 10, 15]);
        assert_eq!(soon(answers.result()).await.unwrap(), 15);
        assert_eq!(messages(&answers).await.len(), 5);
    }
}

#[tokio::test]
async fn runs_of_several_shards_talk_to_each_other() {
    each_store(async |store| {
        let world = World::new();
        let runtime = with_senders(store, &world).shards(4).start().await.unwrap();
        talk(&runtime, "shards").await;
    })
    .await;
}

#[tokio::test]
async fn runs_talk_to_each_other_that_leave_the_memory_at_once() {
    each_store(async |store| {
        let world = World::new();
        let cold = with_senders(store, &world).shards(4).warm_memory(0);
        talk(&cold.start().await.unwrap(), "cold").await;
    })
    .await;
}

#[tokio::test]
async fn m22_what_a_run_does_not_wait_for_does_not_bring_it_into_memory() {
    each_store(async |store| {
        let (counted, world) = (Counted::from_now("m22-to"), World::new());
        let cold = with_senders(store.clone(), &world).warm_memory(0);
        let runtime = cold.start().await.unwrap();
        let client = runtime.client();
        let other = client.start(one, "m22-to", ()).await.unwrap();
        let before = counted.now();
        let run = client.start(tells_b, "m22", id("m22-to")).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), Ok(1));
        assert_eq!(arrivals(&*store, &key("m22-to")), 1);
        let run = client
            .start(tells, "m22-a", (id("m22-to"), 1))
            .await
            .unwrap();
        ring(&client, "m22-a").await;
        soon(run.result()).await.unwrap();
        assert_eq!(soon(other.result()).await.unwrap(), 0);
        // One replay, which the message that it waits for has brought, and two polls: the other one is told first.
        let after = counted.now();
        assert_eq!((after.0 - before.0, after.1 - before.1), (2, 1));
    })
    .await;
}

#[tokio::test]
async fn m12_a_full_inbox_is_a_result() {
    each_store(async |store| {
        let world = World::new();
        let runtime = senders(store.clone(), &world).await;
        let client = runtime.client();
        client.start(busy, "m12-to", 1).await.unwrap();
        world.begun().await;
        fill(&*store, "m12-to");
        let run = client.start(tells, "m12", (id("m12-to"), 2)).await.unwrap();
        ring(&client, "m12").await;
        let full = Err(SendFailure::InboxFull {
            run: id("m12-to"),
            limit: MAX_INBOX,
        });
        assert_eq!(soon(run.result()).await.unwrap(), [full.clone(), full]);
    })
    .await;
}

/// Until the run has as many messages as it may have.
fn fill(store: &dyn Store, run: &str) {
    for _ in 0..MAX_INBOX {
        let told = perennial::history::Told {
            number: 0,
            name: "b".into(),
            payload: perennial::value::Value::null(),
            key: None,
        };
        let deliver = Deliver {
            run: key(run),
            observation: Observation::MessageArrived(told),
            at: Timestamp::default(),
            tasks: Vec::new(),
            key: None,
            stub: None,
        };
        store.deliver(deliver, Box::new(|answer| assert!(answer.is_ok())));
    }
}

#[tokio::test]
async fn m38_a_name_that_the_run_does_not_know_and_what_is_too_large_are_results() {
    each_store(async |store| {
        let world = World::new();
        let runtime = senders(store.clone(), &world).await;
        let client = runtime.client();
        let other = client.start(waits_for_a, "m38-to", ()).await.unwrap();
        let run = client.start(strange, "m38", id("m38-to")).await.unwrap();
        let (unknown, too_large) = soon(run.result()).await.unwrap();
        let no_such_message = SendFailure::NoSuchMessage {
            run: id("m38-to"),
            workflow: "waits_for_a".into(),
            name: "strange".into(),
        };
        assert_eq!(unknown, Err(no_such_message));
        assert!(matches!(
            too_large,
            Err(SendFailure::TooLarge {
                limit: 1_048_576,
                ..
            })
        ));
        // The first is recorded, the second is found again by each replay.
        assert_eq!(sends(&history(&run).await).len(), 1);
        assert_eq!(messages(&other).await, []);
    })
    .await;
}

#[tokio::test]
async fn sends_at_once_are_one_commit_and_each_has_its_result() {
    each_store(async |store| {
        let world = World::new();
        let runtime = with_senders(store, &world).shards(3).start().await.unwrap();
        let client = runtime.client();
        let mut runs = vec![id("all-nobody")];
        let mut others = Vec::new();
        for n in 0..10 {
            let name = format!("all-{n}");
            others.push(client.start(several, name.clone(), 2).await.unwrap());
            runs.extend([id(&name), id(&name)]);
        }
        let run = client.start(tells_all, "all", runs).await.unwrap();
        let sent = soon(run.result()).await.unwrap();
        assert_eq!(sent.iter().filter(|sent| sent.is_err()).count(), 1);
        for (n, other) in (0..).zip(others) {
            let expected = [2 * n + 1, 2 * n + 2];
            assert_eq!(soon(other.result()).await.unwrap(), expected);
        }
        let history = history(&run).await;
        assert_eq!(sends(&history).len(), 21);
        // All are decided in the first unit.
        assert_eq!(history.units[0].decisions.len(), 21);
    })
    .await;
}

#[tokio::test]
async fn what_is_given_up_and_what_is_sent_last_is_sent() {
    each_store(async |store| {
        let world = World::new();
        let runtime = senders(store, &world).await;
        let client = runtime.client();
        let other = client.start(several, "last-to", 3).await.unwrap();
        let run = client
            .start(gives_up, "gives-up", id("last-to"))
            .await
            .unwrap();
        assert!(!soon(run.result()).await.unwrap());
        let run = client
            .start(tells_last, "last", id("last-to"))
            .await
            .unwrap();
        soon(run.result()).await.unwrap();
        other.send(A, &9).await.unwrap();
        assert_eq!(soon(other.result()).await.unwrap(), [5, 5, 9]);
    })
    .await;
}

#[tokio::test]
async fn m54_a_signal_reaches_who_waits_for_it_and_nobody_else() {
    each_store(async |store| {
        let world = World::new();
        let runtime = with_senders(store, &world).shards(2).start().await.unwrap();
        let client = runtime.client();
        let other = client.start(two_listen, "m54-to", ()).await.unwrap();
        let run = client.start(rings, "m54", id("m54-to")).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), Ok(()));
        assert_eq!(soon(other.result()).await.unwrap(), (5, 5));
        let ended = client.start(rings, "m54-late", id("m54-to")).await.unwrap();
        let late = soon(ended.result()).await.unwrap();
        assert!(
            matches!(late, Err(SendFailure::RunFinished { .. })),
            "{late:?}"
        );
        // One that comes too early is dropped.
        let early = client.start(listens, "m54-early", ()).await.unwrap();
        world.begun().await;
        let run = client
            .start(rings, "m54-third", id("m54-early"))
            .await
            .unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), Ok(()));
        world.open(1);
        until(async || history(&early).await.units.len() == 2).await;
        assert_eq!(early.status().await.unwrap().state, RunState::Running);
    })
    .await;
}

#[tokio::test]
async fn a_blocked_run_gets_what_it_is_sent_and_takes_it_when_it_goes_on() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = senders(place.open(), &world).await;
        first.client().start(one, "blocked-to", ()).await.unwrap();
        drop(first);
        // A program without its workflow, which a send makes it look at.
        let without = Runtime::builder(place.open())
            .workflow(tells)
            .artifact("without");
        let second = without.start().await.unwrap();
        let client = second.client();
        let run = client
            .start(tells, "blocked", (id("blocked-to"), 1))
            .await
            .unwrap();
        ring(&client, "blocked").await;
        assert_eq!(soon(run.result()).await.unwrap(), [Ok(1)]);
        until(async || {
            let runs = client.list().blocked(true).page().await.unwrap().runs;
            runs.len() == 1
        })
        .await;
        drop((second, run, client));
        let third = senders(place.open(), &world).await;
        let other = third.client().run(one, "blocked-to").unwrap();
        assert_eq!(soon(other.result()).await.unwrap(), 0);
    })
    .await;
}
