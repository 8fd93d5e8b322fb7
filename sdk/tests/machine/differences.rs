//! What is told of a changed workflow (S17): each change is made to code whose history is there, and replayed at
//! every length that the history had meanwhile. The first difference is at the same event each time, and what is
//! told of it is never something else than what was done: at worst that it is changed.

use perennial::history::{Channel, Decision, Observation, SlotResult, Unit};
use perennial::prelude::*;
use perennial::{Blocked, Incompatible, Workflow};

use crate::story::{Story, replay};

#[activity(idempotent)]
async fn pick(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

#[activity(idempotent)]
async fn charge(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

#[activity(idempotent)]
async fn ship(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

#[activity(idempotent)]
async fn notify(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

#[activity(idempotent)]
async fn loyalty_points(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

#[activity(idempotent)]
async fn send_parcel(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

#[durable]
async fn delivered(cx: &Cx, n: u64) -> Result<u64, Error> {
    ship(cx, n).await?;
    Ok(notify(cx, n).await?)
}

/// Tells the run to its end: what is open is answered in the order in which it began.
fn told<W: Workflow>() -> Vec<Unit> {
    let mut story = Story::of::<W>(()).unchecked();
    while !story.is_finished() {
        if let Some((operation, result)) = open_slot(&story) {
            story.observe(Observation::SlotFilled { operation, result });
            continue;
        }
        let activity = story.machine().open_activities().into_iter().min();
        let timer = story.machine().timers().first().map(|(number, _)| *number);
        let wait = open_wait(&story);
        let first = [activity, timer, wait.as_ref().map(|wait| wait.0)];
        let first = first.into_iter().flatten().min();
        let number = story.units.len() as u64;
        match wait {
            _ if first.is_none() => panic!("nothing is open"),
            Some((operation, Channel::Message, name)) if first == Some(operation) => {
                story.message(number, &name, 7);
            }
            Some((operation, Channel::Signal, name)) if first == Some(operation) => {
                story.signal(number, &name, 7);
            }
            _ if first == timer => {
                story.fire(timer.unwrap());
            }
            _ => {
                story.complete(activity.unwrap(), 7);
            }
        }
        assert!(story.units.len() < 100);
    }
    story.units
}

/// The first send, or what is fulfilled, that has come to nothing yet, and what it comes to.
fn open_slot(story: &Story) -> Option<(u64, SlotResult)> {
    let receipt = Receipt {
        number: 7,
        at: Timestamp::default(),
        duplicate: false,
    };
    let filled = |send: u64| {
        story.units.iter().any(|unit| {
            matches!(unit.observation, Observation::SlotFilled { operation, .. } if operation == send)
        })
    };
    let mut decisions = story.units.iter().flat_map(|unit| &unit.decisions);
    decisions.find_map(|decision| match decision {
        Decision::SendRequested { operation, .. } if !filled(*operation) => {
            Some((*operation, SlotResult::Sent(receipt)))
        }
        Decision::FulfilRequested { operation, .. } if !filled(*operation) => {
            Some((*operation, SlotResult::Fulfilled(receipt)))
        }
        _ => None,
    })
}

/// The first wait for a message or a signal that has got nothing.
fn open_wait(story: &Story) -> Option<(u64, Channel, String)> {
    let decisions = || story.units.iter().flat_map(|unit| &unit.decisions);
    let is_over = |wait: u64| {
        decisions().any(|decision| match decision {
            Decision::Received { operation, .. } | Decision::Dropped { operation } => {
                *operation == wait
            }
            _ => false,
        })
    };
    decisions().find_map(|decision| match decision {
        Decision::ReceiveStarted {
            operation,
            channel,
            name,
            ..
        } if !is_over(*operation) && story.machine().awaits(*channel, name) => {
            Some((*operation, *channel, name.to_string()))
        }
        _ => None,
    })
}

/// What is told at each length of the history at which there is a difference, the longest first.
fn differences<Old: Workflow, New: Workflow>() -> Vec<Incompatible> {
    let units = told::<Old>();
    let mut found = Vec::new();
    for length in (1..=units.len()).rev() {
        match replay::<New>(&units[..length]) {
            Ok(()) => break,
            Err(Blocked::Incompatible(error)) => found.push(*error),
            Err(other) => panic!("{other}"),
        }
    }
    found
}

/// A line for each different answer: the code, the event, and what is on both sides.
fn lines<Old: Workflow, New: Workflow>() -> String {
    let mut lines = Vec::new();
    for error in differences::<Old, New>() {
        let side = |side: &Option<perennial::Side>| match side {
            Some(side) => side.what.clone(),
            None => "nothing".to_owned(),
        };
        let line = format!(
            "{} {} at {}: {} / {}{}{}",
            error.kind.code(),
            error.kind.name(),
            error.event,
            side(&error.recorded),
            side(&error.asked),
            if error.renamed.is_some() {
                " (renamed)"
            } else {
                ""
            },
            error
                .detail
                .map(|detail| format!("\n  {}", placeless(&detail)))
                .unwrap_or_default(),
        );
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// Without the lines and columns of this file, which move.
fn placeless(text: &str) -> String {
    let mut parts = text.split(".rs:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += ".rs";
        out += part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    }
    out
}

macro_rules! change {
    ($name:ident, |$cx:ident| $old:block => $new:block, $($told:tt)+) => {
        #[test]
        fn $name() {
            #[allow(dead_code)]
            mod old {
                use super::*;
                #[workflow]
                pub(super) async fn flow($cx: &Cx) -> Result<u64, Error> $old
            }
            #[allow(dead_code)]
            mod new {
                use super::*;
                #[workflow]
                pub(super) async fn flow($cx: &Cx) -> Result<u64, Error> $new
            }
            insta::assert_snapshot!(lines::<old::flow, new::flow>(), $($told)+);
        }
    };
}

change! { inserted_between_two,
|cx| { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; loyalty_points(cx, 5).await?; Ok(ship(cx, 2).await?) }, @"H203 inserted at 4: activity ship / activity loyalty_points" }

change! { inserted_two,
|cx| { pick(cx, 1).await?; charge(cx, 2).await?; Ok(notify(cx, 3).await?) }
=> { notify(cx, 0).await?; cx.sleep(hours(1)).await?; pick(cx, 1).await?; charge(cx, 2).await?; Ok(notify(cx, 3).await?) }, @"
H203 inserted at 2: activity pick / activity notify
H201 changed at 2: activity pick / activity notify
" }

change! { inserted_at_the_beginning,
|cx| { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { pick(cx, 0).await?; charge(cx, 1).await?; Ok(ship(cx, 2).await?) }, @"H203 inserted at 2: activity charge / activity pick" }

change! { inserted_before_the_end,
|cx| { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; let n = ship(cx, 2).await?; notify(cx, n).await?; Ok(n) }, @"H203 inserted at 6: return of a result / activity notify" }

change! { inserted_into_a_join,
|cx| { let (a, b) = join!(charge(cx, 1), ship(cx, 2)); Ok(a? + b?) }
=> { let (a, b, c) = join!(charge(cx, 1), notify(cx, 3), ship(cx, 2)); c?; Ok(a? + b?) }, @"H203 inserted at 3: activity ship / activity notify" }

change! { inserted_into_a_block_of_a_join,
|cx| { let (a, b) = join!(charge(cx, 1), async { ship(cx, 2).await?; Ok::<_, Error>(notify(cx, 3).await?) }); Ok(a? + b?) }
=> { let (a, b) = join!(charge(cx, 1), async { ship(cx, 2).await?; pick(cx, 9).await?; Ok::<_, Error>(notify(cx, 3).await?) }); Ok(a? + b?) }, @"H203 inserted at 6: activity notify / activity pick" }

change! { inserted_in_a_loop,
|cx| { for n in 0..3 { charge(cx, n).await?; ship(cx, n).await?; } Ok(1) }
=> { for n in 0..3 { charge(cx, n).await?; pick(cx, n).await?; ship(cx, n).await?; } Ok(1) }, @"H203 inserted at 4: activity ship / activity pick" }

change! { inserted_at_the_end_of_a_loop,
|cx| { for n in 0..3 { charge(cx, n).await?; ship(cx, n).await?; } Ok(1) }
=> { for n in 0..3 { charge(cx, n).await?; ship(cx, n).await?; pick(cx, n).await?; } Ok(1) }, @"
H203 inserted at 6: activity charge / activity pick
H201 changed at 6: activity charge / activity pick
" }

change! { inserted_before_a_marker,
|cx| { charge(cx, 1).await?; if cx.patched("gift") { notify(cx, 1).await?; } cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; pick(cx, 5).await?; if cx.patched("gift") { notify(cx, 1).await?; } cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }, @r#"H203 inserted at 4: marker "gift" 1 / activity pick"# }

change! { a_draw_inserted_before_a_marker,
|cx| { charge(cx, 1).await?; if cx.patched("gift") { notify(cx, 1).await?; } cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; let _ = cx.uuid(); if cx.patched("gift") { notify(cx, 1).await?; } cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }, @r#"H203 inserted at 4: marker "gift" 1 / uuid"# }

change! { a_sleep_moved_before_a_marker,
|cx| { charge(cx, 1).await?; if cx.patched("gift") { notify(cx, 1).await?; } cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.sleep(hours(1)).await?; if cx.patched("gift") { notify(cx, 1).await?; } Ok(ship(cx, 2).await?) }, @r#"
H205 reordered at 4: marker "gift" 1 / sleep
H208 marker removed at 4: marker "gift" 1 / sleep
H203 inserted at 4: marker "gift" 1 / sleep
"# }

change! { a_marker_that_is_gone_with_its_arm,
|cx| { charge(cx, 1).await?; if cx.patched("gift") { notify(cx, 1).await?; } cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }, @r#"H208 marker removed at 4: marker "gift" 1 / sleep"# }

change! { a_marker_that_now_stands_under_a_condition,
|cx| { charge(cx, 1).await?; if cx.patched("gift") { notify(cx, 1).await?; } cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }
=> { let n = charge(cx, 1).await?; if n == 0 && cx.patched("gift") { notify(cx, 1).await?; } cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }, @r#"H208 marker removed at 4: marker "gift" 1 / sleep"# }

change! { inserted_another_one_of_the_same_name,
|cx| { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 0).await?; charge(cx, 1).await?; Ok(ship(cx, 2).await?) }, @"
H203 inserted at 2: activity charge / activity charge
H202 changed input at 2: activity charge / activity charge
" }

change! { inserted_a_name_that_comes_again,
|cx| { ship(cx, 1).await?; notify(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { notify(cx, 0).await?; ship(cx, 1).await?; notify(cx, 1).await?; Ok(ship(cx, 2).await?) }, @"H203 inserted at 2: activity ship / activity notify" }

change! { inserted_before_a_wait_the_same_as_after_it,
|cx| { cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }
=> { ship(cx, 1).await?; cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }, @"H203 inserted at 2: sleep / activity ship" }

change! { inserted_before_a_wait_the_very_same_as_after_it,
|cx| { cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }
=> { ship(cx, 2).await?; cx.sleep(hours(1)).await?; Ok(ship(cx, 2).await?) }, @"H203 inserted at 2: sleep / activity ship" }

change! { inserted_beside_what_is_waited_for_and_comes_again,
|cx| { let (a, b) = join!(charge(cx, 1), ship(cx, 2)); notify(cx, 3).await?; Ok(a? + b?) }
=> { let (a, b, c) = join!(charge(cx, 1), ship(cx, 2), notify(cx, 3)); c?; notify(cx, 3).await?; Ok(a? + b?) }, @"H203 inserted at 4: nothing / activity notify" }

change! { moved_beside_what_is_waited_for,
|cx| { let (a, b) = join!(charge(cx, 1), ship(cx, 2)); notify(cx, 3).await?; Ok(a? + b?) }
=> { let (a, b, c) = join!(charge(cx, 1), ship(cx, 2), notify(cx, 3)); c?; Ok(a? + b?) }, @"
H205 reordered at 4: nothing / activity notify
  the history has it at event 6, after something that this code does not wait for here
H203 inserted at 4: nothing / activity notify
" }

change! { inserted_in_a_helper,
|cx| { charge(cx, 1).await?; delivered(cx, 2).await }
=> {
    #[durable]
    async fn delivered_later(cx: &Cx, n: u64) -> Result<u64, Error> {
        ship(cx, n).await?;
        pick(cx, n).await?;
        Ok(notify(cx, n).await?)
    }
    charge(cx, 1).await?; delivered_later(cx, 2).await
}, @"H203 inserted at 6: activity notify / activity pick" }

change! { inserted_before_a_helper,
|cx| { charge(cx, 1).await?; delivered(cx, 2).await }
=> { charge(cx, 1).await?; pick(cx, 9).await?; delivered(cx, 2).await }, @"H203 inserted at 4: activity ship / activity pick" }

change! { inserted_a_timer,
|cx| { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.sleep(seconds(1)).await?; Ok(ship(cx, 2).await?) }, @"H203 inserted at 4: activity ship / sleep" }

change! { inserted_after_a_select,
|cx| { select! { a = charge(cx, 1) => a?, _ = cx.sleep(hours(1)) => 0 }; Ok(ship(cx, 2).await?) }
=> { select! { a = charge(cx, 1) => a?, _ = cx.sleep(hours(1)) => 0 }; pick(cx, 3).await?; Ok(ship(cx, 2).await?) }, @"H203 inserted at 6: activity ship / activity pick" }

change! { rw01_an_inserted_draw_is_told_at_the_draw,
|cx| { cx.sleep(hours(1)).await?; let id = cx.uuid(); Ok(ship(cx, id.as_u64_pair().0).await?) }
=> { let jitter: u64 = cx.random(); cx.sleep(millis(jitter % 50)).await?; let id = cx.uuid(); Ok(ship(cx, id.as_u64_pair().0).await?) }, @"H203 inserted at 2: sleep / random draw" }

change! { rw01_an_inserted_draw_beside_another,
|cx| { let id = cx.uuid(); Ok(ship(cx, id.as_u64_pair().0).await?) }
=> { let jitter: u64 = cx.random(); let id = cx.uuid(); Ok(ship(cx, jitter + id.as_u64_pair().0).await?) }, @"H203 inserted at 2: uuid / random draw" }

change! { rw01_an_inserted_draw_before_one_that_is_like_it,
|cx| { let n: u64 = cx.random(); Ok(ship(cx, n).await?) }
=> { let jitter: u64 = cx.random(); let n: u64 = cx.random(); Ok(ship(cx, jitter + n).await?) }, @"
H203 inserted at 3: activity ship / random draw
  what is new or gone may also be one of the same before it: random draw at sdk/tests/machine/differences.rs
" }

change! { removed_a_draw_before_one_that_is_like_it,
|cx| { let jitter: u64 = cx.random(); let n: u64 = cx.random(); Ok(ship(cx, jitter + n).await?) }
=> { let n: u64 = cx.random(); Ok(ship(cx, n).await?) }, @"
H204 removed at 3: random draw / activity ship
  what is new or gone may also be one of the same before it: random draw at sdk/tests/machine/differences.rs
" }

change! { removed_between_two,
|cx| { charge(cx, 1).await?; notify(cx, 5).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }, @"
H204 removed at 4: activity notify / activity ship
H201 changed at 4: activity notify / activity ship
" }

change! { removed_at_the_end,
|cx| { charge(cx, 1).await?; let n = ship(cx, 2).await?; notify(cx, n).await?; Ok(n) }
=> { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }, @"H206 left over at 6: activity notify / return of a result" }

change! { removed_from_a_join,
|cx| { let (a, b, c) = join!(charge(cx, 1), notify(cx, 3), ship(cx, 2)); c?; Ok(a? + b?) }
=> { let (a, b) = join!(charge(cx, 1), ship(cx, 2)); Ok(a? + b?) }, @"H204 removed at 3: activity notify / activity ship" }

change! { removed_the_last_of_a_join,
|cx| { let (a, b, c) = join!(charge(cx, 1), notify(cx, 3), ship(cx, 2)); c?; Ok(a? + b?) }
=> { let (a, b) = join!(charge(cx, 1), notify(cx, 3)); Ok(a? + b?) }, @"H204 removed at 4: activity ship / nothing" }

change! { removed_in_a_loop,
|cx| { for n in 0..3 { charge(cx, n).await?; pick(cx, n).await?; ship(cx, n).await?; } Ok(1) }
=> { for n in 0..3 { charge(cx, n).await?; ship(cx, n).await?; } Ok(1) }, @"
H204 removed at 4: activity pick / activity ship
H201 changed at 4: activity pick / activity ship (renamed)
" }

change! { removed_a_draw,
|cx| { let jitter: u64 = cx.random(); cx.sleep(millis(jitter % 50)).await?; Ok(ship(cx, 2).await?) }
=> { cx.sleep(millis(5)).await?; Ok(ship(cx, 2).await?) }, @"H204 removed at 2: random draw / sleep" }

change! { removed_an_arm_of_a_select,
|cx| { Ok(select! { a = charge(cx, 1) => a?, b = ship(cx, 2) => b?, _ = cx.sleep(hours(1)) => 0 }) }
=> { Ok(select! { a = charge(cx, 1) => a?, _ = cx.sleep(hours(1)) => 0 }) }, @"H204 removed at 3: activity ship / sleep" }

change! { swapped,
|cx| { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { ship(cx, 2).await?; Ok(charge(cx, 1).await?) }, @"
H205 reordered at 2: activity charge / activity ship
H203 inserted at 2: activity charge / activity ship
" }

change! { swapped_in_a_join,
|cx| { let (a, b) = join!(charge(cx, 1), ship(cx, 2)); Ok(a? + b?) }
=> { let (a, b) = join!(ship(cx, 2), charge(cx, 1)); Ok(a? + b?) }, @"H205 reordered at 2: activity charge / activity ship" }

change! { swapped_with_equal_names,
|cx| { let (a, b) = join!(ship(cx, 1), ship(cx, 2)); Ok(a? + b?) }
=> { let (a, b) = join!(ship(cx, 2), ship(cx, 1)); Ok(a? + b?) }, @"H205 reordered at 2: activity ship / activity ship" }

change! { one_after_the_other_became_beside_each_other,
|cx| { let a = charge(cx, 1).await?; Ok(a + ship(cx, 2).await?) }
=> { let (a, b) = join!(charge(cx, 1), ship(cx, 2)); Ok(a? + b?) }, @"
H205 reordered at 3: nothing / activity ship
  the history has it at event 4, after something that this code does not wait for here
H203 inserted at 3: nothing / activity ship
" }

change! { beside_each_other_became_one_after_the_other,
|cx| { let (a, b) = join!(charge(cx, 1), ship(cx, 2)); Ok(a? + b?) }
=> { let a = charge(cx, 1).await?; Ok(a + ship(cx, 2).await?) }, @"
H205 reordered at 3: activity ship / nothing
  this code comes to it at sdk/tests/machine/differences.rs, after it has waited
" }

change! { drops_in_another_order,
|cx| { Ok(select! { a = charge(cx, 1) => a?, _ = cx.sleep(hours(1)) => 0, _ = cx.sleep(hours(2)) => 0 }) }
=> {
    let first = charge(cx, 1);
    let (one, two) = (cx.sleep(hours(1)), cx.sleep(hours(2)));
    let mut first = Box::pin(first.into_future());
    let (mut one, mut two) = (Box::pin(one), Box::pin(two));
    let n = select! { a = &mut first => a?, _ = &mut one => 0, _ = &mut two => 0 };
    drop(two);
    drop(one);
    Ok(n)
}, @"H205 reordered at 6: drop / drop" }

change! { another_branch,
|cx| { let n = charge(cx, 1).await?; if n > 5 { ship(cx, n).await?; } else { notify(cx, n).await?; } Ok(pick(cx, 2).await?) }
=> { let n = charge(cx, 1).await?; if n > 9 { ship(cx, n).await?; } else { notify(cx, n).await?; } Ok(pick(cx, 2).await?) }, @"
H201 changed at 4: activity ship / activity notify
  `activity ship` stands in another branch, at sdk/tests/machine/differences.rs this code takes one that the history did not take
" }

change! { another_branch_after_which_the_same_comes,
|cx| { let n = charge(cx, 1).await?; if n > 5 { ship(cx, n).await?; } else { notify(cx, n).await?; } Ok(ship(cx, 2).await?) }
=> { let n = charge(cx, 1).await?; if n > 9 { ship(cx, n).await?; } else { notify(cx, n).await?; } Ok(ship(cx, 2).await?) }, @"
H201 changed at 4: activity ship / activity notify
  `activity ship` stands in another branch, at sdk/tests/machine/differences.rs this code takes one that the history did not take
" }

change! { one_for_another,
|cx| { charge(cx, 1).await?; ship(cx, 2).await?; Ok(notify(cx, 3).await?) }
=> { charge(cx, 1).await?; pick(cx, 5).await?; Ok(notify(cx, 3).await?) }, @"H201 changed at 4: activity ship / activity pick" }

change! { another_name,
|cx| { charge(cx, 1).await?; ship(cx, 2).await?; Ok(notify(cx, 3).await?) }
=> { charge(cx, 1).await?; send_parcel(cx, 2).await?; Ok(notify(cx, 3).await?) }, @"H201 changed at 4: activity ship / activity send_parcel (renamed)" }

change! { another_kind,
|cx| { charge(cx, 1).await?; cx.sleep(seconds(1)).await?; Ok(notify(cx, 3).await?) }
=> { charge(cx, 1).await?; ship(cx, 2).await?; Ok(notify(cx, 3).await?) }, @"H201 changed at 4: sleep / activity ship" }

change! { another_input,
|cx| { for n in 0..3 { ship(cx, n).await?; } Ok(1) }
=> { for n in 0..3 { ship(cx, n + 1).await?; } Ok(1) }, @"H202 changed input at 2: activity ship / activity ship" }

change! { another_input_of_one_in_a_row,
|cx| { let all = join_all((0..4).map(|n| ship(cx, n))).await; Ok(all.len() as u64) }
=> { let all = join_all([0, 9, 2, 3].map(|n| ship(cx, n))).await; Ok(all.len() as u64) }, @"H202 changed input at 3: activity ship / activity ship" }

change! { one_less_in_a_row,
|cx| { let all = join_all((0..4).map(|n| ship(cx, n))).await; Ok(all.len() as u64) }
=> { let all = join_all((1..4).map(|n| ship(cx, n))).await; Ok(all.len() as u64) }, @"H204 removed at 2: activity ship / activity ship" }

change! { another_bound,
|cx| { for n in 0..3 { ship(cx, n).await?; } Ok(notify(cx, 1).await?) }
=> { for n in 0..4 { ship(cx, n).await?; } Ok(notify(cx, 1).await?) }, @"H203 inserted at 8: activity notify / activity ship" }

change! { a_lower_bound,
|cx| { for n in 0..3 { ship(cx, n).await?; } Ok(notify(cx, 1).await?) }
=> { for n in 0..2 { ship(cx, n).await?; } Ok(notify(cx, 1).await?) }, @"
H204 removed at 6: activity ship / activity notify
H201 changed at 6: activity ship / activity notify
" }

change! { an_early_return,
|cx| { let n = charge(cx, 1).await?; ship(cx, 2).await?; Ok(n) }
=> { let n = charge(cx, 1).await?; if n > 5 { return Ok(n); } ship(cx, 2).await?; Ok(n) }, @"H206 left over at 4: activity ship / return of a result" }

change! { another_result,
|cx| { Ok(charge(cx, 1).await?) }
=> { Ok(charge(cx, 1).await? + 1) }, @"H202 changed input at 4: return of a result / return of a result" }

change! { an_error_for_a_result,
|cx| { Ok(charge(cx, 1).await?) }
=> { charge(cx, 1).await?; Err(Error::new("no")) }, @"H201 changed at 4: return of a result / return of an error" }

change! { the_first_of_two_notices_is_gone,
|cx| { notify(cx, 1).await?; let n = ship(cx, 2).await?; if n > 9 { notify(cx, n).await?; } Ok(n) }
=> { let n = ship(cx, 2).await?; if n > 9 { notify(cx, n).await?; } Ok(n) }, @"H201 changed at 2: activity notify / activity ship" }

change! { a_spawned_task_is_gone,
|cx| { let task = cx.spawn(notify(cx, 1)); let n = ship(cx, 2).await?; task.await?; Ok(n) }
=> { let n = ship(cx, 2).await?; Ok(n) }, @"H204 removed at 2: activity notify / activity ship" }

/// What a helper asks for is not known here, and is not left out as if it were not there.
#[test]
fn what_cannot_be_told_from_the_source_has_a_row_of_its_own() {
    mod old {
        use super::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
            charge(cx, 1).await?;
            delivered(cx, 2).await?;
            Ok(loyalty_points(cx, 3).await?)
        }
    }
    mod new {
        use super::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
            pick(cx, 0).await?;
            charge(cx, 1).await?;
            delivered(cx, 2).await?;
            Ok(loyalty_points(cx, 3).await?)
        }
    }
    let errors = differences::<old::flow, new::flow>();
    let asked = errors[0].asked_next.iter().map(|side| &*side.what);
    assert_eq!(
        asked.collect::<Vec<_>>(),
        [
            "activity pick",
            "activity charge",
            "…",
            "activity loyalty_points"
        ]
    );
}

mod fulfils;
mod sends;
mod waits;
