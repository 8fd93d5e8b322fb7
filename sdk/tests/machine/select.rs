//! `select!` (S8, S12).

use perennial::history::Decision;
use perennial::prelude::*;

use crate::story::Story;

#[activity(pure)]
async fn ask(_acx: &ActivityCx, whom: String) -> Result<String, Failure> {
    Ok(whom)
}

#[workflow]
async fn ask_with_limit(cx: &Cx) -> Result<String, Error> {
    let reply = select! {
        reply = ask(cx, "bank".to_owned()) => Some(reply?),
        _ = cx.sleep(hours(1)) => None,
    };
    cx.sleep(seconds(1)).await?;
    Ok(reply.unwrap_or("nobody".to_owned()))
}

#[test]
fn the_first_that_is_ready_wins_and_a_timer_that_loses_is_stopped() {
    let mut story = Story::of::<ask_with_limit>(());
    let step = story.complete(1, "yes");
    assert_eq!(step.stopped_timers.len(), 1);
    assert_eq!(step.stopped_timers[0].0, 2);
    story.fire(3);
    assert_eq!(story.result::<String, Error>(), Ok("yes".into()));
    insta::assert_snapshot!(story.text(), @r#"
    1 started      ask_with_limit null
    2   activity   ~1 ask "bank"                                    select.rs ask_with_limit
    3   sleep      ~2                                               select.rs ask_with_limit
    4 completed    ~1 ask "yes"
    5   dropped    ~2 sleep
    6   sleep      ~3                                               select.rs ask_with_limit
    7 fired        ~3 sleep
    8 completed    "yes"
    "#);
}

#[test]
fn an_activity_that_loses_goes_on_and_its_late_result_is_taken_without_effect() {
    let mut story = Story::of::<ask_with_limit>(());
    story.fire(2);
    assert_eq!(story.machine().open_activities(), [1]);
    assert!(story.complete(1, "late").unit.decisions.is_empty());
    assert!(story.machine().open_activities().is_empty());
    story.fire(3);
    assert_eq!(story.result::<String, Error>(), Ok("nobody".into()));
    insta::assert_snapshot!(story.text(), @r#"
    1 started      ask_with_limit null
    2   activity   ~1 ask "bank"                                    select.rs ask_with_limit
    3   sleep      ~2                                               select.rs ask_with_limit
    4 fired        ~2 sleep
    5   dropped    ~1 ask
    6   sleep      ~3                                               select.rs ask_with_limit
    7 completed    ~1 ask "late"
    8 fired        ~3 sleep
    9 completed    "nobody"
    "#);
}

#[test]
fn s8_of_two_arms_ready_with_one_event_the_one_that_stands_first_is_taken() {
    #[workflow]
    async fn flow(cx: &Cx, swap: bool) -> Result<String, Error> {
        let task = cx.spawn(ask(cx, "a".to_owned()));
        let second = cx.sleep(seconds(1));
        let other = cx.spawn(async move { second.await.is_ok() });
        cx.sleep(days(1)).await?;
        // Both have been ready for long.
        Ok(if swap {
            select! {
                _ = other => "timer".to_owned(),
                reply = task => reply?,
            }
        } else {
            select! {
                reply = task => reply?,
                _ = other => "timer".to_owned(),
            }
        })
    }
    for (swap, expected) in [(false, "A"), (true, "timer")] {
        let mut story = Story::of::<flow>(swap);
        story.fire(2);
        story.complete(1, "A");
        story.fire(3);
        assert_eq!(story.result::<String, Error>(), Ok(expected.into()));
    }
}

#[test]
fn an_arm_that_is_ready_at_once_keeps_later_arms_from_beginning() {
    #[durable]
    async fn now(text: &'static str) -> String {
        text.to_owned()
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<String, Error> {
        Ok(select! {
            text = now("at once") => text,
            reply = ask(cx, "never".to_owned()) => reply?,
        })
    }
    let story = Story::of::<flow>(());
    assert!(matches!(story.decisions(), [Decision::Completed { .. }]));
}

#[test]
fn s12_losers_are_dropped_in_source_order_before_the_code_of_the_arm_runs() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let drawn = select! {
            _ = cx.sleep(days(1)) => 0,
            _ = ask(cx, "a".to_owned()) => 0,
            _ = cx.sleep(seconds(1)) => cx.random_range(5..6),
            _ = cx.sleep(days(2)) => 0,
        };
        Ok(drawn)
    }
    let mut story = Story::of::<flow>(());
    story.fire(3);
    insta::assert_snapshot!(story.text(), @r#"
     1 started      flow null
     2   sleep      ~1                                               select.rs flow
     3   activity   ~2 ask "a"                                       select.rs flow
     4   sleep      ~3                                               select.rs flow
     5   sleep      ~4                                               select.rs flow
     6 fired        ~3 sleep
     7   dropped    ~1 sleep
     8   dropped    ~2 ask
     9   dropped    ~4 sleep
    10   random                                                      select.rs
    11 completed    5   left open: ~2 ask
    "#);
}

#[test]
fn a_future_that_is_lent_to_a_select_goes_on_in_the_next() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<String, Error> {
        let mut reply = Box::pin(ask(cx, "bank".to_owned()).into_future());
        let mut reminders = 0;
        loop {
            let reply = select! {
                reply = &mut reply => Some(reply?),
                _ = cx.sleep(hours(1)) => None,
            };
            match reply {
                Some(reply) => return Ok(format!("{reply} after {reminders}")),
                None => reminders += 1,
            }
        }
    }
    let mut story = Story::of::<flow>(());
    story.fire(2);
    story.fire(3);
    story.complete(1, "yes");
    assert_eq!(story.result::<String, Error>(), Ok("yes after 2".into()));
}

#[test]
fn a_select_of_one_and_one_in_a_loop_with_breaks() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let mut rounds = 0;
        loop {
            select! {
                woken = cx.sleep(seconds(1)) => {
                    woken?;
                    rounds += 1;
                    if rounds == 3 {
                        break Ok(rounds);
                    }
                }
            }
        }
    }
    let mut story = Story::of::<flow>(());
    for operation in 1..=3 {
        story.fire(operation);
    }
    assert_eq!(story.result::<u64, Error>(), Ok(3));
}

