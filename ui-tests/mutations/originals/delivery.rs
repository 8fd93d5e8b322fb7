//! `BoxDurable`: one of several ways, in one variable; and a helper that calls itself.

use perennial::prelude::*;

use crate::shop::*;

#[durable]
async fn by_bike(cx: &Cx, skus: &[String]) -> Result<usize, Error> {
    for sku in skus {
        ship(cx, sku.clone()).await?;
    }
    Ok(skus.len())
}

#[durable]
async fn in_halves(cx: &Cx, skus: &[String]) -> Result<usize, Error> {
    match skus {
        [] => Ok(0),
        [sku] => {
            reserve(cx, sku.clone()).await?;
            ship(cx, sku.clone()).await?;
            Ok(1)
        }
        skus => {
            let (left, right) = skus.split_at(skus.len() / 2);
            Ok(Box::pin(in_halves(cx, left)).await? + Box::pin(in_halves(cx, right)).await?)
        }
    }
}

#[workflow]
pub async fn delivery(cx: &Cx, order: Order) -> Result<usize, Error> {
    let way: BoxDurable<'_, _> = if order.skus.len() < 3 {
        BoxDurable::new(by_bike(cx, &order.skus))
    } else {
        BoxDurable::new(in_halves(cx, &order.skus))
    };
    let sent = way.await?;
    mail(cx, format!("{sent} are on their way")).await?;
    Ok(sent)
}

// # Runs
//
// by bike: {"id": "d-1", "cents": 0, "skus": ["cup", "plate"]}
// in halves: {"id": "d-2", "cents": 0, "skus": ["cup", "plate", "pot"]}
// it fails: {"id": "d-3", "cents": 0, "skus": ["cup", "plate", "pot", "pan"]}
//     ship#2 fails "a flat tyre"
//
// # Mutations
//
// insert: a mail in the box = lock L301; replay H202
// - Ok(skus.len()) }
// + mail(cx, "all of it is sent".to_owned()).await?; Ok(skus.len()) }
// insert: a pause between the halves = lock L301; replay H201
// - Ok(Box::pin(in_halves(cx, left)).await? + Box::pin(in_halves(cx, right)).await?)
// + let left = Box::pin(in_halves(cx, left)).await?;
// + cx.sleep(hours(1)).await?;
// + Ok(left + Box::pin(in_halves(cx, right)).await?)
// remove: the reservation = lock L302; replay H201 H204
// - reserve(cx, sku.clone()).await?;
// +
// remove: the right half = lock L302; replay H201 H204
// - + Box::pin(in_halves(cx, right)).await?
// + + right.len()
// rename: what is sent by bike = lock L304; replay H201
// - for sku in skus { ship(cx, sku.clone()).await?; }
// + for sku in skus { crate::twins::twin_of_ship(cx, sku.clone()).await?; }
// reorder: the right half first = replay H202
// - Ok(Box::pin(in_halves(cx, left)).await? + Box::pin(in_halves(cx, right)).await?)
// + Ok(Box::pin(in_halves(cx, right)).await? + Box::pin(in_halves(cx, left)).await?)
// reorder: shipped and then reserved = lock L303; replay H201 H203 H205
// - reserve(cx, sku.clone()).await?; ship(cx, sku.clone()).await?;
// + ship(cx, sku.clone()).await?; reserve(cx, sku.clone()).await?;
// kind: the other helper = lock L304; replay H201 H203
// - BoxDurable::new(by_bike(cx, &order.skus))
// + BoxDurable::new(in_halves(cx, &order.skus))
// input: what the mail counts = replay H202
// - "{sent} are on their way"
// + "{} are on their way", sent * 2
// branch: by bike up to three = lock L310; replay H201 H204
// - if order.skus.len() < 3
// + if order.skus.len() < 4
// bound: not more than one by bike = lock L310; replay H201 H204
// - for sku in skus {
// + for sku in skus.iter().take(1) {
// return: nothing is sent = lock L310; replay H206
// - let sent = way.await?;
// + if order.skus.len() == 2 { return Ok(0); } let sent = way.await?;
// refactor: the condition has a name = harmless
// - let way: BoxDurable<'_, _> = if order.skus.len() < 3 {
// + let few = order.skus.len() < 3;
// + let way: BoxDurable<'_, _> = if few {
// refactor: the halves by index = harmless
// - let (left, right) = skus.split_at(skus.len() / 2);
// + let half = skus.len() / 2; let (left, right) = (&skus[..half], &skus[half..]);
// refactor: the halves in two lines = harmless
// - Ok(Box::pin(in_halves(cx, left)).await? + Box::pin(in_halves(cx, right)).await?)
// + let left = Box::pin(in_halves(cx, left)).await?;
// + let right = Box::pin(in_halves(cx, right)).await?;
// + Ok(left + right)
// refactor: the result is counted apart = harmless
// - let sent = way.await?;
// + let sent: usize = way.await?; let _left = order.skus.len() - sent;
// refactor: an await in two lines = harmless
// - ship(cx, sku.clone()).await?; Ok(1)
// + let shipped = ship(cx, sku.clone()); shipped.await?; Ok(1)
