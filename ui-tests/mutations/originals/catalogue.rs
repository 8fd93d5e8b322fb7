//! As many things at once as there are: `join_all`, of calls and of blocks; and a sum in pure code.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn catalogue(cx: &Cx, order: Order) -> Result<u64, Error> {
    let prices = join_all(order.skus.iter().map(|sku| price(cx, sku.clone()))).await;
    let sum = prices.into_iter().sum::<Result<u64, _>>()?;
    let kept = join_all(order.skus.iter().map(|sku| async move {
        let count = stock(cx, sku.clone()).await?;
        if count < 3 {
            cx.sleep(hours(1)).await?;
            return Ok::<_, Error>(false);
        }
        reserve(cx, sku.clone()).await?;
        Ok(true)
    }))
    .await;
    let mut missing = 0;
    for kept in kept {
        if !kept? {
            missing += 1;
        }
    }
    if missing > 0 {
        mail(cx, format!("{missing} are missing")).await?;
    }
    Ok(sum)
}

// # Runs
//
// three: {"id": "c-1", "cents": 0, "skus": ["cup", "plate", "spoon"]}
// all there: {"id": "c-2", "cents": 0, "skus": ["teapot", "kettle"]}
//     price#1 takes 1m
// none: {"id": "c-3", "cents": 0, "skus": []}
// a price fails: {"id": "c-4", "cents": 0, "skus": ["cup", "plate"]}
//     price#2 fails "no connection"
//
// # Mutations
//
// insert: an audit for each = lock L301; replay H201 H203
// - if count < 3 {
// + audit(cx, sku.clone()).await?; if count < 3 {
// insert: a mail where nothing is missing = lock L304; replay H203
// - if missing > 0 {
// -     mail(cx, format!("{missing} are missing")).await?;
// - }
// + mail(cx, format!("{missing} are missing")).await?;
// remove: the reservations = lock L302; replay H204
// - reserve(cx, sku.clone()).await?;
// +
// remove: the pause of what is missing = lock L302; replay H204
// - cx.sleep(hours(1)).await?;
// +
// rename: another price = lock L304; replay H201
// - price(cx, sku.clone())
// + crate::twins::twin_of_price(cx, sku.clone())
// reorder: the last price first = replay H205
// - order.skus.iter().map(|sku| price(
// + order.skus.iter().rev().map(|sku| price(
// reorder: sorted before = replay H205
// - let prices
// + let mut order = order; order.skus.sort_by_key(|sku| std::cmp::Reverse(sku.clone())); let prices
// kind: one after the other = lock L304; replay H204
// - let prices = join_all(order.skus.iter().map(|sku| price(cx, sku.clone()))).await;
// + let mut prices = Vec::new();
// + for sku in &order.skus { prices.push(price(cx, sku.clone()).await); }
// input: the price of something else = replay H202
// - price(cx, sku.clone())
// + price(cx, sku.to_uppercase())
// branch: what is too few = lock L310; replay H201 H203
// - if count < 3
// + if count < 5
// branch: it tells of two at least = lock L310; replay H206
// - if missing > 0
// + if missing > 1
// bound: the first two = replay H204
// - order.skus.iter().map(|sku| price(
// + order.skus.iter().take(2).map(|sku| price(
// return: prices that fail are none = lock L302; replay H203
// - let sum = prices.into_iter().sum::<Result<u64, _>>()?;
// + let sum: u64 = prices.into_iter().flatten().sum();
// return: the sum with a fee = replay H202
// - Ok(sum) }
// + Ok(sum + 1) }
// type: prices have cents = replay H210
// - use crate::shop::*;
// + use crate::shop::{Order, mail, reserve, stock};
// +
// + #[derive(serde::Serialize, serde::Deserialize)]
// + pub struct Price { cents: u64 }
// + #[activity(pure)]
// + async fn price(_acx: &ActivityCx, _sku: String) -> Result<Price, Failure> { Ok(Price { cents: 0 }) }
// - let sum = prices.into_iter().sum::<Result<u64, _>>()?;
// + let sum = prices.into_iter().map(|price| price.map(|price| price.cents)).sum::<Result<u64, _>>()?;
// rewrite: a loop in place of the sum = lock L304
// - let sum = prices.into_iter().sum::<Result<u64, _>>()?;
// + let mut sum = 0; for price in prices { sum += price?; }
// refactor: the calls are collected first = harmless
// - let prices = join_all(order.skus.iter().map(|sku| price(cx, sku.clone()))).await;
// + let calls: Vec<_> = order.skus.iter().map(|sku| price(cx, sku.clone())).collect();
// + let prices = join_all(calls).await;
// rewrite: they are counted without a loop = lock L304
// - let mut missing = 0;
// - for kept in kept {
// -     if !kept? { missing += 1; }
// - }
// + let kept = kept.into_iter().collect::<Result<Vec<_>, _>>()?;
// + let missing = kept.iter().filter(|kept| !**kept).count();
// refactor: the class of an activity = harmless
// - use crate::shop::*;
// + use crate::shop::{Order, mail, reserve, stock};
// +
// + #[activity(idempotent, attempt = "3s")]
// + async fn price(_acx: &ActivityCx, _sku: String) -> Result<u64, Failure> { Ok(0) }
// rewrite: a counter is made otherwise = lock L310
// - let mut missing = 0;
// + let mut missing: u32 = Default::default();
// refactor: the text is made before = harmless
// - mail(cx, format!("{missing} are missing")).await?;
// + let text = format!("{missing} are missing"); mail(cx, text).await?;
