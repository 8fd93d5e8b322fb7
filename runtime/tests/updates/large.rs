//! Answers, and reasons, that are too large to be stored.

use std::cell::Cell;
use std::rc::Rc;

use perennial::prelude::*;
use perennial::value::MAX_VALUE_BYTES;
use perennial_runtime::UpdateError;

use crate::support::each_store;
use crate::world::*;

const SAY: Update<usize, String, String> = Update::new("say");

/// Says as much as it is asked for, and why not where it is too much by far.
#[workflow]
async fn speaks(cx: &Cx) -> Result<u64, Error> {
    let times = Rc::new(Cell::new(0_u64));
    let counts = Rc::clone(&times);
    cx.handle(
        SAY,
        |size: &usize| match *size > 2 * MAX_VALUE_BYTES {
            true => Err("n".repeat(*size)),
            false => Ok(()),
        },
        move |size| {
            counts.set(counts.get() + 1);
            "y".repeat(size)
        },
    );
    cx.until(|| times.get() == 2).await;
    Ok(times.get())
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_told_and_nothing_of_it_is_done() {
    each_store(async |store| {
        let builder = builder(store, &World::new()).workflow(speaks);
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let run = client.start(speaks, "speaks", ()).await.unwrap();
        let say = |size: usize| soon(run.update(SAY, &size).into_future());
        assert_eq!(say(3).await, Ok("yyy".to_owned()));
        let unstorable = say(2 * MAX_VALUE_BYTES + 1).await;
        assert!(
            matches!(unstorable, Err(UpdateError::Unstorable { .. })),
            "it says why not at too great a length"
        );
        let blocked = say(MAX_VALUE_BYTES).await;
        assert!(
            matches!(&blocked, Err(UpdateError::RunBlocked { code, .. }) if code == "W104"),
            "with its quotes it is too large: {blocked:?}"
        );
        let events = units(&client, "speaks").await.len();
        // The run can go on: what was asked of it is not in its history.
        run.unblock().await.unwrap();
        assert_eq!(units(&client, "speaks").await.len(), events);
        assert_eq!(
            say(MAX_VALUE_BYTES - 2).await.unwrap().len(),
            MAX_VALUE_BYTES - 2
        );
        assert_eq!(soon(run.result()).await.unwrap(), 2);
    })
    .await;
}
