//! `#[durable]` helpers, one called by another; what was done is undone when something fails.

use perennial::prelude::*;

use crate::shop::*;

#[durable]
async fn pay(cx: &Cx, cents: u64) -> Result<String, Error> {
    let Ok(receipt) = charge(cx, cents).await else {
        cx.sleep(hours(1)).await?;
        return Ok(charge(cx, cents).await?);
    };
    Ok(receipt)
}

#[durable]
async fn book(cx: &Cx, what: &str, cents: u64) -> Result<String, Error> {
    let place = reserve(cx, what.to_owned()).await?;
    match pay(cx, cents).await {
        Ok(receipt) => Ok(receipt),
        Err(error) => {
            release(cx, place).await?;
            Err(error)
        }
    }
}

#[workflow]
pub async fn trip(cx: &Cx, order: Order) -> Result<Vec<String>, Error> {
    let mut receipts = Vec::new();
    for what in &order.skus {
        match book(cx, what, order.cents).await {
            Ok(receipt) => receipts.push(receipt),
            Err(error) => {
                for receipt in receipts.iter().rev() {
                    refund(cx, receipt.clone()).await?;
                }
                mail(cx, "your trip is off".to_owned()).await?;
                return Err(error);
            }
        }
    }
    Ok(receipts)
}

// # Runs
//
// two: {"id": "t-1", "cents": 300, "skus": ["train", "boat"]}
// paid the second time: {"id": "t-2", "cents": 300, "skus": ["train", "boat"]}
//     charge#1 rejects "NoCover"
// off: {"id": "t-3", "cents": 300, "skus": ["train", "boat"]}
//     charge#2 rejects "NoCover"
//     charge#3 rejects "NoCover"
//
// # Mutations
//
// insert: an audit in a helper = lock L301; replay H201
// - Ok(receipt) => Ok(receipt),
// + Ok(receipt) => { audit(cx, receipt.clone()).await?; Ok(receipt) }
// insert: a third try in the helper of a helper = lock L304; replay H201 H203
// - return Ok(charge(cx, cents).await?);
// + let Ok(receipt) = charge(cx, cents).await else { return Ok(charge(cx, cents).await?); };
// + return Ok(receipt);
// remove: the pause before the second try = lock L302; replay H201 H204
// - cx.sleep(hours(1)).await?;
// +
// remove: the release in a helper = lock L302; replay H201 H204
// - release(cx, place).await?;
// + let _ = place;
// remove: the refunds = lock L302; replay H201 H204
// - for receipt in receipts.iter().rev() {
// -     refund(cx, receipt.clone()).await?;
// - }
// +
// rename: an activity in a helper = lock L304; replay H201
// - let place = reserve(cx, what.to_owned()).await?;
// + let place = crate::twins::twin_of_reserve(cx, what.to_owned()).await?;
// reorder: the mail before the refunds = lock L303; replay H201
// - for receipt in receipts.iter().rev() {
// -     refund(cx, receipt.clone()).await?;
// - }
// - mail(cx, "your trip is off".to_owned()).await?;
// + mail(cx, "your trip is off".to_owned()).await?;
// + for receipt in receipts.iter().rev() {
// +     refund(cx, receipt.clone()).await?;
// + }
// kind: paid without a second try = lock L304; replay H201 H204
// - match pay(cx, cents).await {
// + match charge(cx, cents).await {
// - release(cx, place).await?; Err(error)
// + release(cx, place).await?; Err(error.into())
// input: a helper charges twice as much = replay H202
// - match pay(cx, cents).await
// + match pay(cx, 2 * cents).await
// branch: no second try for small sums = lock L310; replay H201 H204
// - let Ok(receipt) = charge(cx, cents).await else {
// + let Ok(receipt) = charge(cx, cents).await else { if cents < 1_000 { return Err(Error::new("no")); }
// bound: the first only = lock L310; replay H206
// - for what in &order.skus
// + for what in order.skus.iter().take(1)
// return: another error = replay H202
// - mail(cx, "your trip is off".to_owned()).await?; return Err(error);
// + mail(cx, "your trip is off".to_owned()).await?; return Err(Error::new(format!("off: {error}")));
// arms: of the match in a helper, whose patterns exclude each other = harmless
// - Ok(receipt) => Ok(receipt),
// - Err(error) => {
// -     release(cx, place).await?;
// -     Err(error)
// - }
// + Err(error) => {
// +     release(cx, place).await?;
// +     Err(error)
// + }
// + Ok(receipt) => Ok(receipt),
// refactor: the parameters of a helper in another order = harmless
// - async fn book(cx: &Cx, what: &str, cents: u64)
// + async fn book(cx: &Cx, cents: u64, what: &str)
// - book(cx, what, order.cents)
// + book(cx, order.cents, what)
// rewrite: the refunds by index = lock L310
// - for receipt in receipts.iter().rev() {
// + for receipt in (0..receipts.len()).rev().map(|at| &receipts[at]) {
// refactor: a generic parameter of a helper = harmless
// - async fn book(cx: &Cx, what: &str, cents: u64)
// + async fn book<S: ToString + ?Sized>(cx: &Cx, what: &S, cents: u64)
// - reserve(cx, what.to_owned())
// + reserve(cx, what.to_string())
// refactor: match in place of let else = harmless
// - let Ok(receipt) = charge(cx, cents).await else {
// -     cx.sleep(hours(1)).await?;
// -     return Ok(charge(cx, cents).await?);
// - };
// + let receipt = charge(cx, cents).await;
// + let Ok(receipt) = receipt else {
// +     cx.sleep(hours(1)).await?;
// +     return Ok(charge(cx, cents).await?);
// + };
// refactor: a log in a helper = harmless
// - release(cx, place).await?; Err(error)
// + release(cx, place).await?; cx.log(&error); Err(error)
// refactor: variables of a helper renamed = harmless
// - let place = reserve(cx, what.to_owned()).await?;
// + let seat = reserve(cx, what.to_owned()).await?;
// - release(cx, place).await?;
// + release(cx, seat).await?;
