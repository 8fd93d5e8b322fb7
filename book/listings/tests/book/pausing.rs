//! The code of *Pausing and forking*.

use perennial_book::pausing::{DECISION, charge, look_into, once_more, order};
use perennial_runtime::{ForkError, Runtime};

use crate::texts::assert_text;

#[tokio::test]
async fn pausing_and_forking() {
    let runtime = Runtime::builder(perennial_runtime::store::MemoryStore::new())
        .workflow(order)
        .activity(charge)
        .start()
        .await
        .unwrap();
    let client = runtime.client();
    let run = client.start(order, "order-42", 1250).await.unwrap();
    while run.status().await.unwrap().events < 5 {
        tokio::task::yield_now().await;
    }
    look_into(&client, run.id()).await.unwrap();
    assert_eq!(run.status().await.unwrap().paused, None);

    run.send(DECISION, &false).await.unwrap();
    assert_eq!(run.result().await.unwrap(), "taken back");
    let again = once_more(&run).await.unwrap();
    again.send(DECISION, &true).await.unwrap();
    assert_eq!(again.result().await.unwrap(), "shipped for 1250");

    let at_end = run.fork(8, "order-42-late").await.unwrap_err();
    assert!(matches!(at_end, ForkError::AtEnd { .. }));
    assert_text("texts/pausing/at-end.txt", &at_end.to_string());
    assert_text(
        "texts/pausing/history.txt",
        &run.history().await.unwrap().history.text(),
    );
}
