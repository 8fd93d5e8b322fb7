//! The same of waits for messages and signals (S25).

use super::*;

const APPROVAL: Message<u64> = Message::new("approval");
const APPROVED: Message<u64> = Message::new("approved");
const NOTE: Message<u64> = Message::new("note");
const BELL: Signal<u64> = Signal::new("bell");

change! { inserted_a_wait,
|cx| { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.receive(APPROVAL).await?; Ok(ship(cx, 2).await?) }, @r#"H203 inserted at 4: activity ship / receive "approval""# }

change! { inserted_a_wait_before_another,
|cx| { charge(cx, 1).await?; let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }
=> { charge(cx, 1).await?; cx.receive(NOTE).await?; let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }, @r#"H203 inserted at 4: receive "approval" / receive "note""# }

change! { inserted_something_before_a_wait,
|cx| { let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }
=> { pick(cx, 1).await?; let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }, @r#"H203 inserted at 2: receive "approval" / activity pick"# }

change! { inserted_something_after_a_wait,
|cx| { let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }
=> { let n = cx.receive(APPROVAL).await?; pick(cx, 1).await?; Ok(ship(cx, n).await?) }, @"H203 inserted at 5: activity ship / activity pick" }

change! { inserted_a_wait_of_the_same_name,
|cx| { let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }
=> { cx.receive(APPROVAL).await?; let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }, @r#"H203 inserted at 5: activity ship / receive "approval""# }

change! { removed_a_wait,
|cx| { charge(cx, 1).await?; cx.receive(APPROVAL).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }, @r#"
H204 removed at 4: receive "approval" / activity ship
H201 changed at 4: receive "approval" / activity ship
"# }

change! { removed_a_wait_before_another,
|cx| { cx.receive(NOTE).await?; let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }
=> { let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }, @r#"
H204 removed at 2: receive "note" / receive "approval"
H201 changed at 2: receive "note" / receive "approval"
"# }

change! { removed_what_was_before_a_wait,
|cx| { charge(cx, 1).await?; let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }
=> { let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }, @r#"
H204 removed at 2: activity charge / receive "approval"
H201 changed at 2: activity charge / receive "approval"
"# }

change! { another_name_of_a_message,
|cx| { charge(cx, 1).await?; let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }
=> { charge(cx, 1).await?; let n = cx.receive(APPROVED).await?; Ok(ship(cx, n).await?) }, @r#"H201 changed at 4: receive "approval" / receive "approved""# }

change! { a_signal_for_a_message,
|cx| { charge(cx, 1).await?; let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }
=> { charge(cx, 1).await?; let n = cx.wait_for(BELL).await?; Ok(ship(cx, n).await?) }, @r#"H201 changed at 4: receive "approval" / wait for "bell""# }

change! { an_activity_for_a_message,
|cx| { charge(cx, 1).await?; let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }
=> { charge(cx, 1).await?; let n = pick(cx, 7).await?; Ok(ship(cx, n).await?) }, @r#"H201 changed at 4: receive "approval" / activity pick"# }

change! { swapped_two_waits,
|cx| { let n = cx.receive(APPROVAL).await?; Ok(n + cx.receive(NOTE).await?) }
=> { let n = cx.receive(NOTE).await?; Ok(n + cx.receive(APPROVAL).await?) }, @r#"
H201 changed at 2: receive "approval" / receive "note"
H203 inserted at 2: receive "approval" / receive "note"
"# }

change! { swapped_two_waits_beside_each_other,
|cx| { let (a, b) = join!(cx.receive(APPROVAL), cx.receive(NOTE)); Ok(a? + b?) }
=> { let (b, a) = join!(cx.receive(NOTE), cx.receive(APPROVAL)); Ok(a? + b?) }, @r#"H205 reordered at 2: receive "approval" / receive "note""# }

change! { swapped_a_wait_and_an_activity,
|cx| { let n = cx.receive(APPROVAL).await?; Ok(ship(cx, 1).await? + n) }
=> { let n = ship(cx, 1).await?; Ok(cx.receive(APPROVAL).await? + n) }, @r#"
H205 reordered at 2: receive "approval" / activity ship
H203 inserted at 2: receive "approval" / activity ship
"# }

change! { a_wait_beside_what_it_came_after,
|cx| { let n = charge(cx, 1).await?; Ok(n + cx.receive(APPROVAL).await?) }
=> { let (n, m) = join!(charge(cx, 1), cx.receive(APPROVAL)); Ok(n? + m?) }, @r#"
H205 reordered at 3: nothing / receive "approval"
  the history has it at event 4, after something that this code does not wait for here
H203 inserted at 3: nothing / receive "approval"
"# }

change! { a_time_limit_more,
|cx| { let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }
=> { let n = cx.receive(APPROVAL).timeout(days(7)).await?.unwrap_or(0); Ok(ship(cx, n).await?) }, @"H203 inserted at 3: nothing / sleep" }

change! { a_time_limit_less,
|cx| { let n = cx.receive(APPROVAL).timeout(days(7)).await?.unwrap_or(0); Ok(ship(cx, n).await?) }
=> { let n = cx.receive(APPROVAL).await?; Ok(ship(cx, n).await?) }, @"H204 removed at 3: sleep / nothing" }

change! { another_time_limit_is_no_difference,
|cx| { let n = cx.receive(APPROVAL).timeout(days(7)).await?.unwrap_or(0); Ok(ship(cx, n).await?) }
=> { let n = cx.receive(APPROVAL).timeout(days(1)).await?.unwrap_or(0); Ok(ship(cx, n).await?) }, @"" }

change! { a_wait_less_in_a_loop,
|cx| { for _ in 0..3 { cx.receive(NOTE).await?; } Ok(notify(cx, 1).await?) }
=> { for _ in 0..2 { cx.receive(NOTE).await?; } Ok(notify(cx, 1).await?) }, @r#"
H204 removed at 8: receive "note" / activity notify
H201 changed at 8: receive "note" / activity notify
"# }

change! { a_wait_more_in_a_loop,
|cx| { for _ in 0..3 { cx.receive(NOTE).await?; } Ok(notify(cx, 1).await?) }
=> { for _ in 0..4 { cx.receive(NOTE).await?; } Ok(notify(cx, 1).await?) }, @r#"H203 inserted at 11: activity notify / receive "note""# }

change! { inserted_in_a_loop_of_waits,
|cx| { for _ in 0..3 { let n = cx.receive(NOTE).await?; ship(cx, n).await?; } Ok(1) }
=> { for _ in 0..3 { let n = cx.receive(NOTE).await?; pick(cx, n).await?; ship(cx, n).await?; } Ok(1) }, @"H203 inserted at 5: activity ship / activity pick" }

change! { removed_an_arm_that_waits_from_a_select,
|cx| { Ok(select! { n = cx.receive(APPROVAL) => n?, n = cx.wait_for(BELL) => n?, _ = cx.sleep(hours(1)) => 0 }) }
=> { Ok(select! { n = cx.receive(APPROVAL) => n?, _ = cx.sleep(hours(1)) => 0 }) }, @r#"H204 removed at 3: wait for "bell" / sleep"# }

change! { another_branch_with_a_wait,
|cx| { let n = charge(cx, 1).await?; if n > 5 { cx.receive(APPROVAL).await?; } else { notify(cx, n).await?; } Ok(pick(cx, 2).await?) }
=> { let n = charge(cx, 1).await?; if n > 9 { cx.receive(APPROVAL).await?; } else { notify(cx, n).await?; } Ok(pick(cx, 2).await?) }, @r#"
H201 changed at 4: receive "approval" / activity notify
  `receive "approval"` stands in another branch, at sdk/tests/machine/differences/waits.rs this code takes one that the history did not take
"# }

const OUTPUT: Stream<u64> = Stream::new("output");
const NOTES: Stream<u64> = Stream::new("notes");

change! { inserted_an_item,
|cx| { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.emit(OUTPUT, 1); Ok(ship(cx, 2).await?) }, @r#"H203 inserted at 4: activity ship / emit "output""# }

change! { inserted_an_item_before_another,
|cx| { charge(cx, 1).await?; cx.emit(OUTPUT, 1); Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.emit(NOTES, 2); cx.emit(OUTPUT, 1); Ok(ship(cx, 2).await?) }, @r#"H203 inserted at 4: emit "output" / emit "notes""# }

change! { removed_an_item,
|cx| { charge(cx, 1).await?; cx.emit(OUTPUT, 1); Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; Ok(ship(cx, 2).await?) }, @r#"H204 removed at 4: emit "output" / activity ship"# }

change! { another_item,
|cx| { charge(cx, 1).await?; cx.emit(OUTPUT, 1); Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.emit(OUTPUT, 3); Ok(ship(cx, 2).await?) }, @r#"H202 changed input at 4: emit "output" / emit "output""# }

change! { an_item_of_another_stream,
|cx| { charge(cx, 1).await?; cx.emit(OUTPUT, 1); Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.emit(NOTES, 1); Ok(ship(cx, 2).await?) }, @r#"H201 changed at 4: emit "output" / emit "notes""# }

change! { an_item_after_what_was_before_it,
|cx| { cx.emit(OUTPUT, 1); charge(cx, 1).await?; Ok(ship(cx, 2).await?) }
=> { charge(cx, 1).await?; cx.emit(OUTPUT, 1); Ok(ship(cx, 2).await?) }, @r#"H204 removed at 2: emit "output" / activity charge"# }
