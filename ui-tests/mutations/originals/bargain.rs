//! What others answer and are told: offers of stubs, sends, what is fulfilled, a stream, and a set with a name.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn bargain(cx: &Cx, order: Order) -> Result<u64, Error> {
    let buyer = RunId::new(&order.id)?;
    cx.emit(EVENTS, "asked".to_owned());
    let offer = verdict(cx, order.id.clone()).open()?;
    let told = cx.send(&buyer, OFFERED, &offer.reference()).await;
    if told.is_err() {
        cx.emit(EVENTS, "nobody is there".to_owned());
        return Ok(0);
    }
    let agreed = match offer.timeout(days(2)).await? {
        Some(cents) if cents >= order.cents => cents,
        Some(cents) => {
            cx.emit(EVENTS, format!("{cents} is too little"));
            verdict(cx, "once more".to_owned()).await?
        }
        None => 0,
    };
    let asked = OperationId {
        run: buyer.clone(),
        number: 7,
    };
    cx.fulfil(&asked, confirm, &agreed).await?;
    let mut parcels = JoinSet::named(cx, "parcels");
    for sku in order.skus {
        parcels.submit(ship(cx, sku));
    }
    let first = parcels.next().await;
    drop((first, parcels));
    cx.signal(&buyer, BELL, &agreed).await?;
    cx.emit(EVENTS, "done".to_owned());
    Ok(agreed)
}

// # Runs
//
// at once: {"id": "b-1", "cents": 70, "skus": ["a", "b"]}
//     after 1h is answered verdict 80
// in the end: {"id": "b-2", "cents": 70, "skus": ["a", "b"]}
//     after 1h is answered verdict 50
//     after 2h is answered verdict 60
// too late: {"id": "b-3", "cents": 70, "skus": ["a", "b", "c"]}
//     after 3d is answered verdict 80
// nobody is there: {"id": "nobody", "cents": 70, "skus": []}
//
// # Mutations
//
// insert: an item more = lock L301; replay H201
// - let mut parcels
// + cx.emit(EVENTS, "ships".to_owned()); let mut parcels
// insert: a second offer = lock L301; replay H203 H205
// - let told = cx.send
// + let _second = verdict(cx, "second".to_owned()).open()?; let told = cx.send
// insert: a second message = lock L301; replay H203
// - let told = cx.send
// + cx.send(&buyer, NOTE, &"hello".to_owned()).await.ok(); let told = cx.send
// remove: an item = lock L302; replay H204
// - cx.emit(EVENTS, format!("{cents} is too little"));
// +
// remove: the time limit = lock L304; replay H204
// - offer.timeout(days(2)).await? {
// + Some(offer.await?) {
// remove: what is fulfilled = lock L302; replay H201 H204
// - cx.fulfil(&asked, confirm, &agreed).await?;
// + drop(asked);
// remove: the signal = lock L302; replay H201 H204
// - cx.signal(&buyer, BELL, &agreed).await?;
// +
// rename: another message = lock L304; replay H201
// - cx.send(&buyer, OFFERED,
// + cx.send(&buyer, PROPOSED,
// rename: another stream = lock L304; replay H201
// - cx.emit(EVENTS, "done"
// + cx.emit(NEWS, "done"
// rename: another stub = lock L302; replay H201
// - verdict(cx, order.id.clone())
// + crate::twins::twin_of_verdict(cx, order.id.clone())
// rename: another stub is fulfilled = lock L304; replay H201
// - cx.fulfil(&asked, confirm,
// + cx.fulfil(&asked, verdict,
// rename: the set = lock L304; replay H201
// - JoinSet::named(cx, "parcels")
// + JoinSet::named(cx, "boxes")
// kind: the members of the set go on = lock L304; replay H201
// - JoinSet::named(cx, "parcels")
// + JoinSet::named(cx, "parcels").on_close(Close::Detach)
// kind: waited for where it is offered = lock L304; replay H201 H204
// - let offer = verdict(cx, order.id.clone()).open()?;
// - let told = cx.send(&buyer, OFFERED, &offer.reference()).await;
// - if told.is_err() {
// -     cx.emit(EVENTS, "nobody is there".to_owned());
// -     return Ok(0);
// - }
// - let agreed = match offer.timeout(days(2)).await? {
// + let agreed = match verdict(cx, order.id.clone()).timeout(days(2)).await? {
// reorder: the offer before the item = lock L303; replay H205
// - cx.emit(EVENTS, "asked".to_owned());
// - let offer = verdict(cx, order.id.clone()).open()?;
// + let offer = verdict(cx, order.id.clone()).open()?;
// + cx.emit(EVENTS, "asked".to_owned());
// reorder: the item before the signal = lock L303; replay H203 H205
// - cx.signal(&buyer, BELL, &agreed).await?;
// - cx.emit(EVENTS, "done".to_owned());
// + cx.emit(EVENTS, "done".to_owned());
// + cx.signal(&buyer, BELL, &agreed).await?;
// input: another run is told = lock L310; replay H202
// - RunId::new(&order.id)?
// + RunId::new(format!("{}-2", order.id))?
// input: of an offer = replay H202
// - "once more"
// + "once again"
// input: of an item = replay H202
// - "done"
// + "sold"
// input: another value is given = replay H202
// - confirm, &agreed
// + confirm, &(agreed + 1)
// input: another offer is fulfilled = replay H202
// - number: 7,
// + number: 8,
// branch: less is enough = replay H201 H204
// - cents >= order.cents
// + cents + 30 >= order.cents
// refactor: another time limit = harmless
// - days(2)
// + days(1)
// refactor: the constants by their paths = harmless
// - cx.signal(&buyer, BELL
// + cx.signal(&buyer, crate::shop::BELL
// refactor: another variable = harmless
// - let asked = OperationId {
// + let reference = OperationId {
// - cx.fulfil(&asked, confirm
// + cx.fulfil(&reference, confirm
