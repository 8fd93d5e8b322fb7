//! *Between runs*.

use perennial::prelude::*;
use perennial::testing::TestRun;
use perennial_book::between_runs::{RESERVED, desk, group, hall, order, quote};
use perennial_runtime::Runtime;
use perennial_runtime::store::MemoryStore;

use crate::texts::assert_text;

fn id(name: &str) -> RunId {
    RunId::new(name).unwrap()
}

#[tokio::test]
async fn two_runs_tell_each_other_something() {
    let runtime = Runtime::builder(MemoryStore::new())
        .workflow(order)
        .workflow(hall)
        .start()
        .await
        .unwrap();
    let client = runtime.client();
    client.start(hall, "hall-1", 10).await.unwrap();
    for (name, seats, reserved) in [("order-42", 7, true), ("order-43", 5, false)] {
        let run = client.start(order, name, (id("hall-1"), seats));
        let run = run.await.unwrap();
        assert_eq!(run.result().await.unwrap(), reserved);
        if reserved {
            let history = run.history().await.unwrap().history;
            assert_text("texts/between-runs/history.txt", &history.text());
        }
    }
    let nowhere = client.start(order, "order-44", (id("hall-2"), 1));
    let error = nowhere.await.unwrap().result().await.unwrap_err();
    assert_text("texts/between-runs/not-found.txt", &error.to_string());
}

// ANCHOR: test
#[perennial::test]
fn an_order_that_is_late_keeps_no_seats(t: &mut TestRun) {
    let hall = t.start_as("hall-1", hall, 10);
    t.on_send(|sent| match &*sent.name {
        "reserved" => Err(SendFailure::RunNotFound {
            run: sent.to.clone(),
        }),
        _ => Ok(()),
    });
    let run = t.start(order, (id("hall-1"), 7));
    assert_eq!(run.sent()[0].to, id("hall-1"));
    assert!(hall.result().is_err());
    assert!(!run.result().unwrap());
}
// ANCHOR_END: test

#[perennial::test]
fn an_order_gets_its_answer(t: &mut TestRun) {
    let hall = t.start_as("hall-1", hall, 10);
    let run = t.start(order, (id("hall-1"), 7));
    assert!(run.result().unwrap());
    // M49: one that is over takes none.
    assert_eq!(hall.result().unwrap(), 3);
    let alone = t.start(order, (id("elsewhere"), 7));
    alone.send(RESERVED, true);
    assert!(alone.result().unwrap());
}

#[tokio::test]
async fn one_run_gives_another_one_what_it_waits_for() {
    let builder = Runtime::builder(MemoryStore::new()).workflow(group);
    let runtime = builder.workflow(desk).start().await.unwrap();
    let client = runtime.client();
    let desk = client.start(desk, "desk-1", 12).await.unwrap();
    let run = client.start(group, "group-7", (id("desk-1"), 20));
    let run = run.await.unwrap();
    assert_eq!(run.result().await.unwrap(), Some(240));
    let mut history = desk.history().await.unwrap().history;
    // The answer is there before the desk knows.
    while history.units.len() < 3 {
        tokio::task::yield_now().await;
        history = desk.history().await.unwrap().history;
    }
    assert_text("texts/between-runs/given.txt", &history.text());
}

// ANCHOR: given
#[perennial::test]
fn a_price_that_comes_too_late_is_no_sale(t: &mut TestRun) {
    let desk = t.start_as("desk-1", desk, 12);
    t.on_fulfil(|fulfilled| {
        let reference = fulfilled.reference.clone();
        match fulfilled.value.decode::<u64>() {
            Ok(240) => Err(FulfilFailure::Conflict {
                reference,
                stub: "quote".into(),
            }),
            _ => Ok(()),
        }
    });
    let large = t.start(group, (id("desk-1"), 20));
    let small = t.start(group, (id("desk-1"), 2));
    assert_eq!(small.result().unwrap(), Some(24));
    assert_eq!(desk.fulfilled().len(), 2);
    assert_eq!(large.result().unwrap(), None);
    assert_eq!(desk.result().unwrap(), 1);
}
// ANCHOR_END: given

#[perennial::test]
fn somebody_at_the_desk_is_faster(t: &mut TestRun) {
    let run = t.start_as("group-7", group, (id("desk-1"), 20));
    run.fulfil(quote, 199);
    assert_eq!(run.result().unwrap(), Some(199));
}
