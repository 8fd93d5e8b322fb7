//! *Updates and views*: its first half.

// ANCHOR: imports
use std::cell::Cell;
use std::rc::Rc;

use perennial::prelude::*;
use perennial_runtime::{Client, UpdateError};
// ANCHOR_END: imports

// ANCHOR: declare
/// The new limit; the answer is the old one, and a refusal says why.
pub const SET_LIMIT: Update<u64, u64, String> = Update::new("set-limit");
// ANCHOR_END: declare

#[activity(idempotent)]
pub async fn buy(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

// ANCHOR: handle
#[workflow]
pub async fn shopping(cx: &Cx, prices: Vec<u64>) -> Result<u64, Error> {
    let limit = Rc::new(Cell::new(1_000));
    let spent = Rc::new(Cell::new(0));
    cx.handle(
        SET_LIMIT,
        {
            let spent = Rc::clone(&spent);
            move |new: &u64| match spent.get() {
                spent if *new < spent => Err(format!("{spent} are spent already")),
                _ => Ok(()),
            }
        },
        {
            let limit = Rc::clone(&limit);
            move |new: u64| limit.replace(new)
        },
    );
    for price in prices {
        cx.until(|| spent.get() + price <= limit.get()).await;
        spent.set(spent.get() + buy(cx, price).await?);
    }
    Ok(spent.get())
}
// ANCHOR_END: handle

// ANCHOR: ask
pub async fn raise(
    client: &Client,
    run: &RunId,
    limit: u64,
) -> Result<String, UpdateError<String>> {
    let asked = client
        .update(run, SET_LIMIT, &limit)
        .idempotency_key(format!("raise-to-{limit}"))
        .await;
    match asked {
        Ok(before) => Ok(format!("{limit} instead of {before}")),
        Err(UpdateError::Refused(why)) => Ok(format!("no: {why}")),
        Err(error) => Err(error),
    }
}
// ANCHOR_END: ask

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use perennial::testing::TestRun;

    // ANCHOR: test
    #[perennial::test]
    fn the_limit_may_be_raised_and_not_be_less_than_what_is_spent(t: &mut TestRun) {
        t.allow(buy);
        let run = t.start(shopping, vec![800, 300]);
        assert_eq!(
            run.update(SET_LIMIT, 500),
            Err("800 are spent already".to_owned())
        );
        assert_eq!(run.update(SET_LIMIT, 1_100), Ok(1_000));
        assert_eq!(run.result().unwrap(), 1_100);
    }
    // ANCHOR_END: test

    #[tokio::test]
    async fn a_limit_is_raised_from_outside() {
        use perennial_runtime::Runtime;
        use perennial_runtime::store::MemoryStore;

        let builder = Runtime::builder(MemoryStore::new()).workflow(shopping);
        let runtime = builder.activity(buy).start().await.unwrap();
        let client = runtime.client();
        let run = client.start(shopping, "s-1", vec![800, 300]).await.unwrap();
        // One that came before the purchase would find nothing spent.
        while client.status(run.id()).await.unwrap().events < 3 {
            tokio::task::yield_now().await;
        }
        let no = raise(&client, run.id(), 500).await.unwrap();
        assert_eq!(no, "no: 800 are spent already");
        for _ in 0..2 {
            let done = raise(&client, run.id(), 1_100).await.unwrap();
            assert_eq!(done, "1100 instead of 1000");
        }
        assert_eq!(run.result().await.unwrap(), 1_100);
    }
}
