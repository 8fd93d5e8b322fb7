//! Waits for messages and signals (S25, acceptance/messages.md): what the machine makes of what it is told. Each
//! story is told to a cold machine too, unit by unit.

use perennial::history::{Channel, Decision};
use perennial::prelude::*;

use crate::story::Story;

const A: Message<u64> = Message::new("a");
const B: Message<String> = Message::new("b");
const NOTHING: Message<()> = Message::new("nothing");
const BELL: Signal<u64> = Signal::new("bell");

#[activity(idempotent)]
async fn step(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[workflow]
async fn one(cx: &Cx) -> Result<u64, ReceiveError> {
    cx.receive(A).await
}

#[test]
fn m02_a_message_that_came_before_the_wait_is_taken_without_parking() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        step(cx).await?;
        Ok(cx.receive(A).await?)
    }
    let mut story = Story::of::<flow>(());
    assert_eq!(story.message(7, "a", 5).unit.decisions, []);
    story.complete(1, ());
    assert_eq!(story.result::<u64, Error>(), Ok(5));
    insta::assert_snapshot!(story.text(), @"
    1 started      flow null
    2   activity   ~1 step null                                     receive.rs flow
    3 message      #7 a 5
    4 completed    ~1 step null
    5   receive    ~2 a                                             receive.rs flow
    6   took       ~2 a #7
    7 completed    5
    ");
}

#[test]
fn m04_a_message_ends_the_wait_that_is_parked_for_it() {
    let mut story = Story::of::<one>(());
    assert_eq!(story.machine().awaited(), [(Channel::Message, "a")]);
    story.message(1, "a", 5);
    assert_eq!(story.result::<u64, ReceiveError>(), Ok(5));
    assert_eq!(story.machine().awaited(), []);
}

#[test]
fn m10_nothing_as_a_payload_is_a_message() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Option<()>, ReceiveError> {
        cx.receive(NOTHING).timeout(seconds(1)).await
    }
    let mut story = Story::of::<flow>(());
    story.message(1, "nothing", ());
    assert!(story.is_finished());
    insta::assert_snapshot!(story.text(), @"
    1 started      flow null
    2   receive    ~1 nothing                                       receive.rs flow
    3   sleep      ~2                                               receive.rs flow
    4 message      #1 nothing null
    5   took       ~1 nothing #1
    6   dropped    ~2 sleep
    7 completed    null
    ");
}

#[test]
fn m20_messages_of_a_name_are_taken_by_their_numbers_and_m26_each_turn_of_a_loop_takes_the_next() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<u64>, Error> {
        let mut all = Vec::new();
        step(cx).await?;
        for _ in 0..3 {
            all.push(cx.receive(A).await?);
        }
        Ok(all)
    }
    let mut story = Story::of::<flow>(());
    story.message(3, "a", 30);
    story.message(4, "a", 40);
    story.complete(1, ());
    story.message(9, "a", 90);
    assert_eq!(story.result::<Vec<u64>, Error>(), Ok(vec![30, 40, 90]));
}

#[test]
fn m21_m24_two_names_are_two_queues() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u64, String), ReceiveError> {
        let (a, b) = join!(cx.receive(A), cx.receive(B));
        Ok((a?, b?))
    }
    let mut story = Story::of::<flow>(());
    story.message(1, "b", "first");
    story.message(2, "b", "second");
    story.message(3, "a", 5);
    assert_eq!(
        story.result::<(u64, String), ReceiveError>(),
        Ok((5, "first".into()))
    );
}

#[test]
fn m23_a_timer_beside_a_wait_stays_pending() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let (a, slept) = join!(cx.receive(A), cx.sleep(days(1)));
        slept?;
        Ok(a?)
    }
    let mut story = Story::of::<flow>(());
    story.message(1, "a", 5);
    assert_eq!(story.machine().timers().len(), 1);
    story.fire(2);
    assert_eq!(story.result::<u64, Error>(), Ok(5));
}

#[test]
fn m25_waits_for_one_name_are_served_in_the_order_in_which_they_began() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u64, u64, u64), ReceiveError> {
        let (a, b, c) = join!(cx.receive(A), cx.receive(A), cx.receive(A));
        Ok((a?, b?, c?))
    }
    let mut story = Story::of::<flow>(());
    for (number, payload) in [(1, 10), (2, 20), (3, 30)] {
        story.message(number, "a", payload);
    }
    assert_eq!(
        story.result::<(u64, u64, u64), ReceiveError>(),
        Ok((10, 20, 30))
    );
}