#[test]
fn what_is_awaited_again_after_its_end_blocks_the_run_with_the_reason() {
    use crate::story::started;

    #[durable]
    async fn ready() -> Result<u8, String> {
        Err("no".to_owned())
    }
    #[workflow]
    async fn races(_cx: &Cx) -> Result<(), Error> {
        let mut race = perennial::__private::race(ready(), ready());
        let _ = (&mut race).await;
        let _ = (&mut race).await;
        Ok(())
    }
    #[workflow]
    async fn joins(_cx: &Cx) -> Result<(), Error> {
        let mut join = perennial::__private::try_join((ready(), ready()));
        let _ = (&mut join).await;
        let _ = (&mut join).await;
        Ok(())
    }
    #[workflow]
    async fn timers(cx: &Cx) -> Result<(), Error> {
        let mut sleep = cx.sleep(seconds(1));
        (&mut sleep).await?;
        (&mut sleep).await?;
        Ok(())
    }
    let texts = [
        Story::untold::<races>().blocked(started::<races>(())),
        Story::untold::<joins>().blocked(started::<joins>(())),
        Story::of::<timers>(())
            .blocked(perennial::history::Observation::TimerFired { operation: 1 }),
    ]
    .map(|blocked| {
        let text = blocked.to_string();
        text.lines().nth(2).unwrap_or_default().trim().to_owned()
    });
    insta::assert_snapshot!(texts.join("\n"), @"
    a `select!` was awaited again after it had given its result
    a `try_join!` was awaited again after it had given its error
    operation ~1 was awaited again after it had given its result
    ");
}
