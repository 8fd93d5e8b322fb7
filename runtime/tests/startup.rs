//! What a runtime says when it cannot start.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use perennial::prelude::*;
use perennial_runtime::store::{MemoryStore, Store};
use perennial_runtime::{Runtime, StartupError};

struct Bank;

#[activity(pure)]
async fn quote(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

#[activity(idempotent, name = "charge.v2")]
async fn charge(acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    let _: &Bank = acx.state::<Bank>();
    Ok(cents)
}

#[durable]
async fn settle_order(cx: &Cx, cents: u64) -> Result<u64, Error> {
    Ok(charge(cx, cents).await?)
}

#[workflow]
async fn order(cx: &Cx, cents: u64) -> Result<u64, Error> {
    let cents = quote(cx, cents).await?;
    settle_order(cx, cents).await
}

mod other {
    use perennial::prelude::*;

    #[workflow(name = "order")]
    pub(crate) async fn order_too(cx: &Cx) -> Result<(), Error> {
        let _ = cx;
        Ok(())
    }
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

#[tokio::test]
async fn what_is_not_registered_is_named() {
    let texts = [
        Runtime::builder(memory())
            .workflow(order)
            .start()
            .await
            .unwrap_err()
            .to_string(),
        Runtime::builder(memory())
            .workflow(order)
            .activities((quote, charge))
            .start()
            .await
            .unwrap_err()
            .to_string(),
        Runtime::builder(memory())
            .workflow(order)
            .workflow(other::order_too)
            .start()
            .await
            .unwrap_err()
            .to_string(),
    ];
    insta::assert_snapshot!(texts.join("\n---\n"));
    let complete = Runtime::builder(memory())
        .workflow(order)
        .workflow(order)
        .activities((quote, charge))
        .state(Bank);
    complete.start().await.unwrap();
}

#[test]
fn a_start_outside_tokio_says_what_is_missing() {
    let start = Runtime::builder(memory()).start();
    let mut start = std::pin::pin!(start);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = start.as_mut().poll(&mut context) else {
        panic!("it cannot start")
    };
    assert!(matches!(error, StartupError::NoTokio));
    insta::assert_snapshot!(error);
}
