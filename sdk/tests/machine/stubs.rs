//! Stubs (acceptance/mailbox.md): what the machine makes of offers and of what they are fulfilled with. Each story is
//! told to a cold machine too, unit by unit.

use perennial::history::Decision;
use perennial::machine::Offered;
use perennial::prelude::*;
use perennial::value::Value;
use perennial::{Blocked, OperationId};

use crate::story::{Story, fulfilled};

#[activity(idempotent)]
async fn ask(_acx: &ActivityCx, reference: String) -> Result<(), Failure> {
    Err(Failure::transient(reference))
}

#[stub]
async fn review(cx: &Cx, order: String) -> u64;

#[stub(name = "second-look")]
async fn again(cx: &Cx, order: String, round: u64) -> u64;

#[stub]
async fn done(cx: &Cx);

#[workflow]
async fn one(cx: &Cx) -> Result<u64, StubError> {
    review(cx, "a lamp".to_owned()).await
}

#[test]
fn b02_who_fulfils_a_pending_offer_resumes_the_workflow_with_the_value() {
    let mut story = Story::of::<one>(());
    let opened = Offered::Opened {
        operation: 1,
        name: "review",
    };
    assert_eq!(story.last().offers, [opened]);
    assert_eq!(story.machine().open_offers(), [1]);
    story.fulfil(1, 5);
    assert_eq!(story.last().offers, []);
    assert_eq!(story.machine().open_offers(), [0; 0]);
    assert_eq!(story.result::<u64, StubError>(), Ok(5));
    insta::assert_snapshot!(story.text(), @r#"
    1 started      one null
    2   stub       ~1 review "a lamp"                               stubs.rs one
    3 fulfilled    ~1 review 5
    4 completed    5
    "#);
}

#[test]
fn a_stub_has_its_own_name_and_any_number_of_inputs() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, StubError> {
        done(cx).await?;
        again(cx, "a lamp".to_owned(), 2).await
    }
    let mut story = Story::of::<flow>(());
    story.fulfil(1, ());
    story.fulfil(2, 9);
    insta::assert_snapshot!(story.text(), @r#"
    1 started      flow null
    2   stub       ~1 done null                                     stubs.rs flow
    3 fulfilled    ~1 done null
    4   stub       ~2 second-look ["a lamp",2]                      stubs.rs flow
    5 fulfilled    ~2 second-look 9
    6 completed    9
    "#);
}

#[test]
fn an_offer_that_is_opened_has_its_reference_before_it_has_its_result() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let offer = review(cx, "a lamp".to_owned()).open()?;
        ask(cx, offer.reference().to_string()).await?;
        Ok(offer.await?)
    }
    let mut story = Story::of::<flow>(());
    let Decision::ActivityScheduled { input, .. } = &story.decisions()[1] else {
        panic!("{}", story.text());
    };
    let reference: String = input.decode().unwrap();
    assert_eq!(reference, "order-42~1");
    assert_eq!(reference.parse::<OperationId>().unwrap().number, 1);
    // It may be fulfilled before it is waited for.
    story.fulfil(1, 7);
    story.complete(2, ());
    assert_eq!(story.result::<u64, Error>(), Ok(7));
}

#[test]
fn a_time_limit_closes_the_offer() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Option<u64>, StubError> {
        review(cx, "a lamp".to_owned()).timeout(days(7)).await
    }
    let mut story = Story::of::<flow>(());
    story.fire(2);
    assert_eq!(story.last().offers, [Offered::Closed { operation: 1 }]);
    assert_eq!(story.result::<Option<u64>, StubError>(), Ok(None));
    // What comes late has no effect.
    let mut story = Story::of::<flow>(());
    story.fulfil(1, 3);
    assert_eq!(story.last().stopped_timers.len(), 1);
    assert_eq!(story.result::<Option<u64>, StubError>(), Ok(Some(3)));
}

#[test]
fn what_loses_a_race_is_closed_in_the_unit_that_decided_it_and_what_comes_late_is_nothing() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let first = select! {
            a = review(cx, "a".to_owned()) => a?,
            b = review(cx, "b".to_owned()) => b?,
        };
        cx.sleep(seconds(1)).await?;
        Ok(first)
    }
    let mut story = Story::of::<flow>(());
    story.fulfil(2, 5);
    assert_eq!(story.last().offers, [Offered::Closed { operation: 1 }]);
    assert_eq!(story.fulfil(1, 6).unit.decisions, []);
    story.fire(3);
    assert_eq!(story.result::<u64, Error>(), Ok(5));
    insta::assert_snapshot!(story.text(), @r#"
    1 started      flow null
    2   stub       ~1 review "a"                                    stubs.rs flow
    3   stub       ~2 review "b"                                    stubs.rs flow
    4 fulfilled    ~2 review 5
    5   dropped    ~1 review
    6   sleep      ~3                                               stubs.rs flow
    7 fulfilled    ~1 review 6
    8 fired        ~3 sleep
    9 completed    5
    "#);
}

