//! One thing after the other, an early return, and an end with an error.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
    if order.skus.is_empty() {
        mail(cx, format!("{} is empty", order.id)).await?;
        return Ok("nothing to do".to_owned());
    }
    let receipt = charge(cx, order.cents).await?;
    for sku in &order.skus {
        let parcel = ship(cx, sku.clone()).await?;
        cx.log(format_args!("sent {parcel}"));
    }
    cx.sleep(days(7)).await?;
    mail(cx, format!("how was {}?", order.id)).await?;
    Ok(receipt)
}

// # Runs
//
// two parcels: {"id": "o-1", "cents": 1200, "skus": ["cup", "plate"]}
// nothing: {"id": "o-2", "cents": 0, "skus": []}
// declined: {"id": "o-3", "cents": 90, "skus": ["cup"]}
//     charge rejects "NoCover"
//
// # Mutations
//
// insert: an audit before the charge = lock L301; replay H203
// - let receipt = charge
// + audit(cx, order.id.clone()).await?; let receipt = charge
// insert: a mail at the end = lock L301; replay H203
// - Ok(receipt)
// + mail(cx, receipt.clone()).await?; Ok(receipt)
// insert: a second charge, the same as the first = lock L301; replay H201
// - let receipt = charge(cx, order.cents).await?;
// + charge(cx, order.cents).await?; let receipt = charge(cx, order.cents).await?;
// remove: the sleep = lock L302; replay H201 H204
// - cx.sleep(days(7)).await?;
// +
// remove: the last mail = lock L302; replay H206
// - mail(cx, format!("how was {}?", order.id)).await?;
// +
// remove: the mail of the early return = lock L302; replay H206
// - mail(cx, format!("{} is empty", order.id)).await?;
// +
// rename: the charge is another activity = lock L304; replay H201
// - charge(cx, order.cents).await?
// + crate::twins::twin_of_charge(cx, order.cents).await?
// rename: the workflow = lock L308; replay H209
// - pub async fn fulfil
// + pub async fn fulfil_order
// reorder: the mail before the sleep = lock L303; replay H203 H205
// - cx.sleep(days(7)).await?; mail(cx, format!("how was {}?", order.id)).await?;
// + mail(cx, format!("how was {}?", order.id)).await?; cx.sleep(days(7)).await?;
// reorder: the parcels before the charge = lock L303; replay H203 H205
// - let receipt = charge(cx, order.cents).await?;
// +
// - cx.sleep(days(7)).await?;
// + let receipt = charge(cx, order.cents).await?; cx.sleep(days(7)).await?;
// reorder: the parcels backwards = lock L310; replay H202
// - for sku in &order.skus
// + for sku in order.skus.iter().rev()
// kind: a pause in place of the charge = lock L304; replay H201 H204
// - let receipt = charge(cx, order.cents).await?;
// + cx.sleep(hours(1)).await?; let receipt = String::new();
// kind: an activity in place of the sleep = lock L304; replay H201
// - cx.sleep(days(7)).await?;
// + audit(cx, "seven days".to_owned()).await?;
// input: one cent more = replay H202
// - charge(cx, order.cents).await?
// + charge(cx, order.cents + 1).await?
// input: another text = replay H202
// - "how was {}?"
// + "how did you like {}?"
// branch: the other way round = lock L310; replay H201 H203
// - if order.skus.is_empty()
// + if !order.skus.is_empty()
// branch: a condition that no run has met = lock L310
// - if order.skus.is_empty()
// + if order.skus.is_empty() && order.cents < 1_000_000
// bound: one parcel only = lock L310; replay H201 H204
// - for sku in &order.skus
// + for sku in order.skus.iter().take(1)
// return: before the sleep = lock L310; replay H206
// - cx.sleep(days(7)).await?;
// + if order.cents > 100 { return Ok(receipt); } cx.sleep(days(7)).await?;
// return: another value = replay H202
// - Ok(receipt) }
// + Ok(format!("{receipt}!")) }
// return: the error of the charge is not passed on = lock L304; replay H203
// - let receipt = charge(cx, order.cents).await?;
// + let receipt = charge(cx, order.cents).await.unwrap_or_default();
// return: nothing of a charge that was declined = lock L304; replay H201
// - let receipt = charge(cx, order.cents).await?;
// + let Ok(receipt) = charge(cx, order.cents).await else { return Ok("declined".to_owned()) };
// type: a number where the order had a text = replay H210
// - use crate::shop::*;
// + use crate::shop::{charge, mail, ship};
// +
// + #[derive(serde::Serialize, serde::Deserialize)]
// + pub struct Order { pub id: u64, pub cents: u64, pub skus: Vec<String> }
// refactor: variables renamed = harmless
// - let receipt = charge
// + let number = charge
// - Ok(receipt) }
// + Ok(number) }
// refactor: the context has another name = harmless
// - pub async fn fulfil(cx: &Cx, order: Order) -> Result<String, Error> {
// + pub async fn fulfil(context: &Cx, order: Order) -> Result<String, Error> { let cx = context;
// refactor: more logs = harmless
// - let receipt = charge
// + cx.log("it begins"); let receipt = charge
// refactor: pure code added = harmless
// - cx.sleep(days(7)).await?;
// + let total: usize = order.skus.iter().map(String::len).sum();
// + let _twice = if total > 3 { total * 2 } else { 0 };
// + cx.sleep(days(7)).await?;
// refactor: another length of the sleep = harmless
// - cx.sleep(days(7)).await?;
// + cx.sleep(days(6)).await?;
// refactor: the text is made before = harmless
// - mail(cx, format!("how was {}?", order.id)).await?;
// + let text = format!("how was {}?", order.id); mail(cx, text).await?;
// refactor: the call is made before it is awaited = harmless
// - let receipt = charge(cx, order.cents).await?;
// + let charged = charge(cx, order.cents); let receipt = charged.await?;
// refactor: by its path = harmless
// - ship(cx, sku.clone()).await?
// + crate::shop::ship(cx, sku.clone()).await?
// refactor: the error is turned by hand = harmless
// - let receipt = charge(cx, order.cents).await?;
// + let receipt = charge(cx, order.cents).await.map_err(Error::from)?;
// refactor: options of a call = harmless
// - ship(cx, sku.clone()).await?
// + ship(cx, sku.clone()).retry(Retry::new().attempts(9)).timeout(hours(3)).await?
// refactor: the function has another name and the workflow the same = harmless
// - #[workflow] pub async fn fulfil
// + #[workflow(name = "fulfil")] pub async fn fulfil_an_order
// refactor: comments and lines = harmless
// - let parcel = ship(cx, sku.clone()).await?;
// + // On its way.
// + let parcel =
// +     ship(
// +         cx,
// +         sku.clone(),
// +     )
// +     .await?;
