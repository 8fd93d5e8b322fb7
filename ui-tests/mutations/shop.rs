//! What the workflows of the mutations have in common: what a shop does with orders, and how it answers.

use perennial::prelude::*;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Order {
    pub id: String,
    pub cents: u64,
    pub skus: Vec<String>,
}

/// Why a card is not charged.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Declined {
    NoCover,
    Stolen,
}

impl std::fmt::Display for Declined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("declined")
    }
}

/// What is thought of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Risk {
    #[default]
    Low,
    Medium,
    High,
}

#[activity(idempotent)]
pub async fn charge(_acx: &ActivityCx, _cents: u64) -> Result<String, Failure<Declined>> {
    Ok(String::new())
}

#[activity(idempotent)]
pub async fn refund(_acx: &ActivityCx, _receipt: String) -> Result<(), Failure> {
    Ok(())
}

#[activity(idempotent)]
pub async fn ship(_acx: &ActivityCx, _sku: String) -> Result<String, Failure> {
    Ok(String::new())
}

#[activity(idempotent)]
pub async fn mail(_acx: &ActivityCx, _text: String) -> Result<(), Failure> {
    Ok(())
}

#[activity(idempotent)]
pub async fn reserve(_acx: &ActivityCx, _what: String) -> Result<String, Failure> {
    Ok(String::new())
}

#[activity(idempotent)]
pub async fn release(_acx: &ActivityCx, _what: String) -> Result<(), Failure> {
    Ok(())
}

/// Asks a person.
#[activity(idempotent)]
pub async fn approve(_acx: &ActivityCx, _what: String) -> Result<bool, Failure> {
    Ok(true)
}

#[activity(pure)]
pub async fn price(_acx: &ActivityCx, _sku: String) -> Result<u64, Failure> {
    Ok(0)
}

#[activity(pure)]
pub async fn stock(_acx: &ActivityCx, _sku: String) -> Result<u64, Failure> {
    Ok(0)
}

#[activity(pure)]
pub async fn rate(_acx: &ActivityCx, _id: String) -> Result<Risk, Failure> {
    Ok(Risk::Low)
}

/// What no original calls: for what is inserted.
#[activity(pure)]
pub async fn audit(_acx: &ActivityCx, _what: String) -> Result<(), Failure> {
    Ok(())
}

/// Yes or no.
pub const ANSWER: Message<bool> = Message::new("answer");
pub const NOTE: Message<String> = Message::new("note");
pub const BELL: Signal<u64> = Signal::new("bell");

/// What somebody would pay.
#[stub]
pub async fn verdict(cx: &Cx, about: String) -> u64;

/// What was agreed on.
#[stub]
pub async fn confirm(cx: &Cx, about: String) -> u64;

/// Where to say what one would pay.
pub const OFFERED: Message<OperationId> = Message::new("offered");
pub const EVENTS: Stream<String> = Stream::new("events");

/// What nobody sends or gives out: for what is renamed.
pub const PROPOSED: Message<OperationId> = Message::new("proposed");
pub const NEWS: Stream<String> = Stream::new("news");
pub const REPLY: Message<bool> = Message::new("reply");
pub const REMARK: Message<String> = Message::new("remark");
pub const NUMBER: Message<u64> = Message::new("number");

/// How an activity answers where a run does not say it otherwise: each input has an answer of its own.
pub fn answer(activity: &str, input: &Value) -> Option<Value> {
    let text = input.as_str().unwrap_or_default();
    Some(match activity {
        "charge" => json!(format!("receipt of {input}")),
        "ship" => json!(format!("parcel of {text}")),
        "reserve" => json!(format!("place of {text}")),
        "refund" | "mail" | "release" | "audit" => Value::Null,
        "approve" => json!(true),
        "price" => json!(text.len() * 100),
        "stock" => json!(text.len() - 1),
        "rate" => json!("Low"),
        _ => return None,
    })
}
