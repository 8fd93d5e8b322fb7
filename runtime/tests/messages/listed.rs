//! What is shown of messages (M37, M39 to M41).

use perennial::ReceiveError;
use perennial_runtime::{MessageState, ReadError, RunError};

use crate::support::clock::Set;
use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn m37_a_message_that_is_not_of_the_type_is_taken_and_says_what_is_wrong_with_it() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let run = runtime.client().start(one, "m37", ()).await.unwrap();
        run.send(TEXTS, &"seven".to_owned()).await.unwrap();
        let Err(RunError::Failed(ReceiveError::Invalid { name, number, .. })) =
            soon(run.result()).await
        else {
            panic!("it is not a number");
        };
        assert_eq!((name.as_str(), number), ("a", 1));
        let MessageState::Consumed {
            operation, invalid, ..
        } = &messages(&run).await[0].state
        else {
            panic!("it is taken");
        };
        assert_eq!(*operation, 1);
        assert!(invalid.as_ref().unwrap().contains("u64"), "{invalid:?}");
    })
    .await;
}

#[tokio::test]
async fn m39_m41_messages_are_listed_with_what_has_become_of_them_also_before_their_waits() {
    each_store(async |store| {
        let (world, clock) = (World::new(), Set::new());
        let builder = builder(store, &world).clock(clock.clone());
        let runtime = builder.start().await.unwrap();
        let run = runtime.client().start(twice, "m39", ()).await.unwrap();
        clock.at(1);
        run.send(B, &1).await.unwrap();
        clock.at(2);
        run.send(A, &2).idempotency_key("k").await.unwrap();
        world.begun().await;
        clock.at(3);
        // Its wait has not begun.
        run.send(A, &3).await.unwrap();
        let listed = messages(&run).await;
        let shown = serde_json::to_string_pretty(&listed).unwrap();
        insta::assert_snapshot!("m39", shown);
        let named = run.list_messages().named("b").page().await.unwrap();
        assert_eq!(named.messages, listed[..1]);
    })
    .await;
}

#[tokio::test]
async fn pages_tell_what_was_taken_wherever_they_begin() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let run = runtime.client().start(several, "pages", 5).await.unwrap();
        for n in 0..4 {
            run.send(A, &n).await.unwrap();
            run.send(B, &n).await.unwrap();
        }
        until(async || {
            messages(&run)
                .await
                .iter()
                .filter(|one| is_taken(one))
                .count()
                == 4
        })
        .await;
        let list = || run.list_messages().limit(3);
        let states = async |list: perennial_runtime::ListMessages| {
            let page = list.page().await.unwrap();
            let states = page.messages.iter().map(|one| (one.number, is_taken(one)));
            (states.collect::<Vec<_>>(), page.more)
        };
        let first = vec![(1, true), (2, false), (3, true)];
        assert_eq!(states(list()).await, (first, true));
        let last = vec![(6, false), (7, true), (8, false)];
        assert_eq!(states(list().after(5)).await, (last.clone(), false));
        assert_eq!(states(list().before(9)).await, (last, true));
        let taken = vec![(1, true), (3, true), (5, true)];
        assert_eq!(states(list().named("a")).await, (taken, true));
        let others = vec![(2, false), (4, false)];
        assert_eq!(states(list().named("b").before(5)).await, (others, false));
    })
    .await;
}

#[tokio::test]
async fn m40_pages_go_in_both_directions_and_do_not_shift() {
    each_store(async |store| {
        let (world, clock) = (World::new(), Set::new());
        let builder = builder(store, &world).clock(clock);
        let runtime = builder.start().await.unwrap();
        let run = runtime.client().start(busy, "m40", 1).await.unwrap();
        let list = || run.list_messages().limit(3);
        let page = list().page().await.unwrap();
        assert_eq!(
            (page.messages.len(), page.more),
            (0, false),
            "nothing was sent"
        );
        // All within a millisecond.
        for n in 0..7 {
            run.send(A, &n).await.unwrap();
        }
        let numbers = async |list: perennial_runtime::ListMessages| {
            let page = list.page().await.unwrap();
            let numbers = page.messages.iter().map(|message| message.number);
            (numbers.collect::<Vec<_>>(), page.more)
        };
        assert_eq!(numbers(list()).await, (vec![1, 2, 3], true));
        assert_eq!(numbers(list().after(3)).await, (vec![4, 5, 6], true));
        assert_eq!(
            numbers(list().after(4)).await,
            (vec![5, 6, 7], false),
            "exactly"
        );
        assert_eq!(numbers(list().after(7)).await, (vec![], false));
        assert_eq!(
            numbers(list().before(u64::MAX)).await,
            (vec![5, 6, 7], true)
        );
        assert_eq!(numbers(list().before(5)).await, (vec![2, 3, 4], true));
        assert_eq!(numbers(list().before(4)).await, (vec![1, 2, 3], false));
        assert_eq!(numbers(list().before(1)).await, (vec![], false));
        let both = list().after(1).before(3).page().await;
        assert_eq!(both, Err(ReadError::BothDirections));
    })
    .await;
}
