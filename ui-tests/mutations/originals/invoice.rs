//! Markers that are released: `patched`, `version` with three arms, `patched_each` in a loop.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn invoice(cx: &Cx, order: Order) -> Result<String, Error> {
    if cx.patched("rate-first") {
        rate(cx, order.id.clone()).await?;
    }
    let receipt = charge(cx, order.cents).await?;
    match cx.version("rounding", 0..=2) {
        0 => {
            mail(cx, "rounded".to_owned()).await?;
        }
        1 => {
            stock(cx, "cents".to_owned()).await?;
            mail(cx, "not rounded".to_owned()).await?;
        }
        2 => {
            cx.sleep(minutes(1)).await?;
            mail(cx, receipt.clone()).await?;
        }
    }
    for sku in &order.skus {
        if cx.patched_each("parcels") {
            reserve(cx, sku.clone()).await?;
        }
        ship(cx, sku.clone()).await?;
    }
    Ok(receipt)
}

// # Before: no markers
//
// - if cx.patched("rate-first") {
// -     rate(cx, order.id.clone()).await?;
// - }
// +
// - match cx.version("rounding", 0..=2) {
// -     0 => {
// -         mail(cx, "rounded".to_owned()).await?;
// -     }
// -     1 => {
// -         stock(cx, "cents".to_owned()).await?;
// -         mail(cx, "not rounded".to_owned()).await?;
// -     }
// -     2 => {
// -         cx.sleep(minutes(1)).await?;
// -         mail(cx, receipt.clone()).await?;
// -     }
// - }
// + mail(cx, "rounded".to_owned()).await?;
// - if cx.patched_each("parcels") {
// -     reserve(cx, sku.clone()).await?;
// - }
// +
//
// # Before: rounding 1
//
// - match cx.version("rounding", 0..=2) {
// + match cx.version("rounding", 0..=1) {
// - 2 => {
// -     cx.sleep(minutes(1)).await?;
// -     mail(cx, receipt.clone()).await?;
// - }
// +
// - if cx.patched_each("parcels") {
// -     reserve(cx, sku.clone()).await?;
// - }
// +
//
// # Runs
//
// two: {"id": "i-1", "cents": 40, "skus": ["cup", "plate"]}
// four: {"id": "i-2", "cents": 40, "skus": ["cup", "plate", "pot", "pan"]}
//
// # Mutations
//
// marker: nothing is changed = harmless
// - Ok(receipt) }
// + Ok(receipt) }
// marker: one added around something new = harmless
// - let receipt = charge
// + if cx.patched("audit") { audit(cx, order.id.clone()).await?; } let receipt = charge
// marker: one added, and the new code is outside of it = lock L301; replay H203
// - let receipt = charge
// + if cx.patched("audit") {} audit(cx, order.id.clone()).await?; let receipt = charge
// marker: a version more = harmless
// - cx.version("rounding", 0..=2) {
// + cx.version("rounding", 0..=3) { 3 => {}
// marker: a version more, with an edit of the last one = lock L305; replay H201 H204
// - cx.version("rounding", 0..=2) {
// + cx.version("rounding", 0..=3) { 3 => {}
// - cx.sleep(minutes(1)).await?;
// +
// marker: a released arm edited = lock L305; replay H201
// - mail(cx, receipt.clone()).await?;
// + audit(cx, receipt.clone()).await?; mail(cx, receipt.clone()).await?;
// marker: the arm of version 0 edited = lock L305; replay H201
// - mail(cx, "rounded".to_owned()).await?;
// + audit(cx, receipt.clone()).await?; mail(cx, "rounded".to_owned()).await?;
// marker: the else of a patch, which was empty = lock L305; replay H203
// - rate(cx, order.id.clone()).await?; }
// + rate(cx, order.id.clone()).await?; } else { audit(cx, order.id.clone()).await?; }
// marker: what is patched edited = lock L305; replay H201 H204
// - rate(cx, order.id.clone()).await?;
// +
// marker: two arms in the place of each other = lock L305; replay H201
// - 1 => {
// + 2 => {
// - 2 => {
// + 1 => {
// marker: the arms in another order = harmless
// - 0 => {
// -     mail(cx, "rounded".to_owned()).await?;
// - }
// - 1 => {
// -     stock(cx, "cents".to_owned()).await?;
// -     mail(cx, "not rounded".to_owned()).await?;
// - }
// + 1 => {
// +     stock(cx, "cents".to_owned()).await?;
// +     mail(cx, "not rounded".to_owned()).await?;
// + }
// + 0 => {
// +     mail(cx, "rounded".to_owned()).await?;
// + }
// marker: negated, with its arms exchanged = harmless
// - if cx.patched("rate-first") {
// + if !cx.patched("rate-first") {} else {
// marker: the range narrowed = lock L306; replay H207
// - cx.version("rounding", 0..=2) {
// -     0 => {
// -         mail(cx, "rounded".to_owned()).await?;
// -     }
// + cx.version("rounding", 1..=2) {
// marker: the range without its highest = lock L306; replay H207
// - cx.version("rounding", 0..=2) {
// + cx.version("rounding", 0..=1) {
// - 2 => {
// -     cx.sleep(minutes(1)).await?;
// -     mail(cx, receipt.clone()).await?;
// - }
// +
// marker: its name changed = lock L306; replay H208
// - cx.patched("rate-first")
// + cx.patched("rate-before")
// marker: its call is gone and its code has stayed = lock L306; replay H203 H208
// - if cx.patched("rate-first") {
// -     rate(cx, order.id.clone()).await?;
// - }
// + rate(cx, order.id.clone()).await?;
// marker: it and its code are gone = lock L306; replay H208
// - if cx.patched("rate-first") {
// -     rate(cx, order.id.clone()).await?;
// - }
// +
// marker: two in another order = lock L303; replay H203 H205
// - if cx.patched("rate-first") {
// -     rate(cx, order.id.clone()).await?;
// - }
// - let receipt = charge(cx, order.cents).await?;
// + let receipt = charge(cx, order.cents).await?;
// + if cx.patched("rate-first") {
// +     rate(cx, order.id.clone()).await?;
// + }
// marker: decided once in place of each time = lock L304; replay H205
// - cx.patched_each("parcels")
// + cx.patched("parcels")
// marker: decided each time in place of once = lock L304
// - cx.patched("rate-first")
// + cx.patched_each("rate-first")
// marker: a new one does not start at 0 = lock L307; replay H207
// - let receipt = charge
// + match cx.version("audit", 1..=2) { 1 => {} 2 => {} } let receipt = charge
// retire: the code of the patch stays, for runs that have it = replay H203
// - if cx.patched("rate-first") {
// -     rate(cx, order.id.clone()).await?;
// - }
// + rate(cx, order.id.clone()).await?;
// retire: the code before the patch = replay H207
// - if cx.patched("rate-first") {
// -     rate(cx, order.id.clone()).await?;
// - }
// +
// retire: the lowest version = replay H207
// - cx.version("rounding", 0..=2) {
// -     0 => {
// -         mail(cx, "rounded".to_owned()).await?;
// -     }
// + cx.version("rounding", 1..=2) {
