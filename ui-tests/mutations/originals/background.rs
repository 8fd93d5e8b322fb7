//! `cx.spawn`: of a call, of a block, of a timer that is dropped at the end.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn background(cx: &Cx, order: Order) -> Result<String, Error> {
    let parcel = cx.spawn(ship(cx, order.id.clone()));
    let id = order.id.clone();
    let reminder = cx.spawn(async move {
        cx.sleep(days(1)).await?;
        mail(cx, format!("tomorrow: {id}")).await?;
        Ok::<_, Error>(())
    });
    let alarm = cx.spawn(cx.sleep(days(30)));
    let receipt = charge(cx, order.cents).await?;
    drop(alarm);
    if order.cents > 1_000 {
        reminder.await?;
        mail(cx, receipt.clone()).await?;
    }
    Ok(parcel.await?)
}

// # Runs
//
// small: {"id": "s-1", "cents": 100, "skus": []}
// large: {"id": "s-2", "cents": 2000, "skus": []}
//     ship takes 2d
// declined: {"id": "s-3", "cents": 100, "skus": []}
//     charge rejects "Stolen"
//
// # Mutations
//
// insert: a second parcel beside = lock L301; replay H203
// - let id = order.id.clone();
// + let _gift = cx.spawn(ship(cx, "a gift".to_owned())); let id = order.id.clone();
// insert: a step in the block = lock L301; replay H201 H203
// - mail(cx, format!("tomorrow: {id}")).await?;
// + audit(cx, id.clone()).await?; mail(cx, format!("tomorrow: {id}")).await?;
// remove: the alarm = lock L302; replay H204
// - let alarm = cx.spawn(cx.sleep(days(30)));
// +
// - drop(alarm);
// +
// remove: the reminder is not waited for = lock L302; replay H203 H205
// - reminder.await?;
// + let _ = reminder;
// rename: what is spawned = lock L304; replay H201
// - cx.spawn(ship(cx, order.id.clone()))
// + cx.spawn(reserve(cx, order.id.clone()))
// reorder: the charge before the alarm = lock L303; replay H205
// - let alarm = cx.spawn(cx.sleep(days(30)));
// - let receipt = charge(cx, order.cents).await?;
// + let receipt = charge(cx, order.cents).await?;
// + let alarm = cx.spawn(cx.sleep(days(30)));
// reorder: what is spawned first = lock L303; replay H203
// - let parcel = cx.spawn(ship(cx, order.id.clone()));
// - let id = order.id.clone();
// + let alarm = cx.spawn(cx.sleep(days(30)));
// + let parcel = cx.spawn(ship(cx, order.id.clone()));
// + let id = order.id.clone();
// - let alarm = cx.spawn(cx.sleep(days(30))); let receipt
// + let receipt
// kind: waited for in place of spawned = lock L304; replay H204
// - let parcel = cx.spawn(ship(cx, order.id.clone()));
// + let parcel = ship(cx, order.id.clone()).await;
// - Ok(parcel.await?)
// + Ok(parcel?)
// kind: not begun before the end = lock L302; replay H205
// - let parcel = cx.spawn(ship(cx, order.id.clone()));
// + let parcel = ship(cx, order.id.clone());
// input: of the reminder = replay H202
// - "tomorrow: {id}"
// + "today: {id}"
// branch: large ones = lock L310; replay H204
// - if order.cents > 1_000
// + if order.cents > 10
// return: without the parcel = lock L302; replay H203
// - Ok(parcel.await?)
// + let _ = parcel; Ok("parcel of s-1".to_owned())
// refactor: the handle of the alarm goes at the end = harmless
// - drop(alarm);
// + let _alarm = alarm;
// refactor: the block has a name = harmless
// - let reminder = cx.spawn(async move {
// + let steps = async move {
// - Ok::<_, Error>(()) });
// + Ok::<_, Error>(()) }; let reminder = cx.spawn(steps);
// rewrite: the bound has a name = lock L310
// - let alarm = cx.spawn
// + const LARGE: u64 = 1_000; let alarm = cx.spawn
// - if order.cents > 1_000
// + if order.cents > LARGE
// refactor: where it is waited for = harmless
// - Ok(parcel.await?)
// + let parcel = parcel.await?; cx.log(&parcel); Ok(parcel)
// refactor: another length of the alarm = harmless
// - days(30)
// + days(31)
// refactor: pure code in the block = harmless
// - mail(cx, format!("tomorrow: {id}")).await?;
// + let text = ["tomorrow", &id].join(": "); mail(cx, text).await?;
