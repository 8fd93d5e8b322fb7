//! A program is deployed that does not fit, and what there is to see then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use perennial::prelude::*;
use perennial_book::blocked::{look, try_again};
use perennial_book::errors::{self, Order, Shop, changed_input};
use perennial_runtime::store::{Durability, MemoryStore, SledStore};
use perennial_runtime::{Builder, RunError, Runtime};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::chapters::Still;
use crate::texts::assert_text;

fn program(folder: &TempDir, day: &str, shop: Shop) -> Builder {
    let options = SledStore::options().durability(Durability::Os);
    let store = options.open(folder.path()).unwrap();
    Runtime::builder(store)
        .activities((errors::charge_card, errors::ship, errors::send_receipt))
        .state(shop)
        .clock(Still)
        .artifact(day)
}

#[tokio::test]
async fn a_bad_deploy_is_looked_at_and_rolled_back() {
    let folder = tempfile::tempdir().unwrap();
    let told = Arc::new(Semaphore::new(0));
    let closed = Some(Arc::clone(&told));
    let monday = program(&folder, "monday", Shop { closed }).workflow(errors::fulfil);
    let runtime = monday.start().await.unwrap();
    let order = Order {
        id: "42".to_owned(),
        cents: 1_200,
    };
    let started = runtime
        .client()
        .start(errors::fulfil, "order-42", order)
        .await;
    let id = started.unwrap().id().clone();
    told.acquire().await.unwrap().forget();
    drop(runtime);

    let tuesday = program(&folder, "tuesday", Shop::default()).workflow(changed_input::fulfil);
    let runtime = tuesday.start().await.unwrap();
    let client = runtime.client();
    let run = client.run(errors::fulfil, "order-42").unwrap();
    assert!(matches!(run.result().await, Err(RunError::Blocked { .. })));
    assert_text("texts/blocked/look.txt", &look(&client).await.unwrap());
    let tried = try_again(&client, &id).await;
    assert_eq!(
        tried,
        "order-42 was tried again, and is still blocked: H202"
    );
    drop(runtime);

    let monday = program(&folder, "monday", Shop::default()).workflow(errors::fulfil);
    let runtime = monday.start().await.unwrap();
    let client = runtime.client();
    let run = client.run(errors::fulfil, "order-42").unwrap();
    assert_eq!(run.result().await.unwrap(), "parcel of 42");
    assert_eq!(look(&client).await.unwrap(), "blocked runs: 0\n");
}

static WRONG: AtomicBool = AtomicBool::new(true);

#[workflow]
async fn needs_a_setting(cx: &Cx) -> Result<u32, Error> {
    let _ = cx;
    #[allow_nondeterminism(
        statics,
        reason = "a setting, which is repaired while the program runs"
    )]
    assert!(!WRONG.load(Ordering::SeqCst), "there is no such bank");
    Ok(1)
}

#[tokio::test]
async fn a_run_is_tried_again_on_request() {
    let builder = Runtime::builder(MemoryStore::new()).workflow(needs_a_setting);
    let runtime = builder.start().await.unwrap();
    let client = runtime.client();
    let run = client.start(needs_a_setting, "pays", ()).await.unwrap();
    assert!(matches!(run.result().await, Err(RunError::Blocked { .. })));
    let tried = try_again(&client, run.id()).await;
    assert_eq!(tried, "pays was tried again, and is still blocked: W101");
    WRONG.store(false, Ordering::SeqCst);
    assert_eq!(try_again(&client, run.id()).await, "pays goes on");
    assert_eq!(run.result().await.unwrap(), 1);
}
