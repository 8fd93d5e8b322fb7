//! How runs end (S11, S12).

use perennial::history::{Decision, Observation, Unit};
use perennial::prelude::*;

use crate::story::{Story, completed, replay, started};

#[activity(idempotent)]
async fn part(_acx: &ActivityCx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

#[workflow]
async fn flow(cx: &Cx, limit: u64) -> Result<u64, Error> {
    let first = part(cx, 1).await?;
    if first > limit {
        return Err(Error::new("too much"));
    }
    cx.sleep(seconds(1)).await?;
    Ok(first)
}

fn told() -> Story {
    let mut story = Story::of::<flow>(10);
    story.complete(1, 5);
    story.fire(2);
    story
}

#[test]
fn s11_a_result_completes_the_run_and_an_error_fails_it() {
    assert_eq!(told().result::<u64, Error>(), Ok(5));
    let mut story = Story::of::<flow>(10);
    story.complete(1, 50);
    assert_eq!(story.result::<u64, Error>(), Err(Error::new("too much")));
    assert!(story.is_finished() && story.last().finished);
}

#[test]
fn s11_nothing_follows_an_end() {
    let mut story = told();
    let blocked = story.blocked(completed(1, 5));
    assert_eq!(blocked.code(), "H206");
    insta::assert_snapshot!(blocked, @"
    run order-42 (flow) is blocked: its history does not fit this program [H206 left over]

      event 7
          begun by artifact first, this is artifact this
          the run had ended with the event before

    Nothing was changed. The run goes on after any of these:
      · start artifact first again
      · move it to a new run by a `#[migration]`
    ");
}

#[test]
fn s11_history_that_is_unread_when_the_code_ends_is_left_over() {
    mod shorter {
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx, limit: u64) -> Result<u64, Error> {
            let first = super::part(cx, 1).await?;
            Ok(first.min(limit))
        }
    }
    let blocked = told().blocked_on::<shorter::flow>();
    assert_eq!(blocked.code(), "H206");
    insta::assert_snapshot!(blocked, @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H206 left over]

      event 4, operation ~2
          recorded    sleep ~2            sdk/tests/machine/ends.rs:19:26  begun by artifact first
          this code   return of a result                                   artifact this

      recorded next                    this code asks for
          4 sleep                   ≠  return of a result   ← left over
          6 return of a result

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("end-before-sleep") { return .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);

    // In a unit of its own.
    let units = told().units;
    let shortened = [
        units[0].clone(),
        Unit {
            decisions: vec![Decision::Completed {
                value: perennial::value::Value::encode(&5).unwrap(),
                open: vec![],
            }],
            ..units[1].clone()
        },
        units[2].clone(),
    ];
    let blocked = replay::<shorter::flow>(&shortened).unwrap_err();
    assert_eq!(blocked.code(), "H206");
}

#[test]
fn s11_decisions_after_an_end_in_one_unit_are_left_over() {
    let mut units = told().units;
    units[2].decisions.push(Decision::Dropped { operation: 2 });
    let blocked = replay::<flow>(&units).unwrap_err();
    assert_eq!(blocked.code(), "H206");
    insta::assert_snapshot!(blocked, @"
    run order-42 (flow) is blocked: its history does not fit this program [H206 left over]

      event 7, operation ~2
          recorded    drop ~2                  begun by artifact first
          this code   nothing, it has ended    artifact this

    Nothing was changed. The run goes on after any of these:
      · put back drop
      · start artifact first again
      · move it to a new run by a `#[migration]`
    ");
}

#[test]
fn s11_the_result_is_compared() {
    mod doubled {
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx, _limit: u64) -> Result<u64, Error> {
            let first = super::part(cx, 1).await?;
            cx.sleep(seconds(1)).await?;
            Ok(first * 2)
        }
    }
    mod failed {
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx, _limit: u64) -> Result<u64, Error> {
            super::part(cx, 1).await?;
            cx.sleep(seconds(1)).await?;
            Err(Error::new("no more"))
        }
    }
    mod longer {
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx, limit: u64) -> Result<u64, Error> {
            super::part(cx, 1).await?;
            cx.sleep(seconds(1)).await?;
            Ok(super::part(cx, limit).await?)
        }
    }
    let blocked = told().blocked_on::<doubled::flow>();
    assert_eq!(blocked.code(), "H202");
    insta::assert_snapshot!(blocked, @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H202 changed input]

      event 6
          recorded    return of a result    begun by artifact first
          this code   return of a result    artifact this
          differs     the value: 5 became 10

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("change-result") { .. } else { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
    let blocked = told().blocked_on::<failed::flow>();
    assert_eq!(blocked.code(), "H201");
    insta::assert_snapshot!(blocked, @"
    run order-42 (flow) is blocked: its history does not fit this program [H201 changed]

      event 6
          recorded    return of a result    begun by artifact first
          this code   return of an error    artifact this

    Nothing was changed. The run goes on after any of these:
      · put back return of a result
      · start artifact first again
      · move it to a new run by a `#[migration]`
    ");
    let blocked = told().blocked_on::<longer::flow>();
    assert_eq!(blocked.code(), "H203");
    insta::assert_snapshot!(blocked, @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H203 inserted]

      event 6
          recorded    return of a result                                    begun by artifact first
          this code   activity part ~3    sdk/tests/machine/ends.rs:149:39  artifact this

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("add-part") { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn a_return_that_the_history_does_not_have_is_inserted() {
    mod early {
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<(), Error> {
            drop(cx.spawn(cx.sleep(seconds(1))));
            Ok(())
        }
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.spawn(cx.sleep(seconds(1))).await?;
        Ok(())
    }
    let blocked = Story::of::<flow>(()).blocked_on::<early::flow>();
    // Dropping what it spawned is the first thing that the history does not have.
    assert_eq!(blocked.code(), "H203");
    insta::assert_snapshot!(blocked, @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H203 inserted]

      event 3, operation ~1
          recorded    nothing more    begun by artifact first
          this code   drop ~1         artifact this

      recorded next                    this code asks for
                                       drop                 ← inserted
                                       return of a result

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if cx.patched("add-drop") { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn s12_activities_left_behind_are_listed_with_the_end_and_timers_are_stopped() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        select! {
            _ = part(cx, 1) => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        cx.spawn(cx.sleep(days(1)));
        cx.spawn(part(cx, 2));
        Err(Error::new("enough"))
    }
    let mut story = Story::of::<flow>(());
    let step = story.fire(2);
    assert_eq!(step.stopped_timers.len(), 1);
    let Some(Decision::Failed { open, .. }) = step.unit.decisions.last() else {
        panic!("{step:?}")
    };
    let open: Vec<_> = open.iter().map(|left| left.operation).collect();
    assert_eq!(open, [1, 4]);
    assert_eq!(story.machine().open_activities(), [1, 4]);
    insta::assert_snapshot!(story.text(), @r#"
     1 started      flow null
     2   activity   ~1 part 1                                        ends.rs flow
     3   sleep      ~2                                               ends.rs flow
     4 fired        ~2 sleep
     5   dropped    ~1 part
     6   sleep      ~3                                               ends.rs flow
     7   activity   ~4 part 2                                        ends.rs flow
     8   dropped    ~3 sleep
     9   dropped    ~4 part
    10 failed       {"message":"enough"}   left open: ~1 part, ~4 part
    "#);
}

#[test]
fn s12_an_activity_that_was_dropped_and_has_its_result_is_not_left_behind() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        select! {
            _ = part(cx, 1) => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        cx.sleep(seconds(1)).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    story.fire(2);
    story.complete(1, 1);
    story.fire(3);
    let open = |decision: &Decision| matches!(decision, Decision::Completed { open, .. } if open.is_empty());
    assert!(story.decisions().iter().all(open));
}

#[test]
fn s10_a_result_that_cannot_be_stored_blocks_the_run_and_does_not_fail_it() {
    #[workflow]
    async fn flow(_cx: &Cx) -> Result<f64, Error> {
        Ok(f64::NAN)
    }
    let blocked = Story::untold::<flow>().blocked(started::<flow>(()));
    insta::assert_snapshot!(blocked, @"
    run order-42 (flow) is blocked: event 2 cannot be written [W104]

      what the workflow returned: the number is not finite (NaN or infinite), so it cannot be stored

      help: store an `Option`, or a text

    Nothing was changed. The run is tried again when a program is started that gives another value.
    ");
}

#[test]
fn a_finished_run_says_so_to_whatever_comes() {
    let story = told();
    let mut machine = story.into_machine();
    for observation in [Observation::TimerFired { operation: 2 }, started::<flow>(1)] {
        assert!(machine.is_finished());
        let at = crate::story::BEGIN;
        assert_eq!(
            machine.observe(observation, at, at).unwrap_err().code(),
            "H206"
        );
    }
}
