//! Which wait gets which message (M20 to M28), and that nothing else is woken.

use perennial::history::Decision;
use perennial_runtime::MessageState;

use crate::support::clock::Set;
use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn m20_m26_messages_are_taken_in_the_order_of_their_sends_also_within_a_millisecond() {
    each_store(async |store| {
        let (world, clock) = (World::new(), Set::new());
        let builder = builder(store, &world).clock(clock);
        let runtime = builder.start().await.unwrap();
        let run = runtime.client().start(several, "m20", 50).await.unwrap();
        for n in 0..50 {
            run.send(A, &n).await.unwrap();
        }
        let all: Vec<u64> = (0..50).collect();
        assert_eq!(soon(run.result()).await.unwrap(), all);
    })
    .await;
}

#[tokio::test]
async fn m21_two_names_are_two_queues() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let run = runtime.client().start(two_names, "m21", ()).await.unwrap();
        run.send(A, &1).await.unwrap();
        run.send(B, &2).await.unwrap();
        run.send(A, &3).await.unwrap();
        run.send(B, &4).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), [2, 1, 3, 4]);
    })
    .await;
}

#[tokio::test]
async fn m22_what_a_run_does_not_wait_for_does_not_wake_it() {
    each_store(async |store| {
        let counted = Counted::from_now("m22");
        let runtime = runtime(store.clone(), &World::new()).await;
        let run = runtime.client().start(one, "m22", ()).await.unwrap();
        let events = store.head(&key("m22")).unwrap().unwrap().sequence;
        for n in 0..20 {
            run.send(B, &n).await.unwrap();
        }
        assert_eq!(counted.now(), (1, 0));
        let head = store.head(&key("m22")).unwrap().unwrap();
        assert_eq!((head.sequence, head.inbox.messages), (events, 20));
        // What has waited is told first, in its order.
        run.send(A, &7).await.unwrap();
        assert_eq!(soon(run.result()).await, Ok(7));
        assert_eq!(counted.now(), (22, 0));
    })
    .await;
}

#[tokio::test]
async fn m22_nor_one_that_is_not_in_memory_nor_when_the_program_is_started() {
    each_place(async |place: Place| {
        let counted = Counted::from_now("m22-cold");
        let world = World::new();
        let cold = async || {
            let builder = builder(place.open(), &world).warm_memory(0);
            builder.start().await.unwrap()
        };
        let first = cold().await;
        let run = first.client().start(one, "m22-cold", ()).await.unwrap();
        run.send(B, &1).await.unwrap();
        run.send(B, &2).await.unwrap();
        assert_eq!(counted.now(), (1, 0));
        drop(first);
        let store = place.open();
        let fence = store.head(&key("m22-cold")).unwrap().unwrap().fence;
        store.close().unwrap();
        drop(store);
        let second = cold().await;
        let client = second.client();
        // The shard has done with all before when it has answered this.
        client.start(one, "m22-other", ()).await.unwrap();
        let run = client.run(one, "m22-cold").unwrap();
        run.send(B, &3).await.unwrap();
        assert_eq!(counted.now(), (1, 0));
        drop(second);
        let store = place.open();
        let head = store.head(&key("m22-cold")).unwrap().unwrap();
        assert_eq!(
            (head.fence, head.inbox.messages),
            (fence, 3),
            "nor was it claimed"
        );
        store.close().unwrap();
        drop(store);
        let third = cold().await;
        let run = third.client().run(one, "m22-cold").unwrap();
        run.send(A, &7).await.unwrap();
        assert_eq!(soon(run.result()).await, Ok(7));
        assert_eq!(counted.now(), (5, 1));
    })
    .await;
}

#[tokio::test]
async fn m23_a_timer_beside_a_wait_stays_and_nothing_runs_hot() {
    each_store(async |store| {
        let counted = Counted::from_now("m23");
        let runtime = runtime(store.clone(), &World::new()).await;
        let run = runtime.client().start(beside, "m23", ()).await.unwrap();
        run.send(A, &7).await.unwrap();
        until(async || is_taken(&messages(&run).await[0])).await;
        run.send(A, &8).await.unwrap();
        run.send(B, &8).await.unwrap();
        assert_eq!(counted.now(), (2, 0));
        assert_eq!(store.load(&key("m23")).unwrap().unwrap().timers.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn m24_two_waits_at_once_for_two_names_get_their_own() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let run = runtime.client().start(both_names, "m24", ()).await.unwrap();
        run.send(B, &2).await.unwrap();
        run.send(A, &1).await.unwrap();
        assert_eq!(soon(run.result()).await, Ok((1, 2)));
    })
    .await;
}

#[tokio::test]
async fn m25_waits_for_one_name_are_served_in_the_order_in_which_they_began_also_after_a_restart() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let run = first.client().start(same_name, "m25", ()).await.unwrap();
        run.send(A, &1).await.unwrap();
        drop(first);
        let second = runtime(place.open(), &world).await;
        let run = second.client().run(same_name, "m25").unwrap();
        run.send(A, &2).await.unwrap();
        assert_eq!(soon(run.result()).await, Ok((1, 2)));
    })
    .await;
}

#[tokio::test]
async fn m27_m30_after_a_crash_and_under_a_new_owner_a_wait_has_the_message_that_it_had() {
    each_place(async |place: Place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let run = first.client().start(twice, "m27", ()).await.unwrap();
        run.send(A, &1).await.unwrap();
        world.begun().await;
        run.send(A, &2).await.unwrap();
        let listed = messages(&run).await;
        assert!(is_taken(&listed[0]));
        assert_eq!(listed[1].state, MessageState::Pending);
        drop(first);
        let second = runtime(place.open(), &world).await;
        let run = second.client().run(twice, "m27").unwrap();
        world.begun().await;
        world.open(1);
        assert_eq!(soon(run.result()).await.unwrap(), (1, 2));
        let history = run.history().await.unwrap().history;
        let decisions = history.units.iter().flat_map(|unit| &unit.decisions);
        let taken: Vec<_> = decisions
            .filter_map(|decision| match decision {
                Decision::Received {
                    operation, number, ..
                } => Some((*operation, *number)),
                _ => None,
            })
            .collect();
        assert_eq!(taken, [(1, 1), (3, 2)]);
    })
    .await;
}
