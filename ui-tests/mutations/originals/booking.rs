//! Several things at once: `join!` and `try_join!`, with blocks of several steps in them.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn booking(cx: &Cx, order: Order) -> Result<String, Error> {
    let (flight, hotel) = join!(reserve(cx, "flight".to_owned()), async {
        cx.sleep(minutes(5)).await?;
        Ok::<_, Error>(reserve(cx, "hotel".to_owned()).await?)
    });
    let (flight, hotel) = match (flight, hotel) {
        (Ok(flight), Ok(hotel)) => (flight, hotel),
        (Ok(flight), Err(_)) => {
            release(cx, flight).await?;
            return Err(Error::new("no hotel"));
        }
        (Err(error), _) => return Err(error.into()),
    };
    let paid = try_join!(
        async { Ok::<_, Error>(charge(cx, order.cents).await?) },
        async {
            mail(cx, order.id.clone()).await?;
            cx.sleep(hours(2)).await?;
            Ok(approve(cx, order.id.clone()).await?)
        },
    );
    let Ok((receipt, approved)) = paid else {
        release(cx, flight.clone()).await?;
        release(cx, hotel.clone()).await?;
        return Err(Error::new("not paid"));
    };
    if !approved {
        refund(cx, receipt.clone()).await?;
    }
    Ok(receipt)
}

// # Runs
//
// booked: {"id": "b-1", "cents": 5000, "skus": []}
// no hotel: {"id": "b-2", "cents": 5000, "skus": []}
//     reserve#2 fails "all rooms are taken"
// declined at once: {"id": "b-3", "cents": 5000, "skus": []}
//     charge rejects "Stolen"
// not approved: {"id": "b-4", "cents": 5000, "skus": []}
//     approve answers false
//     charge takes 5h
//
// # Mutations
//
// insert: a third part of the join = lock L301; replay H203
// - let (flight, hotel) = join!(reserve(cx, "flight".to_owned()), async {
// -     cx.sleep(minutes(5)).await?;
// -     Ok::<_, Error>(reserve(cx, "hotel".to_owned()).await?)
// - });
// + let (flight, hotel, _) = join!(reserve(cx, "flight".to_owned()), async {
// +     cx.sleep(minutes(5)).await?;
// +     Ok::<_, Error>(reserve(cx, "hotel".to_owned()).await?)
// + }, mail(cx, "we look".to_owned()));
// insert: an audit inside of a part = lock L301; replay H203
// - Ok::<_, Error>(reserve(cx, "hotel".to_owned()).await?)
// + audit(cx, "hotel".to_owned()).await?; Ok::<_, Error>(reserve(cx, "hotel".to_owned()).await?)
// remove: the pause inside of a part = lock L302; replay H201
// - cx.sleep(minutes(5)).await?;
// +
// remove: a release of two = lock L302; replay H206
// - release(cx, hotel.clone()).await?;
// +
// remove: what is done where there is no hotel = lock L302; replay H206
// - release(cx, flight).await?; return
// + let _ = flight; return
// rename: in a part = lock L304; replay H201
// - Ok::<_, Error>(charge(cx, order.cents).await?)
// + Ok::<_, Error>(crate::twins::twin_of_charge(cx, order.cents).await?)
// reorder: the parts of the join = lock L303; replay H205
// - let (flight, hotel) = join!(reserve(cx, "flight".to_owned()), async {
// -     cx.sleep(minutes(5)).await?;
// -     Ok::<_, Error>(reserve(cx, "hotel".to_owned()).await?)
// - });
// + let (hotel, flight) = join!(async {
// +     cx.sleep(minutes(5)).await?;
// +     Ok::<_, Error>(reserve(cx, "hotel".to_owned()).await?)
// + }, reserve(cx, "flight".to_owned()));
// reorder: the steps of a part = lock L303; replay H203 H205
// - mail(cx, order.id.clone()).await?; cx.sleep(hours(2)).await?;
// + cx.sleep(hours(2)).await?; mail(cx, order.id.clone()).await?;
// reorder: what is released first = replay H202
// - release(cx, flight.clone()).await?; release(cx, hotel.clone()).await?;
// + release(cx, hotel.clone()).await?; release(cx, flight.clone()).await?;
// kind: one after the other = lock L304; replay H204
// - let (flight, hotel) = join!(reserve(cx, "flight".to_owned()), async {
// -     cx.sleep(minutes(5)).await?;
// -     Ok::<_, Error>(reserve(cx, "hotel".to_owned()).await?)
// - });
// + let flight = reserve(cx, "flight".to_owned()).await;
// + cx.sleep(minutes(5)).await?;
// + let hotel = reserve(cx, "hotel".to_owned()).await;
// kind: join in place of try_join = lock L304; replay H204
// - let paid = try_join!(
// + let (one, other) = join!(
// - Ok(approve(cx, order.id.clone()).await?)
// + Ok::<_, Error>(approve(cx, order.id.clone()).await?)
// - let Ok((receipt, approved)) = paid else {
// + let (Ok(receipt), Ok(approved)) = (one, other) else {
// input: another hotel = replay H202
// - "hotel".to_owned()
// + "hostel".to_owned()
// branch: refunded where it is approved = lock L310; replay H203 H206
// - if !approved
// + if approved
// return: no refund for small ones = lock L310; replay H206
// - if !approved {
// + if !approved && order.cents > 9_000 {
// return: another error = replay H202
// - Error::new("no hotel")
// + Error::new("no room")
// arms: of the match, where they exclude each other = harmless
// - (Ok(flight), Ok(hotel)) => (flight, hotel),
// - (Ok(flight), Err(_)) => {
// -     release(cx, flight).await?;
// -     return Err(Error::new("no hotel"));
// - }
// + (Ok(flight), Err(_)) => {
// +     release(cx, flight).await?;
// +     return Err(Error::new("no hotel"));
// + }
// + (Ok(flight), Ok(hotel)) => (flight, hotel),
// type: whether it is approved is a word = lock L310; replay H210
// - use crate::shop::*;
// + use crate::shop::{Order, charge, mail, refund, release, reserve};
// +
// + #[activity(idempotent)]
// + async fn approve(_acx: &ActivityCx, _what: String) -> Result<String, Failure> { Ok(String::new()) }
// - if !approved
// + if approved != "yes"
// refactor: the parts have names = harmless
// - let paid = try_join!(
// -     async { Ok::<_, Error>(charge(cx, order.cents).await?) },
// + let payment = async { Ok::<_, Error>(charge(cx, order.cents).await?) };
// + let paid = try_join!(
// +     payment,
// refactor: clones where they are not needed = harmless
// - release(cx, flight).await?; return
// + release(cx, flight.clone()).await?; return
// rewrite: the refund by if let = lock L310
// - if !approved {
// + if let false = approved {
// refactor: what is thrown away has a name = harmless
// - (Ok(flight), Err(_)) =>
// + (Ok(flight), Err(_error)) =>
// refactor: more logs and another length = harmless
// - cx.sleep(hours(2)).await?;
// + cx.log("it waits"); cx.sleep(hours(3)).await?;
// refactor: an activity by its path = harmless
// - refund(cx, receipt.clone()).await?;
// + crate::shop::refund(cx, receipt.clone()).await?;