#[test]
fn m28_a_wait_that_is_dropped_before_it_returned_its_message_leaves_it_to_the_next() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<u64>, Error> {
        let mut early = Box::pin(cx.receive(A));
        select! {
            a = &mut early => return Ok(vec![a?]),
            done = step(cx) => done?,
        }
        // What comes meanwhile is for the early wait, and nobody looks.
        step(cx).await?;
        drop(early);
        Ok(vec![cx.receive(A).await?, cx.receive(A).await?])
    }
    let mut story = Story::of::<flow>(());
    story.complete(2, ());
    story.message(1, "a", 10);
    story.message(2, "a", 20);
    assert_eq!(story.machine().awaited(), []);
    story.complete(3, ());
    assert_eq!(story.result::<Vec<u64>, Error>(), Ok(vec![10, 20]));
    insta::assert_snapshot!(story.text(), @"
     1 started      flow null
     2   receive    ~1 a                                             receive.rs flow
     3   activity   ~2 step null                                     receive.rs flow
     4 completed    ~2 step null
     5   activity   ~3 step null                                     receive.rs flow
     6 message      #1 a 10
     7 message      #2 a 20
     8 completed    ~3 step null
     9   dropped    ~1 a
    10   receive    ~4 a                                             receive.rs flow
    11   took       ~4 a #1
    12   receive    ~5 a                                             receive.rs flow
    13   took       ~5 a #2
    14 completed    [10,20]
    ");
}

#[test]
fn m28_of_two_waits_the_later_gets_what_the_dropped_one_had_got() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let mut early = Box::pin(cx.receive(A));
        select! {
            a = &mut early => return Ok(a?),
            done = step(cx) => done?,
        }
        let later = cx.spawn(async move { cx.receive(A).await });
        step(cx).await?;
        drop(early);
        Ok(later.await?)
    }
    let mut story = Story::of::<flow>(());
    story.complete(2, ());
    story.message(1, "a", 10);
    assert_eq!(story.machine().awaited(), [(Channel::Message, "a")]);
    story.complete(4, ());
    assert_eq!(story.result::<u64, Error>(), Ok(10));
}

#[test]
fn m32_a_time_limit_that_is_over_gives_nothing_and_m35_the_message_stays_for_the_next_wait() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(Option<u64>, u64), ReceiveError> {
        let first = cx.receive(A).timeout(seconds(1)).await?;
        cx.sleep(seconds(1)).await?;
        Ok((first, cx.receive(A).await?))
    }
    let mut story = Story::of::<flow>(());
    story.fire(2);
    assert_eq!(story.message(1, "a", 5).unit.decisions, []);
    story.fire(3);
    assert_eq!(
        story.result::<(Option<u64>, u64), ReceiveError>(),
        Ok((None, 5))
    );
    insta::assert_snapshot!(story.text(), @"
     1 started      flow null
     2   receive    ~1 a                                             receive.rs flow
     3   sleep      ~2                                               receive.rs flow
     4 fired        ~2 sleep
     5   dropped    ~1 a
     6   sleep      ~3                                               receive.rs flow
     7 message      #1 a 5
     8 fired        ~3 sleep
     9   receive    ~4 a                                             receive.rs flow
    10   took       ~4 a #1
    11 completed    [null,5]
    ");
}

#[test]
fn m33_a_message_before_the_time_limit_stops_its_timer() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Option<u64>, ReceiveError> {
        cx.receive(A).timeout(seconds(1)).await
    }
    let mut story = Story::of::<flow>(());
    let step = story.message(1, "a", 5);
    assert_eq!(step.stopped_timers.len(), 1);
    assert_eq!(story.result::<Option<u64>, ReceiveError>(), Ok(Some(5)));
}

#[test]
fn a_message_that_is_there_needs_no_timer() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Option<u64>, Error> {
        step(cx).await?;
        Ok(cx.receive(A).timeout(seconds(1)).await?)
    }
    let mut story = Story::of::<flow>(());
    story.message(1, "a", 5);
    let step = story.complete(1, ());
    let timers = |decision: &&Decision| matches!(decision, Decision::TimerStarted { .. });
    assert_eq!(step.unit.decisions.iter().filter(timers).count(), 0);
}

