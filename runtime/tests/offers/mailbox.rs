//! A mailbox through the engine: whoever looks finds exactly one offer (B1, B6).

use perennial_runtime::FulfilError;

use crate::support::each_store;
use crate::world::*;

#[tokio::test]
async fn b01_b06_whoever_looks_finds_one_offer() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(agent, "b06", 40).await.unwrap();
        let id = "b06".parse().unwrap();
        let watching = client.clone();
        let watch = tokio::spawn(async move {
            let mut looks = 0;
            loop {
                let status = watching.status(&id).await.unwrap();
                let page = watching.waiting().page().await.unwrap();
                let after = watching.status(&id).await.unwrap();
                if after.finished.is_some() {
                    return looks;
                }
                // A value that is in the queue has no offer any more, and the run has not taken it yet.
                assert!(page.offers.len() <= 1, "{status:?}");
                looks += 1;
            }
        });
        for number in 0..40 {
            let reference = loop {
                let open = run.offers().open().page().await.unwrap().offers;
                if let [offer] = &open[..] {
                    break offer.reference.clone();
                }
                assert!(open.is_empty());
                tokio::task::yield_now().await;
            };
            run.fulfil(&reference, inject, &number).await.unwrap();
        }
        let heard = soon(run.result()).await.unwrap();
        assert_eq!(heard, (0..40).collect::<Vec<_>>());
        soon(watch).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn b05_b07_of_two_that_use_a_mailbox_at_once_each_is_heard_once() {
    each_store(async |store| {
        let runtime = runtime(store, &World::new()).await;
        let client = runtime.client();
        let run = client.start(agent, "b05-mail", 40).await.unwrap();
        let sender = |first: u64| {
            let run = run.clone();
            async move {
                for number in first..first + 20 {
                    loop {
                        let open = run.offers().open().page().await.unwrap().offers;
                        let Some(offer) = open.first() else {
                            tokio::task::yield_now().await;
                            continue;
                        };
                        match run.fulfil(&offer.reference, inject, &number).await {
                            Ok(receipt) => {
                                assert!(!receipt.duplicate);
                                break;
                            }
                            Err(FulfilError::Conflict { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            }
        };
        soon(async { tokio::join!(sender(0), sender(100)) }).await;
        let mut heard = soon(run.result()).await.unwrap();
        // Those of each sender in their order.
        let own = |heard: &[u64], first: u64| -> Vec<u64> {
            let own = heard.iter().filter(|n| (first..first + 20).contains(*n));
            own.copied().collect()
        };
        for first in [0, 100] {
            assert_eq!(own(&heard, first), (first..first + 20).collect::<Vec<_>>());
        }
        heard.sort_unstable();
        heard.dedup();
        assert_eq!(heard.len(), 40);
    })
    .await;
}
