//! A machine of states: a `match` in a loop, `sleep_until`, and a `break` with a value.

use perennial::prelude::*;

use crate::shop::*;

enum State {
    Trial,
    Active { months: u32 },
    Late { reminders: u32 },
}

#[workflow]
pub async fn subscription(cx: &Cx, order: Order) -> Result<u32, Error> {
    let mut state = State::Trial;
    let begin = cx.now();
    let months = loop {
        state = match state {
            State::Trial => {
                mail(cx, "welcome".to_owned()).await?;
                cx.sleep_until(begin + days(14)).await?;
                State::Active { months: 0 }
            }
            State::Active { months } if months == 3 => break months,
            State::Active { months } => match charge(cx, order.cents).await {
                Ok(_) => {
                    cx.sleep(days(30)).await?;
                    State::Active { months: months + 1 }
                }
                Err(_) => State::Late { reminders: 0 },
            },
            State::Late { reminders: 2 } => return Err(Error::new("not paid")),
            State::Late { reminders } => {
                mail(cx, "please pay".to_owned()).await?;
                cx.sleep(days(3)).await?;
                match charge(cx, order.cents).await {
                    Ok(_) => State::Active { months: 1 },
                    Err(_) => State::Late {
                        reminders: reminders + 1,
                    },
                }
            }
        };
    };
    mail(cx, "goodbye".to_owned()).await?;
    Ok(months)
}

// # Runs
//
// paid: {"id": "u-1", "cents": 20, "skus": []}
// late: {"id": "u-2", "cents": 20, "skus": []}
//     charge#2 rejects "NoCover"
// not paid: {"id": "u-3", "cents": 20, "skus": []}
//     charge rejects "Stolen"
//
// # Mutations
//
// insert: a mail when it is late = lock L301; replay H202
// - Err(_) => State::Late { reminders: 0 },
// + Err(_) => { mail(cx, "oh".to_owned()).await?; State::Late { reminders: 0 } }
// insert: a state = replay H201
// - State::Active { months: 0 }
// + State::Late { reminders: 0 }
// remove: the welcome = lock L302; replay H201
// - mail(cx, "welcome".to_owned()).await?;
// +
// remove: the pause of three days = lock L302; replay H201
// - cx.sleep(days(3)).await?;
// +
// rename: the charge when it is late = lock L304; replay H201
// - cx.sleep(days(3)).await?; match charge(
// + cx.sleep(days(3)).await?; match crate::twins::twin_of_charge(
// reorder: the sleep before the reminder = lock L303; replay H201
// - mail(cx, "please pay".to_owned()).await?; cx.sleep(days(3)).await?;
// + cx.sleep(days(3)).await?; mail(cx, "please pay".to_owned()).await?;
// kind: an activity in place of the timer = lock L304; replay H201
// - cx.sleep_until(begin + days(14)).await?;
// + audit(cx, "fourteen days".to_owned()).await?;
// input: what is charged = replay H202
// - State::Active { months } => match charge(cx, order.cents).await {
// + State::Active { months } => match charge(cx, order.cents + months as u64).await {
// branch: a guard = lock L310; replay H201 H204
// - State::Active { months } if months == 3 => break months,
// + State::Active { months } if months == 2 => break months,
// bound: one reminder less = lock L310; replay H206
// - State::Late { reminders: 2 } => return
// + State::Late { reminders: 1 } => return
// bound: one reminder more = lock L310; replay H203
// - State::Late { reminders: 2 } => return
// + State::Late { reminders: 3 } => return
// return: without an error = lock L310; replay H203
// - return Err(Error::new("not paid")),
// + break 0,
// return: the months of who was late = replay H201 H204
// - Ok(_) => State::Active { months: 1 },
// + Ok(_) => State::Active { months: 2 },
// arms: the reminder before the end = lock L310; replay H203
// - State::Late { reminders: 2 } => return Err(Error::new("not paid")),
// - State::Late { reminders } => {
// + State::Late { reminders: 9 } => return Err(Error::new("not paid")),
// + State::Late { reminders } => {
// type: the months are a text = replay H202
// - Result<u32, Error>
// + Result<String, Error>
// - Ok(months) }
// + Ok(months.to_string()) }
// kind: sleep in place of sleep_until, which histories do not tell apart = lock L304
// - cx.sleep_until(begin + days(14)).await?;
// + cx.sleep(days(14)).await?;
// refactor: another day = harmless
// - cx.sleep_until(begin + days(14)).await?;
// + cx.sleep_until(begin + days(21)).await?;
// rewrite: the states have other names = lock L310
// - Trial, Active { months: u32 },
// + Trying, Active { months: u32 },
// - let mut state = State::Trial;
// + let mut state = State::Trying;
// - State::Trial => {
// + State::Trying => {
// rewrite: a guard in place of a pattern = lock L310
// - State::Late { reminders: 2 } => return Err(Error::new("not paid")),
// + State::Late { reminders } if reminders == 2 => return Err(Error::new("not paid")),
// refactor: the state is made before = harmless
// - cx.sleep(days(30)).await?; State::Active { months: months + 1 }
// + let next = months + 1; cx.sleep(days(30)).await?; State::Active { months: next }
// refactor: the label of the workflow = harmless
// - #[workflow]
// + #[workflow(version = 2)]
