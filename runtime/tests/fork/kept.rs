//! Messages that a wait has got and not returned: such a wait was put aside, and the fork has it as one that has got
//! nothing.

use perennial::prelude::*;
use perennial_runtime::{ForkError, MessageState};

use crate::support::each_store;
use crate::world::*;

/// Puts a wait aside that has begun, and comes back to it when it is told so.
#[workflow]
async fn keeps(cx: &Cx) -> Result<(u64, u64), Error> {
    let mut aside = cx.receive(A);
    select! {
        got = &mut aside => return Ok((got?, 0)),
        go = cx.receive(B) => go?,
    };
    let go = cx.receive(B).await?;
    Ok((aside.await?, go))
}

#[workflow]
async fn ends_at_once(cx: &Cx) -> Result<(), Error> {
    let _ = cx;
    Ok(())
}

#[tokio::test]
async fn m43_a_message_that_a_wait_has_got_and_not_returned_is_not_the_forks() {
    for warm_memory in [0, 1 << 20] {
        each_store(async |store| {
            let builder = builder(store.clone(), &World::new()).workflow(keeps);
            let runtime = builder.warm_memory(warm_memory).start().await.unwrap();
            let old = runtime.client().start(keeps, "old", ()).await.unwrap();
            old.send(B, &0).await.unwrap();
            has_events(&old, 6).await;
            old.send(A, &1).await.unwrap();
            has_events(&old, 7).await;
            let fork = old.fork(7, "fork").await.unwrap();
            let awaits = fork.status().await.unwrap().awaits.messages;
            assert_eq!(awaits, ["a", "b"]);
            assert!(
                fork.list_messages()
                    .page()
                    .await
                    .unwrap()
                    .messages
                    .iter()
                    .all(|message| matches!(message.state, MessageState::Consumed { .. }))
            );
            // The wait that was put aside gets it.
            fork.send(A, &5).await.unwrap();
            has_events(&fork, 8).await;
            assert_eq!(fork.status().await.unwrap().awaits.not_taken, 1);
            for run in [&old, &fork] {
                run.send(B, &9).await.unwrap();
            }
            assert_eq!(soon(fork.result()).await.unwrap(), (5, 9));
            assert_eq!(soon(old.result()).await.unwrap(), (1, 9));
        })
        .await;
    }
}

#[tokio::test]
async fn a_run_that_has_ended_with_what_it_did_first_cannot_be_forked() {
    each_store(async |store| {
        let builder = builder(store, &World::new()).workflow(ends_at_once);
        let runtime = builder.start().await.unwrap();
        let old = runtime
            .client()
            .start(ends_at_once, "old", ())
            .await
            .unwrap();
        soon(old.result()).await.unwrap();
        let error = old.fork(1, "fork").await.unwrap_err();
        assert!(matches!(error, ForkError::AtEnd { last: 0, .. }));
        insta::assert_snapshot!("ended_at_once", error);
    })
    .await;
}
