//! The first of several things: `select!` in a loop, one inside another, and what they drop.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn approval(cx: &Cx, order: Order) -> Result<String, Error> {
    let mut asked = 0;
    let approved = loop {
        asked += 1;
        let reply = select! {
            reply = approve(cx, format!("{} ({asked})", order.id)) => Some(reply?),
            _ = cx.sleep(days(1)) => None,
        };
        match reply {
            Some(approved) => break approved,
            None if asked == 3 => break false,
            None => {
                mail(cx, format!("please look at {}", order.id)).await?;
            }
        }
    };
    if !approved {
        return Err(Error::new("not approved"));
    }
    let receipt = select! {
        _ = cx.sleep(hours(1)) => {
            mail(cx, "the bank is slow".to_owned()).await?;
            String::new()
        }
        receipt = async {
            select! {
                receipt = charge(cx, order.cents) => receipt.map_err(Error::from),
                _ = cx.sleep(minutes(10)) => Ok("too late".to_owned()),
            }
        } => receipt?,
    };
    Ok(receipt)
}

// # Runs
//
// at once: {"id": "a-1", "cents": 70, "skus": []}
// the third time: {"id": "a-2", "cents": 70, "skus": []}
//     approve#1 takes 4d
//     approve#2 takes 4d
// never: {"id": "a-3", "cents": 70, "skus": []}
//     approve takes 10d
// too late: {"id": "a-4", "cents": 70, "skus": []}
//     charge takes 11m
// refused: {"id": "a-5", "cents": 70, "skus": []}
//     approve answers false
//
// # Mutations
//
// insert: a pause before it is asked = lock L301; replay H203
// - let reply = select! {
// + cx.sleep(seconds(1)).await?; let reply = select! {
// insert: a third arm of the select = lock L301; replay H203
// - _ = cx.sleep(days(1)) => None,
// + _ = cx.sleep(days(1)) => None, _ = mail(cx, "hello".to_owned()) => None,
// insert: a note to who waits = lock L301; replay H203
// - return Err(Error::new("not approved"));
// + mail(cx, "not approved".to_owned()).await?; return Err(Error::new("not approved"));
// remove: an arm = lock L304; replay H204
// - reply = approve(cx, format!("{} ({asked})", order.id)) => Some(reply?),
// -     _ = cx.sleep(days(1)) => None,
// + reply = approve(cx, format!("{} ({asked})", order.id)) => Some(reply?),
// remove: the mail in the loop = lock L302; replay H201 H204
// - mail(cx, format!("please look at {}", order.id)).await?;
// +
// rename: the one who is asked = lock L304; replay H201
// - reply = approve(
// + reply = crate::twins::twin_of_approve(
// reorder: the arms of the select = lock L303; replay H203 H205
// - reply = approve(cx, format!("{} ({asked})", order.id)) => Some(reply?),
// - _ = cx.sleep(days(1)) => None,
// + _ = cx.sleep(days(1)) => None,
// + reply = approve(cx, format!("{} ({asked})", order.id)) => Some(reply?),
// reorder: the arms of the inner select = lock L303; replay H205
// - receipt = charge(cx, order.cents) => receipt.map_err(Error::from),
// - _ = cx.sleep(minutes(10)) => Ok("too late".to_owned()),
// + _ = cx.sleep(minutes(10)) => Ok("too late".to_owned()),
// + receipt = charge(cx, order.cents) => receipt.map_err(Error::from),
// kind: it waits for the reply however long it takes = lock L304; replay H204
// - let reply = select! {
// -     reply = approve(cx, format!("{} ({asked})", order.id)) => Some(reply?),
// -     _ = cx.sleep(days(1)) => None,
// - };
// + let reply = Some(approve(cx, format!("{} ({asked})", order.id)).await?);
// input: how it is asked = replay H202
// - "{} ({asked})"
// + "{} [{asked}]"
// branch: it is not approved and goes on = lock L310; replay H203
// - if !approved {
// + if !approved && order.cents > 100 {
// bound: it asks four times = lock L310; replay H203
// - None if asked == 3
// + None if asked == 4
// bound: it asks twice = lock L310; replay H206
// - None if asked == 3
// + None if asked == 2
// return: at the first no = lock L304; replay H202
// - Some(approved) => break approved,
// + Some(false) => return Err(Error::new("no")), Some(true) => break true,
// return: another value where it is too late = replay H202
// - Ok("too late".to_owned())
// + Ok("later".to_owned())
// rewrite: the count begins elsewhere = lock L310
// - let mut asked = 0;
// + let mut asked = 1 - 1;
// rewrite: match in place of the guards = lock L310
// - None if asked == 3 => break false,
// - None => {
// -     mail(cx, format!("please look at {}", order.id)).await?;
// - }
// + None if asked >= 3 => break false,
// + None => {
// +     let text = format!("please look at {}", order.id);
// +     mail(cx, text).await?;
// + }
// refactor: it waits longer in each arm = harmless
// - cx.sleep(days(1))
// + cx.sleep(days(2))
// refactor: the result of the select is returned at once = harmless
// - let receipt = select! { _ = cx.sleep(hours(1)) => {
// + Ok(select! { _ = cx.sleep(hours(1)) => {
// - } => receipt?, }; Ok(receipt)
// + } => receipt?, })
// refactor: variables renamed = harmless
// - let approved = loop {
// + let said_yes = loop {
// - if !approved { return
// + if !said_yes { return