#[test]
fn m37_a_message_that_is_not_of_the_type_is_taken_and_replay_follows_the_record() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(String, u64), Error> {
        let first = match cx.receive(A).await {
            Ok(number) => number.to_string(),
            Err(error) => error.to_string(),
        };
        Ok((first, cx.receive(A).await?))
    }
    let mut story = Story::of::<flow>(());
    story.message(4, "a", "five");
    story.message(5, "a", 5);
    let (text, next) = story.result::<(String, u64), Error>().unwrap();
    assert_eq!(next, 5);
    insta::assert_snapshot!(text, @r#"number 4 of what the run was sent, "a", is not of the type that it waits for: the value does not decode as `u64`: invalid type: string "five", expected u64"#);
    insta::assert_snapshot!(story.text(), @r#"
    1 started      flow null
    2   receive    ~1 a                                             receive.rs flow
    3 message      #4 a "five"
    4   took       ~1 a #4   invalid: the value does not decode as `u64`: invalid type: string \"five\", expected u64
    5   receive    ~2 a                                             receive.rs flow
    6 message      #5 a 5
    7   took       ~2 a #5
    8 completed
             [
               "number 4 of what the run was sent, \"a\", is not of the type that it waits for: "
               "the value does not decode as `u64`: invalid type: string \"five\", expected u64",
               5
             ]
    "#);

    /// The same with a type that could read it.
    mod wider {
        use super::*;
        const A: Message<serde_json::Value> = Message::new("a");
        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<(String, u64), Error> {
            let first = match cx.receive(A).await {
                Ok(any) => any.to_string(),
                Err(error) => error.to_string(),
            };
            let next = cx.receive(A).await?;
            Ok((first, serde_json::from_value(next)?))
        }
    }
    story.replay_on::<wider::flow>().unwrap();
}

#[test]
fn h210_a_message_that_the_history_has_as_valid_must_still_decode() {
    mod other {
        use super::*;
        const A: Message<String> = Message::new("a");
        #[workflow]
        pub(super) async fn one(cx: &Cx) -> Result<u64, ReceiveError> {
            let text = cx.receive(A).await?;
            Ok(text.len() as u64)
        }
    }
    let mut story = Story::of::<one>(());
    story.message(1, "a", 5);
    insta::assert_snapshot!(story.blocked_on::<other::one>(), @r#"
    run order-42 (one) is blocked: its history does not fit this program [H210 does not decode]

      event 3
          begun by artifact first, this is artifact this
          number 1 of what it was sent, "a": the value does not decode as `alloc::string::String`: invalid type: integer `5`, expected a string

    Nothing was changed. The run goes on after any of these:
      · let the type read what was stored: `#[serde(default)]` for a new field, `#[serde(alias = "..")]` for an old name
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn m54_a_signal_reaches_all_who_wait_and_nobody_who_comes_later() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u64, u64, Option<u64>), Error> {
        let (a, b) = join!(cx.wait_for(BELL), cx.wait_for(BELL));
        let later = cx.wait_for(BELL).timeout(seconds(1)).await?;
        Ok((a?, b?, later))
    }
    let mut story = Story::of::<flow>(());
    assert_eq!(story.machine().awaited(), [(Channel::Signal, "bell")]);
    story.signal(1, "bell", 5);
    story.fire(4);
    assert_eq!(
        story.result::<(u64, u64, Option<u64>), Error>(),
        Ok((5, 5, None))
    );
    insta::assert_snapshot!(story.text(), @"
     1 started      flow null
     2   wait for   ~1 bell                                          receive.rs flow
     3   wait for   ~2 bell                                          receive.rs flow
     4 signal       #1 bell 5
     5   took       ~1 bell #1
     6   took       ~2 bell #1
     7   wait for   ~3 bell                                          receive.rs flow
     8   sleep      ~4                                               receive.rs flow
     9 fired        ~4 sleep
    10   dropped    ~3 bell
    11 completed    [5,5,null]
    ");
}

#[test]
fn a_message_and_a_signal_of_one_name_are_two_things() {
    const BELL_MESSAGE: Message<u64> = Message::new("bell");
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u64, u64), ReceiveError> {
        let (a, b) = join!(cx.receive(BELL_MESSAGE), cx.wait_for(BELL));
        Ok((a?, b?))
    }
    let mut story = Story::of::<flow>(());
    story.signal(1, "bell", 1);
    story.message(2, "bell", 2);
    assert_eq!(story.result::<(u64, u64), ReceiveError>(), Ok((2, 1)));
}

#[test]
fn another_name_is_refused_where_the_wait_is() {
    mod other {
        use super::*;
        #[workflow]
        pub(super) async fn one(cx: &Cx) -> Result<u64, ReceiveError> {
            Ok(cx.receive(B).await?.len() as u64)
        }
    }
    let story = Story::of::<one>(());
    let blocked = story.blocked_on::<other::one>();
    assert_eq!(blocked.code(), "H201");
    insta::assert_snapshot!(blocked, @r#"
    run order-42 (one) is blocked: its history does not fit this program [H201 changed]

      event 2, operation ~1
          recorded    receive "a" ~1  sdk/tests/machine/receive.rs:21:19   begun by artifact first
          this code   receive "b" ~1  sdk/tests/machine/receive.rs:388:30  artifact this

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("change-b") { .. } else { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn a_wait_that_was_inserted_is_told_as_that() {
    mod other {
        use super::*;
        #[workflow]
        pub(super) async fn one(cx: &Cx) -> Result<u64, ReceiveError> {
            let _ = cx.receive(B).await?;
            cx.receive(A).await
        }
    }
    let mut story = Story::of::<one>(());
    story.message(1, "a", 5);
    let blocked = story.blocked_on::<other::one>();
    assert_eq!(blocked.code(), "H203", "{blocked}");
}