#[test]
fn b11_offers_that_are_open_when_the_run_ends_are_closed_with_it() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let kept = review(cx, "a".to_owned()).open()?;
        cx.spawn(again(cx, "b".to_owned(), 1));
        cx.sleep(seconds(1)).await?;
        drop(kept.reference());
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    story.fire(3);
    assert!(story.is_finished());
    let closed = |operation| Offered::Closed { operation };
    assert_eq!(story.last().offers, [closed(1), closed(2)]);
    insta::assert_snapshot!(story.text(), @r#"
    1 started      flow null
    2   stub       ~1 review "a"                                    stubs.rs
    3   stub       ~2 second-look ["b",1]                           stubs.rs flow
    4   sleep      ~3                                               stubs.rs flow
    5 fired        ~3 sleep
    6   dropped    ~1 review
    7   dropped    ~2 second-look
    8 completed    null
    "#);
    insta::assert_snapshot!(story.blocked(fulfilled(1, 5)), @"
    run order-42 (flow) is blocked: its history does not fit this program [H206 left over]

      event 9
          begun by artifact first, this is artifact this
          the run had ended with the event before

    Nothing was changed. The run goes on after any of these:
      · start artifact first again
      · move it to a new run by a `#[migration]`
    ");
}

/// What it was fulfilled with stays what it was found to be, also for a later type that could read it.
#[test]
fn m37_a_value_of_another_type_is_recorded_as_that() {
    mod later {
        use super::*;

        #[derive(serde::Serialize, serde::Deserialize)]
        #[serde(untagged)]
        pub(super) enum Verdict {
            Number(u64),
            Text(String),
        }

        #[stub(name = "review")]
        async fn review_text(cx: &Cx, order: String) -> Verdict;

        #[workflow(name = "one")]
        pub(super) async fn one(cx: &Cx) -> Result<u64, StubError> {
            match review_text(cx, "a lamp".to_owned()).await? {
                Verdict::Number(number) => Ok(number),
                Verdict::Text(_) => Ok(0),
            }
        }
    }
    mod narrower {
        use super::*;

        #[stub(name = "review")]
        async fn review_flag(cx: &Cx, order: String) -> bool;

        #[workflow(name = "one")]
        pub(super) async fn one(cx: &Cx) -> Result<u64, StubError> {
            Ok(review_flag(cx, "a lamp".to_owned()).await?.into())
        }
    }
    let mut story = Story::of::<one>(());
    story.fulfil(1, "good");
    let error = story.result::<u64, StubError>().unwrap_err();
    insta::assert_snapshot!(error, @r#"what the stub `review` was fulfilled with, as order-42~1, is not of its type: the value does not decode as `u64`: invalid type: string "good", expected u64"#);
    insta::assert_snapshot!(story.text(), @r#"
    1 started      one null
    2   stub       ~1 review "a lamp"                               stubs.rs one
    3 fulfilled    ~1 review "good"
    4   invalid    ~1 review   the value does not decode as `u64`: invalid type: string \"good\", expected u64
    5 failed
             {
               "invalid": {
                 "name": "review",
                 "problem": "the value does not decode as `u64`: invalid type: string \"good\", expected u64",
                 "reference": "order-42~1"
               }
             }
    "#);
    story.replay_on::<later::one>().unwrap();
    // And one that was of the type is not taken for one that is not.
    let mut story = Story::of::<one>(());
    story.fulfil(1, 5);
    insta::assert_snapshot!(story.blocked_on::<narrower::one>(), @r#"
    run order-42 (one) is blocked: its history does not fit this program [H210 does not decode]

      event 3
          begun by artifact first, this is artifact this
          the result of `review`: the value does not decode as `bool`: invalid type: integer `5`, expected a boolean

    Nothing was changed. The run goes on after any of these:
      · let the type read what was stored: `#[serde(default)]` for a new field, `#[serde(alias = "..")]` for an old name
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn s15_an_input_that_is_too_large_is_not_offered() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(String, String), Error> {
        let large = || "x".repeat(2 << 20);
        let awaited = review(cx, large()).await.unwrap_err();
        let opened = review(cx, large()).open().unwrap_err();
        Ok((awaited.to_string(), opened.to_string()))
    }
    let story = Story::of::<flow>(());
    let (awaited, opened) = story.result::<(String, String), Error>().unwrap();
    assert_eq!(awaited, opened);
    insta::assert_snapshot!(awaited, @"the input of a stub is too large: 2097154 bytes, and at most 1048576 can be stored");
}

// ---- replay (S9) --------------------------------------------------------------------------------------

#[test]
fn s9_replay_compares_kind_name_and_input() {
    #[workflow(name = "one")]
    async fn renamed(cx: &Cx) -> Result<u64, StubError> {
        again(cx, "a lamp".to_owned(), 1).await
    }
    #[workflow(name = "one")]
    async fn other_input(cx: &Cx) -> Result<u64, StubError> {
        review(cx, "two lamps".to_owned()).await
    }
    #[workflow(name = "one")]
    async fn an_activity(cx: &Cx) -> Result<u64, StubError> {
        let _ = ask(cx, "a lamp".to_owned()).await;
        Ok(0)
    }
    #[workflow(name = "one")]
    async fn another_before(cx: &Cx) -> Result<u64, StubError> {
        done(cx).await?;
        review(cx, "a lamp".to_owned()).await
    }
    #[workflow(name = "one")]
    async fn gone(_cx: &Cx) -> Result<u64, StubError> {
        Ok(5)
    }
    #[stub]
    async fn look_at(cx: &Cx, order: String) -> u64;
    #[workflow(name = "one")]
    async fn another_name(cx: &Cx) -> Result<u64, StubError> {
        look_at(cx, "a lamp".to_owned()).await
    }
    let mut story = Story::of::<one>(());
    story.fulfil(1, 5);
    let texts = [
        story.blocked_on::<another_name>(),
        story.blocked_on::<renamed>(),
        story.blocked_on::<other_input>(),
        story.blocked_on::<an_activity>(),
        story.blocked_on::<another_before>(),
        story.blocked_on::<gone>(),
    ]
    .map(|blocked| blocked.to_string());
    insta::assert_snapshot!(texts.join("\n\n---\n\n"));
}

#[test]
fn what_a_stub_is_fulfilled_with_answers_nothing_else() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let _ = join!(
            review(cx, "a".to_owned()),
            ask(cx, "b".to_owned()),
            cx.sleep(seconds(1)),
        );
        Ok(())
    }
    let blocked = |observation| Story::of::<flow>(()).blocked(observation).to_string();
    let result = Value::encode(&1).unwrap();
    let texts = [
        blocked(fulfilled(2, 1)),
        blocked(fulfilled(3, 1)),
        blocked(fulfilled(9, 1)),
        blocked(perennial::history::Observation::ActivityCompleted {
            operation: 1,
            result,
        }),
        blocked(perennial::history::Observation::TimerFired { operation: 1 }),
    ];
    insta::assert_snapshot!(texts.join("\n\n---\n\n"));
}

#[test]
fn code_that_goes_on_after_a_difference_gets_a_reference_that_names_nothing() {
    #[workflow(name = "one")]
    async fn opened(cx: &Cx) -> Result<u64, Error> {
        let offer = again(cx, "a lamp".to_owned(), 1).open()?;
        assert_eq!(offer.reference().number, 0);
        ask(cx, offer.reference().to_string()).await?;
        Ok(offer.await?)
    }
    let story = Story::of::<one>(());
    let Blocked::Incompatible(error) = story.blocked_on::<opened>() else {
        panic!("it is another kind");
    };
    assert_eq!(error.asked.unwrap().what, "stub second-look");
}

/// Whoever keeps offers learns of it, so that nobody fulfils one whose time is over.
#[test]
fn rw47_4_a_time_limit_is_known_with_the_offer_or_from_the_wait_on() {
    fn limited(story: &Story) -> Offered {
        let timers = story.machine().timers();
        Offered::Limited {
            operation: 1,
            deadline: timers[0].1,
        }
    }
    #[workflow]
    async fn at_once(cx: &Cx) -> Result<Option<u64>, StubError> {
        review(cx, "a lamp".to_owned()).timeout(days(7)).await
    }
    let story = Story::of::<at_once>(());
    let made = &story.last().offers;
    assert!(matches!(made[0], Offered::Opened { operation: 1, .. }));
    assert_eq!(made[1..], [limited(&story)]);

    #[workflow]
    async fn later(cx: &Cx) -> Result<Option<u64>, Error> {
        let offer = review(cx, "a lamp".to_owned()).open()?;
        cx.sleep(seconds(1)).await?;
        Ok(offer.timeout(days(7)).await?)
    }
    let mut story = Story::of::<later>(());
    assert_eq!(story.last().offers.len(), 1);
    story.fire(2);
    assert_eq!(story.last().offers, [limited(&story)]);
}
