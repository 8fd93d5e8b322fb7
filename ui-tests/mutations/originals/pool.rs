//! A `JoinSet` of at most two, and what is left of it when the run has enough.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn pool(cx: &Cx, order: Order) -> Result<Vec<String>, Error> {
    let (mut set, mut parcels) = (JoinSet::new(cx), Vec::new());
    for sku in &order.skus {
        if set.len() == 2
            && let Some(parcel) = set.next().await
        {
            parcels.push(parcel?);
        }
        set.submit(ship(cx, sku.clone()));
    }
    while let Some(parcel) = set.next().await {
        parcels.push(parcel?);
        if parcels.len() == 4 {
            break;
        }
    }
    drop(set);
    mail(cx, parcels.join(", ")).await?;
    Ok(parcels)
}

// # Runs
//
// one: {"id": "p-1", "cents": 0, "skus": ["cup"]}
// three: {"id": "p-2", "cents": 0, "skus": ["cup", "plate", "spoon"]}
//     ship#1 takes 1h
// five: {"id": "p-3", "cents": 0, "skus": ["cup", "plate", "spoon", "kettle", "pot"]}
// one fails: {"id": "p-4", "cents": 0, "skus": ["cup", "plate", "spoon", "kettle"]}
//     ship#2 fails "out of paper"
//
// # Mutations
//
// insert: a note for each = lock L301; replay H202 H203
// - set.submit(ship(cx, sku.clone()));
// + set.submit(ship(cx, sku.clone())); set.submit(ship(cx, "a note".to_owned()));
// insert: a pause after the first = lock L301; replay H203
// - while let Some(parcel)
// + cx.sleep(minutes(1)).await?; while let Some(parcel)
// remove: the mail = lock L302; replay H206
// - mail(cx, parcels.join(", ")).await?;
// +
// remove: what is left is waited for in vain = lock L302; replay H203
// - while let Some(parcel) = set.next().await {
// -     parcels.push(parcel?);
// -     if parcels.len() == 4 {
// -         break;
// -     }
// - }
// +
// rename: another way to ship = lock L304; replay H201
// - ship(cx, sku.clone())
// + reserve(cx, sku.clone())
// reorder: the set is dropped after the mail = replay H204
// - drop(set); mail(cx, parcels.join(", ")).await?;
// + mail(cx, parcels.join(", ")).await?; drop(set);
// kind: one after the other = lock L304; replay H204
// - set.submit(ship(cx, sku.clone()));
// + parcels.push(ship(cx, sku.clone()).await?);
// - let (mut set, mut parcels) = (JoinSet::new(cx), Vec::new());
// + let (mut set, mut parcels) = (JoinSet::<Result<String, ActivityError>>::new(cx), Vec::new());
// input: sent in upper case = replay H202
// - ship(cx, sku.clone())
// + ship(cx, sku.to_uppercase())
// bound: three at once = lock L310; replay H203 H205
// - if set.len() == 2
// + if set.len() == 3
// bound: one at a time = lock L310; replay H204 H205
// - if set.len() == 2
// + if set.len() == 1
// bound: it has enough with three = lock L310; replay H204
// - if parcels.len() == 4
// + if parcels.len() == 3
// return: what fails is left out = lock L310; replay H201
// - {
// -     parcels.push(parcel?);
// - }
// - set.submit
// + {
// +     parcels.extend(parcel);
// + }
// + set.submit
// rewrite: it is full = lock L310
// - if set.len() == 2
// -     && let Some(parcel) = set.next().await
// - {
// -     parcels.push(parcel?);
// - }
// + let full = set.len() >= 2;
// + if full
// +     && let Some(parcel) = set.next().await
// + {
// +     parcels.push(parcel?);
// + }
// refactor: the set at the end is dropped where it ends = harmless
// - drop(set);
// + { let _gone = set; }
// rewrite: the skus are moved out = lock L310
// - for sku in &order.skus
// + for sku in order.skus.clone()
// refactor: what is sent is a list before = harmless
// - mail(cx, parcels.join(", ")).await?;
// + let list: String = parcels.join(", "); mail(cx, list).await?;
// refactor: the set has another name before it is dropped = harmless
// - drop(set);
// + let rest = set; drop(rest);
// refactor: options of what is submitted = harmless
// - set.submit(ship(cx, sku.clone()));
// + set.submit(ship(cx, sku.clone()).retry(Retry::never()));
