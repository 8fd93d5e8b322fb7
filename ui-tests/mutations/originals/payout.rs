//! Activities of each class with options, each of their failures, and a decision by a rating.

use perennial::prelude::*;

use crate::shop::*;

/// What a bank wants to know.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Transfer {
    pub to: String,
    pub cents: u64,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Quote {
    pub cents: u64,
    pub currency: String,
}

#[activity(pure, attempt = "10s", retry(attempts = 3))]
async fn quote(_acx: &ActivityCx, cents: u64) -> Result<Quote, Failure> {
    Err(Failure::transient(cents))
}

#[activity(idempotent, timeout = "1h")]
async fn transfer(_acx: &ActivityCx, transfer: Transfer) -> Result<String, Failure<Declined>> {
    Err(Failure::transient(transfer.to))
}

#[workflow]
pub async fn payout(cx: &Cx, order: Order) -> Result<String, Error> {
    let rating = rate(cx, order.id.clone()).await?;
    let quoted = quote(cx, order.cents)
        .retry(Retry::new().attempts(5))
        .attempt(seconds(20))
        .await;
    let quote = match quoted {
        Ok(quote) => quote,
        Err(ActivityError::RetriesExhausted { last, .. }) => {
            mail(cx, format!("no quote: {last}")).await?;
            Quote::default()
        }
        Err(error) => return Err(error.into()),
    };
    match rating {
        Risk::Low => {}
        Risk::Medium => cx.sleep(days(1)).await?,
        Risk::High => {
            if !approve(cx, order.id.clone()).await? {
                return Err(Error::new("not approved"));
            }
        }
    }
    let asked = Transfer {
        to: order.id.clone(),
        cents: quote.cents,
    };
    match transfer(cx, asked).await {
        Ok(receipt) => Ok(receipt),
        Err(ActivityError::Rejected(Declined::NoCover)) => {
            mail(cx, "we are broke".to_owned()).await?;
            Ok("none".to_owned())
        }
        Err(ActivityError::TimedOut) => {
            audit(cx, "the bank is silent".to_owned()).await?;
            Ok("unknown".to_owned())
        }
        Err(error) => Err(error.into()),
    }
}

// # Answers
//
// quote: {"cents": 88, "currency": "EUR"}
// transfer: "transferred"
//
// # Runs
//
// low: {"id": "w-1", "cents": 100, "skus": []}
// medium: {"id": "w-2", "cents": 100, "skus": []}
//     rate answers "Medium"
//     quote fails "no connection"
// high: {"id": "w-3", "cents": 100, "skus": []}
//     rate answers "High"
//     transfer rejects "NoCover"
// silent: {"id": "w-4", "cents": 100, "skus": []}
//     rate answers "High"
//     transfer times out
// no quote: {"id": "w-5", "cents": 100, "skus": []}
//     quote times out
//
// # Mutations
//
// insert: it is approved for medium too = lock L301; replay H203
// - Risk::Medium => cx.sleep(days(1)).await?,
// + Risk::Medium => { approve(cx, order.id.clone()).await?; cx.sleep(days(1)).await? }
// insert: an audit of what is of low risk = lock L304; replay H203
// - Risk::Low => {}
// + Risk::Low => { audit(cx, order.id.clone()).await?; }
// remove: the rating = lock L302; replay H201 H204
// - let rating = rate(cx, order.id.clone()).await?;
// + let rating = Risk::Low;
// remove: the mail where there is no quote = lock L302; replay H201
// - mail(cx, format!("no quote: {last}")).await?;
// + cx.log(last);
// rename: an activity and not its name in histories = harmless
// - #[activity(idempotent, timeout = "1h")] async fn transfer(
// + #[activity(idempotent, timeout = "1h", name = "transfer")] async fn send(
// - match transfer(cx, asked).await {
// + match send(cx, asked).await {
// rename: an activity = lock L304; replay H201
// - async fn transfer(
// + async fn send(
// - match transfer(cx, asked).await {
// + match send(cx, asked).await {
// rename: the name of an activity in histories = lock L304; replay H201
// - #[activity(idempotent, timeout = "1h")]
// + #[activity(idempotent, timeout = "1h", name = "wire")]
// reorder: the quote before the rating = lock L303; replay H203 H205
// - let rating = rate(cx, order.id.clone()).await?;
// +
// - match rating {
// + let rating = rate(cx, order.id.clone()).await?; match rating {
// kind: a pause in place of the approval = lock L304; replay H201
// - if !approve(cx, order.id.clone()).await? {
// -     return Err(Error::new("not approved"));
// - }
// + cx.sleep(days(2)).await?;
// input: a field more = replay H202
// - pub to: String, pub cents: u64,
// + pub to: String, pub cents: u64, pub urgent: bool,
// - cents: quote.cents, };
// + cents: quote.cents, urgent: false };
// input: a field renamed = replay H202
// - pub to: String, pub cents: u64,
// + pub receiver: String, pub cents: u64,
// - to: order.id.clone(), cents
// + receiver: order.id.clone(), cents
// - Failure::transient(transfer.to)
// + Failure::transient(transfer.receiver)
// branch: high risk is fine = lock L310; replay H206
// - if !approve(cx, order.id.clone()).await? {
// + if approve(cx, order.id.clone()).await? {
// return: broke is an error = replay H201
// - Ok("none".to_owned())
// + Err(Error::new("none"))
// arms: what medium and high are = lock L310; replay H201
// - Risk::Medium => cx.sleep(days(1)).await?,
// - Risk::High => {
// + Risk::High => cx.sleep(days(1)).await?,
// + Risk::Medium => {
// arms: what comes of silence = lock L310; replay H201
// - Err(ActivityError::Rejected(Declined::NoCover)) => {
// + Err(ActivityError::TimedOut) => {
// - Err(ActivityError::TimedOut) => {
// + Err(ActivityError::Rejected(Declined::NoCover)) => {
// type: a field of the quote that nobody has stored = replay H210
// - pub cents: u64, pub currency: String,
// + pub cents: u64, pub currency: String, pub valid: u64,
// type: another number in the quote = replay H210
// - pub cents: u64, pub currency: String,
// + pub cents: u8, pub currency: Vec<String>,
// - cents: quote.cents, };
// + cents: u64::from(quote.cents), };
// refactor: a field of the quote that has a default = harmless
// - pub cents: u64, pub currency: String,
// + pub cents: u64, pub currency: String, #[serde(default)] pub valid: u64,
// refactor: a field of the quote with another name = harmless
// - pub currency: String,
// + #[serde(alias = "currency")] pub unit: String,
// refactor: a field of the input that may be missing = harmless
// - pub to: String, pub cents: u64,
// + pub to: String, pub cents: u64, pub note: Option<String>,
// - cents: quote.cents, };
// + cents: quote.cents, note: None };
// refactor: the options of an activity = harmless
// - #[activity(pure, attempt = "10s", retry(attempts = 3))]
// + #[activity(pure, attempt = "30s", retry(attempts = 9, initial = "1s"))]
// refactor: the options of a call = harmless
// - .retry(Retry::new().attempts(5)) .attempt(seconds(20))
// + .timeout(hours(1))
// refactor: a variant more = harmless
// - /// What a bank wants to know.
// + /// A word of no workflow.
// + enum Unused { One }
// + /// What a bank wants to know.
