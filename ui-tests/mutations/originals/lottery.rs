//! Draws, ids and recorded values, and what hangs on them.

use perennial::prelude::*;

use crate::shop::*;

#[workflow]
pub async fn lottery(cx: &Cx, order: Order) -> Result<String, Error> {
    let ticket = cx.uuid();
    let limit: u64 = cx.record("limit", || 3);
    let mut tries = 0;
    let mut won = None;
    while won.is_none() && tries < limit {
        tries += 1;
        let number = cx.random_range(0..100);
        won = if number < 40 { Some(number) } else { None };
        cx.sleep(minutes(number + 1)).await?;
    }
    let grace: u64 = cx.record("grace", || 2);
    cx.sleep(hours(grace)).await?;
    match won {
        Some(number) => {
            let lucky: bool = cx.random();
            mail(cx, format!("{ticket} won with {number}, {lucky}")).await?;
            Ok(ship(cx, order.id.clone()).await?)
        }
        None => Err(Error::new(format!("{ticket} has not won"))),
    }
}

// # Runs
//
// first: {"id": "l-1", "cents": 0, "skus": []}
// second: {"id": "l-2", "cents": 0, "skus": []}
// third: {"id": "l-3", "cents": 0, "skus": []}
// fourth: {"id": "l-4", "cents": 0, "skus": []}
//
// # Mutations
//
// insert: a second ticket = lock L301; replay H203
// - let limit: u64
// + let _second = cx.uuid(); let limit: u64
// insert: a draw at the end = lock L301; replay H201 H203
// - let grace: u64
// + let _more: u64 = cx.random(); let grace: u64
// insert: a recorded value = lock L301; replay H203
// - let mut tries = 0;
// + let _currency: String = cx.record("currency", || "EUR".to_owned()); let mut tries = 0;
// remove: the ticket = lock L302; replay H204
// - let ticket = cx.uuid();
// + let ticket = "ticket";
// remove: the recorded grace = lock L302; replay H204
// - let grace: u64 = cx.record("grace", || 2);
// + let grace = 2;
// remove: the draw of who has won = lock L302; replay H204
// - let lucky: bool = cx.random();
// + let lucky = true;
// rename: a recorded value = lock L304; replay H201
// - cx.record("limit", || 3)
// + cx.record("tries", || 3)
// reorder: the ticket after the limit = lock L303; replay H205
// - let ticket = cx.uuid(); let limit: u64 = cx.record("limit", || 3);
// + let limit: u64 = cx.record("limit", || 3); let ticket = cx.uuid();
// reorder: the sleep before the draw = lock L303; replay H201 H203 H204
// - let number = cx.random_range(0..100);
// - won = if number < 40 { Some(number) } else { None };
// - cx.sleep(minutes(number + 1)).await?;
// + cx.sleep(minutes(1)).await?;
// + let number = cx.random_range(0..100);
// + won = if number < 40 { Some(number) } else { None };
// kind: a draw in place of an id = lock L304; replay H201
// - let ticket = cx.uuid();
// + let ticket: u64 = cx.random();
// kind: recorded in place of drawn = lock L304; replay H201
// - let number = cx.random_range(0..100);
// + let number: u64 = cx.record("number", || 50);
// kind: drawn in place of recorded = lock L304; replay H204
// - let limit: u64 = cx.record("limit", || 3);
// + let limit = cx.random_range(3..4);
// input: what the mail says = replay H202
// - "{ticket} won with {number}, {lucky}"
// + "{ticket} has won with {number}, {lucky}"
// branch: easier to win = replay H201 H204
// - if number < 40
// + if number < 80
// bound: more tries than recorded = lock L310; replay H203
// - tries < limit
// + tries < limit + 1
// bound: fewer tries = lock L310; replay H201 H204
// - tries < limit
// + tries + 1 < limit
// return: who has not won gets nothing = replay H201
// - None => Err(Error::new(format!("{ticket} has not won"))),
// + None => Ok(String::new()),
// type: the limit is a text = lock L310; replay H210 at 3
// - let limit: u64 = cx.record("limit", || 3);
// + let limit: String = cx.record("limit", || "3".to_owned()); let limit = limit.len() as u64;
// type: the luck is a number = replay H202
// - let lucky: bool = cx.random();
// + let lucky: u64 = cx.random();
// refactor: another value is recorded from now on = harmless
// - cx.record("grace", || 2)
// + cx.record("grace", || 5)
// refactor: the draw by another method = harmless
// - let number = cx.random_range(0..100);
// + let number: u64 = cx.random_range(0..100);
// rewrite: a number of another type = lock L310
// - let limit: u64 = cx.record("limit", || 3);
// + let limit: u32 = cx.record("limit", || 3);
// - tries < limit
// + tries < u64::from(limit)
// - let mut tries = 0;
// + let mut tries = 0u64;
// refactor: then in place of if = harmless
// - won = if number < 40 { Some(number) } else { None };
// + won = (number < 40).then_some(number);
// refactor: another pause = harmless
// - cx.sleep(minutes(number + 1)).await?;
// + cx.sleep(minutes(number + 2)).await?;
// refactor: a log of what was drawn = harmless
// - let grace: u64
// + cx.log(format_args!("{won:?}")); let grace: u64
