//! What was open where a run was forked.

use perennial_runtime::store::OfferState;

use crate::support::clock::Set;
use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn what_was_open_is_open_anew_for_the_fork() {
    each_store(async |store| {
        let (world, clock) = (World::new(), Set::new());
        let builder = builder(store.clone(), &world).clock(clock.clone());
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let old = client.start(opens, "old", ()).await.unwrap();
        world.gate.begun().await;
        clock.at(1_800);
        let fork = old.fork(1, "fork").await.unwrap();
        // The activity runs for it too.
        world.gate.begun().await;
        assert_eq!(world.runs(), ["old", "fork"]);
        assert_eq!(units(&fork).await.len(), units(&old).await.len());

        // The same deadlines, and the same operations under its own references.
        let old_now = store.load(&key("old")).unwrap().unwrap();
        let now = store.load(&key("fork")).unwrap().unwrap();
        assert_eq!(now.timers, old_now.timers);
        assert_eq!(now.head.next_operation, old_now.head.next_operation);
        assert_eq!(now.head.inbox.awaited, old_now.head.inbox.awaited);
        let offers = store.offers(&key("fork"), 0, 9).unwrap();
        let before = store.offers(&key("old"), 0, 9).unwrap();
        assert_eq!(offers.len(), 2);
        for (new, old) in offers.iter().zip(&before) {
            assert_eq!((new.operation, new.deadline), (old.operation, old.deadline));
            assert_eq!(new.state, OfferState::Open);
        }

        // What is answered to the one is not answered to the other.
        let reference = format!("fork~{}", offers[0].operation);
        client
            .fulfil(reference.as_str(), review, &true)
            .await
            .unwrap();
        let waiting = client.waiting().page().await.unwrap().offers;
        let waiting: Vec<_> = waiting
            .iter()
            .map(|offer| offer.reference.to_string())
            .collect();
        assert!(!waiting.contains(&reference), "{waiting:?}");
        assert_eq!(waiting.len(), 3);
        fork.send(A, &7).await.unwrap();
        old.send(A, &8).await.unwrap();
        // What their activities come to wakes them, and the clock says that their timers are due.
        clock.at(7_201);
        world.gate.open(2);
        assert_eq!(soon(fork.result()).await.unwrap(), (true, false, 7));
        let reference = format!("old~{}", before[0].operation);
        assert!(
            client
                .fulfil(reference.as_str(), review, &true)
                .await
                .is_ok()
        );
        assert_eq!(soon(old.result()).await.unwrap(), (true, false, 8));
    })
    .await;
}

#[tokio::test]
async fn a_timer_that_has_passed_since_fires_at_once() {
    each_store(async |store| {
        let (world, clock) = (World::new(), Set::new());
        let builder = builder(store.clone(), &world).clock(clock.clone());
        let runtime = builder.start().await.unwrap();
        let old = runtime.client().start(opens, "old", ()).await.unwrap();
        world.gate.begun().await;
        clock.at(9_999);
        let fork = old.fork(1, "fork").await.unwrap();
        // The sleep and the time limit of the stub.
        has_events(&fork, 10).await;
        assert!(store.load(&key("fork")).unwrap().unwrap().timers.is_empty());
        world.gate.open(2);
    })
    .await;
}

#[tokio::test]
async fn a_send_that_was_under_way_is_sent_by_the_fork_too_and_what_a_run_tells_itself_stays_with_it()
 {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let other = client.start(adds, "other", ()).await.unwrap();
        let old = client.start(tells, "old", "other".into()).await.unwrap();
        assert_eq!(soon(old.result()).await.unwrap(), 9);
        // The first unit asks for the first send; the second has its result, and asks for the other.
        for (event, fork, told) in [(1, "first", 2), (3, "second", 2)] {
            let fork = old.fork(event, fork).await.unwrap();
            assert_eq!(soon(fork.result()).await.unwrap(), 9);
            let messages = other.list_messages().page().await.unwrap().messages;
            assert_eq!(messages.len(), told);
        }
        let messages = old.list_messages().page().await.unwrap().messages;
        assert_eq!(
            messages.len(),
            1,
            "what it has told itself, and nobody else did"
        );
    })
    .await;
}

#[tokio::test]
async fn what_a_run_was_about_to_answer_itself_the_fork_answers_itself() {
    each_store(async |store| {
        let runtime = runtime(store.clone(), &World::new()).await;
        let old = runtime.client().start(answers, "old", ()).await.unwrap();
        assert!(soon(old.result()).await.unwrap());
        let before = store.offers(&key("old"), 0, 9).unwrap();
        let fork = old.fork(1, "fork").await.unwrap();
        assert!(soon(fork.result()).await.unwrap());
        assert_eq!(store.offers(&key("old"), 0, 9).unwrap(), before);
    })
    .await;
}
