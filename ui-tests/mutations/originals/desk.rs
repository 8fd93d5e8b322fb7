//! What a run is told: messages one after the other, with a time limit and beside an activity, and a signal.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn desk(cx: &Cx, order: Order) -> Result<u32, Error> {
    let approved = match cx.receive(ANSWER).timeout(days(7)).await? {
        Some(approved) => approved,
        None => {
            mail(cx, "nobody answers".to_owned()).await?;
            false
        }
    };
    if !approved {
        return Err(Error::new("not approved"));
    }
    let mut notes = 0;
    loop {
        let note = select! {
            note = cx.receive(NOTE) => Some(note?),
            rung = cx.wait_for(BELL) => {
                rung?;
                None
            }
        };
        let Some(note) = note else {
            break;
        };
        notes += 1;
        mail(cx, note).await?;
    }
    let (receipt, sure) = join!(charge(cx, order.cents), cx.receive(ANSWER));
    receipt?;
    if sure? {
        ship(cx, order.id.clone()).await?;
    }
    Ok(notes)
}

// # Runs
//
// one after the other: {"id": "d-1", "cents": 70, "skus": []}
//     after 1h is sent answer true
//     after 2h is sent note "one"
//     after 3h is sent note "two"
//     after 4h is signalled bell 1
//     after 5h is sent answer true
// all at once: {"id": "d-2", "cents": 70, "skus": []}
//     after 0s is sent answer true
//     after 0s is sent note "one"
//     after 0s is sent answer false
//     after 0s is sent note "two"
//     after 1h is signalled bell 1
// too late: {"id": "d-3", "cents": 70, "skus": []}
//     after 8d is sent answer true
// not approved: {"id": "d-4", "cents": 70, "skus": []}
//     after 1h is sent answer false
// of another type: {"id": "d-5", "cents": 70, "skus": []}
//     after 1h is sent answer "yes"
// while it charges: {"id": "d-6", "cents": 70, "skus": []}
//     charge takes 3h
//     after 1h is sent answer true
//     after 2h is signalled bell 1
//     after 3h is sent answer true
//
// # Mutations
//
// insert: a wait for a note at the beginning = lock L301; replay H203
// - let approved = match
// + cx.receive(NOTE).await?; let approved = match
// insert: a mail before the first wait = lock L301; replay H203 H205
// - let approved = match
// + mail(cx, "hello".to_owned()).await?; let approved = match
// insert: a second answer = lock L301; replay H203
// - if !approved {
// + cx.receive(ANSWER).await?; if !approved {
// remove: the time limit = lock L304; replay H204
// - let approved = match cx.receive(ANSWER).timeout(days(7)).await? {
// + let approved = match Some(cx.receive(ANSWER).await?) {
// remove: the last answer = lock L304; replay H204
// - let (receipt, sure) = join!(charge(cx, order.cents), cx.receive(ANSWER)); receipt?;
// + let sure = Ok::<_, Error>(true); charge(cx, order.cents).await?;
// remove: the signal = lock L304; replay H204
// - let note = select! {
// -     note = cx.receive(NOTE) => Some(note?),
// -     rung = cx.wait_for(BELL) => {
// -         rung?;
// -         None
// -     }
// - };
// + let note = Some(cx.receive(NOTE).await?);
// rename: another message = lock L304; replay H201
// - cx.receive(NOTE)
// + cx.receive(REMARK)
// rename: the answer is one of another name = lock L304; replay H201 H203
// - cx.receive(ANSWER).timeout
// + cx.receive(REPLY).timeout
// kind: a message in place of the signal = lock L304; replay H201
// - cx.wait_for(BELL)
// + cx.receive(NUMBER)
// kind: an activity in place of the answer = lock L304; replay H201
// - join!(charge(cx, order.cents), cx.receive(ANSWER));
// + join!(charge(cx, order.cents), approve(cx, order.id.clone()));
// reorder: the signal is looked for first = lock L303; replay H205
// - note = cx.receive(NOTE) => Some(note?),
// - rung = cx.wait_for(BELL) => {
// -     rung?;
// -     None
// - }
// + rung = cx.wait_for(BELL) => {
// +     rung?;
// +     None
// + }
// + note = cx.receive(NOTE) => Some(note?),
// reorder: the answer before the charge = lock L303; replay H205
// - let (receipt, sure) = join!(charge(cx, order.cents), cx.receive(ANSWER));
// + let (sure, receipt) = join!(cx.receive(ANSWER), charge(cx, order.cents));
// branch: approved or not it goes on = lock L310; replay H203
// - if !approved {
// + if !approved && order.cents > 100 {
// refactor: another time limit = harmless
// - timeout(days(7))
// + timeout(days(5))
// refactor: the constant by its path = harmless
// - cx.receive(NOTE)
// + cx.receive(crate::shop::NOTE)
// rewrite: the wait in a variable = lock L310
// - let approved = match cx.receive(ANSWER).timeout(days(7)).await? {
// + let wait = cx.receive(ANSWER).timeout(days(7)); let approved = match wait.await? {
