//! What a program can run, as data.

#![allow(clippy::unwrap_used)]

use perennial::prelude::*;
use perennial::value::Value;
use perennial_runtime::store::MemoryStore;
use perennial_runtime::{Builder, Manifest, Runtime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Order {
    /// In cents.
    total: u64,
    #[serde(default)]
    note: Option<String>,
}

/// Without a schema.
#[derive(Clone, Serialize, Deserialize)]
struct Receipt {
    number: u64,
}

#[derive(Debug)]
struct Bank;

#[activity(idempotent, attempt = "30s", retry(attempts = 5))]
async fn charge_card(acx: &ActivityCx, order: Order) -> Result<Receipt, Failure<String>> {
    let Bank = *acx.state::<Bank>();
    Ok(Receipt {
        number: order.total,
    })
}

#[activity(pure)]
async fn add(_acx: &ActivityCx, one: u32, other: u32) -> Result<u32, Failure> {
    Ok(one + other)
}

#[workflow(version = 3, compare_inputs = false)]
async fn order(cx: &Cx, order: Order) -> Result<u64, Error> {
    if cx.patched("fraud-check") {
        add(cx, 0, 1).await?;
    }
    let receipt = charge_card(cx, order).await?;
    add(cx, 1, 2).await?;
    add(cx, 3, 4).await?;
    Ok(receipt.number)
}

const APPROVAL: Message<Order> = Message::new("approval");
const NOTE: Message<Receipt> = Message::new("note");
const BELL: Signal<bool> = Signal::new("bell");

/// Its signal stands before its messages, and one of those twice.
#[workflow]
async fn receives(cx: &Cx, often: Vec<u64>) -> Result<u64, Error> {
    cx.wait_for(BELL).await?;
    let note = cx.receive(NOTE).await?;
    for _ in often {
        cx.receive(APPROVAL).await?;
    }
    cx.receive(NOTE).timeout(days(1)).await?;
    Ok(note.number)
}

const OUTPUT: Stream<Order> = Stream::new("output");
const SET_ORDER: Update<Order, Option<u64>, String> = Update::new("set-order");
const CLOSE: Update<(), Receipt, Receipt> = Update::new("close");
const NOTES: Stream<Receipt> = Stream::new("notes");
const STATUS: View<bool> = View::new("status");

/// Its view stands before its streams, and one of those twice.
#[workflow]
async fn publishes(cx: &Cx, orders: Vec<Order>) -> Result<(), Error> {
    cx.set(STATUS, true);
    for order in orders {
        cx.emit(NOTES, Receipt { number: 1 });
        cx.emit(OUTPUT, order);
    }
    cx.emit(NOTES, Receipt { number: 2 });
    Ok(())
}

/// One that it handles twice, and one under a name that is no constant.
#[workflow]
async fn handles(cx: &Cx, others: bool) -> Result<(), Error> {
    for number in 1..=2 {
        cx.handle(SET_ORDER, |_| Ok(()), move |_| Some(number));
    }
    cx.handle(CLOSE, |_| Ok(()), |_| Receipt { number: 3 });
    cx.until(|| others).await;
    Ok(())
}

#[workflow]
async fn handles_others(cx: &Cx) -> Result<(), Error> {
    let name: Update<u64, u64, String> = Update::new("anything");
    cx.handle(name, |_| Ok(()), |new| new);
    Ok(())
}

/// With a schema and without.
#[stub]
async fn review(cx: &Cx, order: Order) -> Receipt;

#[stub(name = "second look")]
async fn peruse(cx: &Cx) -> bool;

#[durable]
async fn seen_again(cx: &Cx) -> Result<bool, StubError> {
    peruse(cx).await
}

#[workflow]
async fn offers(cx: &Cx, order: Order) -> Result<u64, Error> {
    seen_again(cx).await?;
    Ok(review(cx, order).await?.number)
}

/// Under a name that is no constant.
#[workflow]
async fn receives_others(cx: &Cx) -> Result<u64, Error> {
    let name: Message<u64> = Message::new("anything");
    Ok(cx.receive(name).await?)
}

#[workflow]
async fn empty(_cx: &Cx) -> Result<(), Error> {
    Ok(())
}

fn program() -> Builder {
    Runtime::builder(MemoryStore::new())
        .workflow(order)
        .workflow(empty)
        .workflow(receives)
        .workflow(receives_others)
        .workflow(publishes)
        .workflow(handles)
        .workflow(handles_others)
        .workflow(offers)
        .activities((charge_card, add))
        .state(Bank)
        .artifact("shop 1")
}

#[test]
fn a_program_tells_what_it_can_run() {
    let manifest = program().manifest();
    let mut shown = manifest.clone();
    shown.software = "[software]".to_owned();
    shown.semantics = 1;
    insta::assert_snapshot!(shown.to_json());
    assert!(manifest.workflow("order").is_some() && manifest.activity("add").is_some());
    assert!(manifest.workflow("ordr").is_none() && manifest.activity("order").is_none());
}

#[test]
fn a_manifest_is_read_back_as_it_was() {
    let manifest = program().manifest();
    let value = manifest.to_value();
    assert_eq!(Manifest::from_value(&value), Some(manifest));
}

#[test]
fn what_newer_software_adds_is_passed_over_and_another_form_is_not_read() {
    let text = r#"{"format":1,"artifact":"a","software":"s","semantics":1,"workflows":[{"name":"w","color":"red"}],"activities":[],"more":1}"#;
    let manifest = Manifest::from_value(&Value::from_json(text).unwrap()).unwrap();
    assert!(manifest.workflow("w").unwrap().compare_inputs);
    let newer = text.replace("\"format\":1", "\"format\":2");
    assert_eq!(
        Manifest::from_value(&Value::from_json(newer).unwrap()),
        None
    );
    assert_eq!(Manifest::from_value(&Value::null()), None);
}

#[test]
fn a_marker_is_supported_within_its_range_and_where_it_is_retired() {
    let text = r#"{"format":1,"artifact":"a","software":"s","semantics":1,"activities":[],"workflows":[
        {"name":"w","markers":[{"id":"fraud","lowest":1,"highest":2}],"retired":[{"id":"tax","version":3}]}]}"#;
    let manifest = Manifest::from_value(&Value::from_json(text).unwrap()).unwrap();
    let workflow = manifest.workflow("w").unwrap();
    let supported = |id, version| workflow.supports(id, version);
    assert_eq!(
        [0, 1, 2, 3].map(|version| supported("fraud", version)),
        [false, true, true, false]
    );
    assert_eq!(
        [2, 3, 4].map(|version| supported("tax", version)),
        [false, true, false]
    );
    assert!(!supported("other", 0));
}

#[tokio::test]
async fn a_runtime_has_the_manifest_of_its_builder() {
    let manifest = program().manifest();
    let runtime = program().start().await.unwrap();
    assert_eq!(runtime.manifest(), manifest);
}
