//! Signals beside messages (M54): for who waits when they come, and for nobody else.

use perennial_runtime::store::MAX_INBOX;

use crate::support::{Place, each_place, each_store};
use crate::world::*;

#[tokio::test]
async fn m54_o19_a_signal_reaches_all_who_wait_for_it() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let run = runtime.client().start(two_listen, "m54", ()).await.unwrap();
        run.signal(BELL, &7).await.unwrap();
        assert_eq!(soon(run.result()).await, Ok((7, 7)));
        assert_eq!(messages(&run).await, [], "it is no message");
    })
    .await;
}

#[tokio::test]
async fn m54_a_signal_that_nobody_waits_for_is_dropped() {
    each_store(async |store| {
        let world = World::new();
        let runtime = runtime(store.clone(), &world).await;
        let run = runtime
            .client()
            .start(listens, "m54-early", ())
            .await
            .unwrap();
        world.begun().await;
        run.signal(BELL, &1).await.unwrap();
        world.open(1);
        // Until it waits.
        until(async || {
            let head = store.head(&key("m54-early")).unwrap().unwrap();
            head.inbox.awaited != Default::default()
        })
        .await;
        assert_eq!(
            store
                .head(&key("m54-early"))
                .unwrap()
                .unwrap()
                .inbox
                .signals,
            0
        );
        run.signal(BELL, &2).await.unwrap();
        assert_eq!(soon(run.result()).await.unwrap(), 2);
    })
    .await;
}

#[tokio::test]
async fn m54_signals_that_nobody_waits_for_do_not_fill_the_queue() {
    each_place(async |place: Place| {
        let signals = match place {
            Place::Memory(_) => MAX_INBOX + 1,
            Place::Folder(_) => MAX_INBOX / 10,
        };
        for (id, warm) in [("m54-warm", 1 << 20), ("m54-cold", 0)] {
            let counted = Counted::from_now(id);
            let store = place.open();
            let builder = builder(store.clone(), &World::new()).warm_memory(warm);
            let runtime = builder.start().await.unwrap();
            let run = runtime.client().start(one, id, ()).await.unwrap();
            for n in 0..signals {
                run.signal(BELL, &n).await.unwrap();
            }
            // The last of them may be under way.
            until(async || store.head(&key(id)).unwrap().unwrap().inbox.signals < 100).await;
            assert_eq!(counted.now(), (1, 0));
            run.send(A, &7).await.unwrap();
            assert_eq!(soon(run.result()).await, Ok(7));
        }
    })
    .await;
}
