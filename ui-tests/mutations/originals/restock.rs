//! Loops in loops, a `while` on what is awaited, `continue` and labels; two inputs.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn restock(cx: &Cx, skus: Vec<String>, wanted: u64) -> Result<u64, Error> {
    let mut bought = 0;
    'skus: for sku in &skus {
        let mut asked = 0;
        while stock(cx, sku.clone()).await? < wanted {
            asked += 1;
            if asked > 2 {
                continue 'skus;
            }
            let offer = price(cx, sku.clone()).await?;
            if offer > 500 {
                cx.sleep(hours(asked)).await?;
                continue;
            }
            for _ in 0..2 {
                reserve(cx, sku.clone()).await?;
                bought += 1;
            }
            if bought >= 6 {
                break 'skus;
            }
        }
    }
    let report = async {
        mail(cx, format!("{bought} are bought")).await?;
        Ok::<_, Error>(bought)
    };
    report.await
}

// # Runs
//
// enough: [["cup", "plate"], 1]
// some: [["cup", "teapots"], 3]
//     stock#2 answers 5
//     stock#4 answers 9
// all: [["cup", "plate", "spoon"], 9]
// dear: [["teapots"], 9]
//     stock#3 answers 9
// it fails: [["cup"], 9]
//     price fails "no connection"
//
// # Mutations
//
// insert: a pause in the inner loop = lock L301; replay H201 H203
// - reserve(cx, sku.clone()).await?; bought += 1;
// + reserve(cx, sku.clone()).await?; cx.sleep(minutes(1)).await?; bought += 1;
// remove: the price = lock L302; replay H201 H204
// - let offer = price(cx, sku.clone()).await?;
// + let offer = 300;
// remove: the pause where it is too dear = lock L302; replay H201 H204
// - cx.sleep(hours(asked)).await?;
// +
// rename: the stock = lock L304; replay H201
// - while stock(cx
// + while crate::twins::twin_of_stock(cx
// reorder: the price before the stock = lock L304; replay H201 H203 H205
// - while stock(cx, sku.clone()).await? < wanted {
// -     asked += 1;
// -     if asked > 2 {
// -         continue 'skus;
// -     }
// -     let offer = price(cx, sku.clone()).await?;
// + loop {
// +     let offer = price(cx, sku.clone()).await?;
// +     if stock(cx, sku.clone()).await? >= wanted {
// +         break;
// +     }
// +     asked += 1;
// +     if asked > 2 {
// +         continue 'skus;
// +     }
// kind: if in place of while = lock L304; replay H201 H202 H204
// - while stock(cx, sku.clone()).await? < wanted {
// + if stock(cx, sku.clone()).await? < wanted {
// input: of the report = replay H202
// - "{bought} are bought"
// + "{bought} were bought"
// branch: what is dear = lock L310; replay H201
// - if offer > 500
// + if offer > 200
// branch: the other way round = lock L310; replay H201 H203
// - if offer > 500
// + if offer <= 500
// bound: one of each = lock L310; replay H201 H204
// - for _ in 0..2
// + for _ in 0..1
// bound: it asks once more = lock L310; replay H201
// - if asked > 2
// + if asked > 3
// bound: enough is less = lock L310; replay H201
// - if bought >= 6
// + if bought >= 4
// return: after the first = lock L310; replay H201 H204
// - continue 'skus;
// + break 'skus;
// return: what was bought, doubled = replay H202
// - Ok::<_, Error>(bought)
// + Ok::<_, Error>(bought * 2)
// type: another input = lock L310; replay H210
// - wanted: u64)
// + wanted: Vec<u64>)
// - < wanted
// + < wanted[0]
// type: one input in place of two = lock L310; replay H210
// - pub async fn restock(cx: &Cx, skus: Vec<String>, wanted: u64)
// + pub async fn restock(cx: &Cx, (skus, wanted): (Vec<String>, String))
// - < wanted
// + < wanted.len() as u64
// rewrite: the two inputs are a pair = lock L310
// - pub async fn restock(cx: &Cx, skus: Vec<String>, wanted: u64)
// + pub async fn restock(cx: &Cx, (skus, wanted): (Vec<String>, u64))
// rewrite: the type of a count = lock L310
// - let mut asked = 0;
// + let mut asked = 0u64;
// refactor: a label has another name = harmless
// - 'skus: for sku in &skus {
// + 'each: for sku in &skus {
// - continue 'skus;
// + continue 'each;
// - break 'skus;
// + break 'each;
// rewrite: the report without a block = lock L304
// - let report = async {
// -     mail(cx, format!("{bought} are bought")).await?;
// -     Ok::<_, Error>(bought)
// - };
// - report.await
// + mail(cx, format!("{bought} are bought")).await?;
// + Ok(bought)
// rewrite: a loop that counts otherwise = lock L310
// - for _ in 0..2
// + for _ in [(), ()]
// refactor: another name for what is asked for = harmless
// - pub async fn restock(cx: &Cx, skus: Vec<String>, wanted: u64)
// + pub async fn restock(cx: &Cx, skus: Vec<String>, least: u64)
// - < wanted
// + < least
// refactor: logs in the loop = harmless
// - asked += 1;
// + cx.log(format_args!("{sku} is asked for again")); asked += 1;
// refactor: the call is made first = harmless
// - let offer = price(cx, sku.clone()).await?;
// + let call = price(cx, sku.clone()); let offer = call.await?;
