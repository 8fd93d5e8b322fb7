//! What arrives for a paused run, and when it is told that.

use std::sync::atomic::Ordering;

use perennial_runtime::{MessageState, RunState};

use crate::support::clock::Set;
use crate::support::{each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn m45_a_paused_run_buffers_and_takes_it_in_order_when_it_goes_on() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let run = runtime.client().start(several, "m45", 3).await.unwrap();
        let paused = run.pause().await.unwrap();
        assert!(!paused.already);
        for value in 1..=3 {
            run.send(A, &value).await.unwrap();
        }
        assert_eq!(events(&run).await, 2, "it was told nothing");
        let info = run.status().await.unwrap();
        assert_eq!(
            (info.paused, info.state),
            (Some(paused.at), RunState::Running)
        );
        let listed = run.list_messages().page().await.unwrap().messages;
        let waits = |state: &MessageState| matches!(state, MessageState::Pending);
        assert!(listed.iter().all(|message| waits(&message.state)));
        assert_eq!(listed.len(), 3);

        let resumed = run.resume().await.unwrap();
        assert_eq!(resumed.since, Some(paused.at));
        assert_eq!(soon(run.result()).await.unwrap(), [1, 2, 3]);
        assert_eq!(run.status().await.unwrap().paused, None);
    })
    .await;
}

#[tokio::test]
async fn m45_a_deadline_that_passes_meanwhile_is_missed_by_what_came_after_it() {
    each_store(async |store| {
        let (world, clock) = (World::new(), Set::new());
        let runtime = on(&clock, store, &world).await;
        let client = runtime.client();
        let mut runs = Vec::new();
        for id in ["before", "after"] {
            let run = client.start(limited, id, ()).await.unwrap();
            run.pause().await.unwrap();
            runs.push(run);
        }
        // The one is sent something while there is time, the other when it is over.
        clock.at(3_599);
        runs[0].send(A, &7).await.unwrap();
        clock.at(3_600);
        runs[1].send(A, &7).await.unwrap();
        clock.at(9_999);
        runs[0].send(A, &8).await.unwrap();
        for (run, taken) in runs.iter().zip([(Some(7), 8), (None, 7)]) {
            assert_eq!(events(run).await, 3);
            run.resume().await.unwrap();
            assert_eq!(soon(run.result()).await.unwrap(), taken);
        }
    })
    .await;
}

#[tokio::test]
async fn m45_a_timer_that_was_due_fires_when_the_run_goes_on() {
    // What is forgotten is brought back by the wish alone.
    for warm in [0, 1 << 20] {
        each_store(async |store| {
            let (world, clock) = (World::new(), Set::new());
            let builder = builder(store, &world).clock(clock.clone());
            let runtime = builder.warm_memory(warm).start().await.unwrap();
            let run = runtime.client().start(sleeps, "due", ()).await.unwrap();
            run.pause().await.unwrap();
            clock.at(3_601);
            assert_eq!(events(&run).await, 2);
            run.resume().await.unwrap();
            assert_eq!(soon(run.result()).await.unwrap(), 1);
        })
        .await;
    }
}

#[tokio::test]
async fn m45_what_an_activity_comes_to_waits_for_the_run() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store.clone(), &world).await;
        let run = runtime.client().start(works, "works", ()).await.unwrap();
        world.gate.begun().await;
        run.pause().await.unwrap();
        let before = events(&run).await;
        world.gate.open(1);
        // Its result is in the queue.
        let key = run.status().await.unwrap().run;
        until(async || store.load(&key).unwrap().unwrap().queue.len() == 1).await;
        assert!(store.load(&key).unwrap().unwrap().tasks.is_empty());
        assert_eq!(events(&run).await, before);
        assert_eq!(world.counted.load(Ordering::SeqCst), 0);
        run.resume().await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn m45_a_run_stays_paused_over_a_restart_and_its_activities_run_again() {
    each_place(async |place| {
        let world = World::new();
        let first = runtime(place.open(), &world).await;
        let client = first.client();
        let waits = client.start(several, "waits", 2).await.unwrap();
        let busy = client.start(works, "busy", ()).await.unwrap();
        world.gate.begun().await;
        let since = waits.pause().await.unwrap().at;
        busy.pause().await.unwrap();
        waits.send(A, &1).await.unwrap();
        drop(first);

        let second = runtime(place.open(), &world).await;
        let client = second.client();
        let waits = client.run(several, "waits").unwrap();
        let busy = client.run(works, "busy").unwrap();
        assert_eq!(waits.status().await.unwrap().paused, Some(since));
        waits.send(A, &2).await.unwrap();
        assert_eq!(events(&waits).await, 2);
        // What was under way is lost with its process, and goes on in this one, for a run that is paused.
        world.gate.begun().await;
        world.gate.open(1);
        assert_eq!(events(&busy).await, 2);

        assert_eq!(waits.resume().await.unwrap().since, Some(since));
        busy.resume().await.unwrap();
        assert_eq!(soon(waits.result()).await.unwrap(), [1, 2]);
        soon(busy.result()).await.unwrap();
        drop(second);
    })
    .await;
}

#[tokio::test]
async fn m45_a_run_tells_a_paused_one_something() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store, &world).await;
        let client = runtime.client();
        let run = client.start(several, "told", 1).await.unwrap();
        run.pause().await.unwrap();
        let teller = client.start(tells, "teller", "told".into()).await.unwrap();
        soon(teller.result()).await.unwrap();
        assert_eq!(events(&run).await, 2);
        run.resume().await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), [7]);
    })
    .await;
}
