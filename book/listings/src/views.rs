//! *Updates and views*.

// ANCHOR: imports
use perennial::prelude::*;
use perennial_runtime::{Client, ViewError};
use serde::{Deserialize, Serialize};
// ANCHOR_END: imports

// ANCHOR: declare
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Status {
    WaitsForPayment,
    Packs,
    Shipped,
}

pub const STATUS: View<Status> = View::new("status");
pub const PAID: Message<u64> = Message::new("paid");
// ANCHOR_END: declare

#[activity(idempotent)]
pub async fn pack(_acx: &ActivityCx, order: String) -> Result<(), Failure> {
    drop(order);
    Ok(())
}

// ANCHOR: set
#[workflow]
pub async fn order(cx: &Cx, order: String) -> Result<(), Error> {
    cx.set(STATUS, Status::WaitsForPayment);
    cx.receive(PAID).await?;
    cx.set(STATUS, Status::Packs);
    pack(cx, order).await?;
    cx.set(STATUS, Status::Shipped);
    Ok(())
}
// ANCHOR_END: set

// ANCHOR: read
pub async fn status(client: &Client, run: &RunId) -> Result<String, ViewError> {
    Ok(match client.view(run, STATUS).await? {
        None => "not begun".to_owned(),
        Some(status) if status.stale => {
            format!("{:?} at {}, and blocked since", status.value, status.at)
        }
        Some(status) => format!("{:?}", status.value),
    })
}
// ANCHOR_END: read

// ANCHOR: watch
pub async fn until_shipped(client: &Client, run: &RunId) -> Result<bool, ViewError> {
    let mut statuses = client.watch(run, STATUS);
    while let Some(status) = statuses.next().await {
        if status?.value == Status::Shipped {
            return Ok(true);
        }
    }
    Ok(false)
}
// ANCHOR_END: watch

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use perennial::testing::TestRun;

    // ANCHOR: test
    #[perennial::test]
    fn an_order_says_what_it_waits_for(t: &mut TestRun) {
        t.allow(pack);
        let run = t.start(order, "A-1".to_owned());
        assert_eq!(run.view(STATUS), Some(Status::WaitsForPayment));
        run.send(PAID, 500);
        run.result().unwrap();
        assert_eq!(run.view(STATUS), Some(Status::Shipped));
    }
    // ANCHOR_END: test

    #[tokio::test]
    async fn a_view_is_read_and_watched() {
        use perennial_runtime::Runtime;
        use perennial_runtime::store::MemoryStore;

        let builder = Runtime::builder(MemoryStore::new()).workflow(order);
        let runtime = builder.activity(pack).start().await.unwrap();
        let client = runtime.client();
        let run = client.start(order, "A-1", "A-1".to_owned()).await.unwrap();
        assert_eq!(status(&client, run.id()).await.unwrap(), "WaitsForPayment");
        run.send(PAID, &500).await.unwrap();
        assert!(until_shipped(&client, run.id()).await.unwrap());
        assert_eq!(status(&client, run.id()).await.unwrap(), "Shipped");
    }
}
