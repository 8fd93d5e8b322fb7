//! What blocks a run, and that nothing of that unit is committed (S14).

use perennial::history::{Observation, SEMANTICS, Started};
use perennial::prelude::*;
use serde::{Deserialize, Serialize};

use crate::story::{BEGIN, Story, artifact, completed, started};

#[activity(idempotent)]
async fn part(_acx: &ActivityCx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

#[test]
fn s14_a_panic_blocks_the_run_and_nothing_of_the_unit_is_committed() {
    #[workflow]
    async fn flow(cx: &Cx, parts: Vec<u64>) -> Result<u64, Error> {
        let at = part(cx, 1).await?;
        cx.spawn(part(cx, 2));
        let chosen = parts[usize::try_from(at)?];
        Ok(chosen)
    }
    let mut story = Story::of::<flow>(vec![7_u64]);
    let units = story.units.len();
    let blocked = story.blocked(completed(1, 5));
    assert_eq!(blocked.code(), "W101");
    assert!(!blocked.is_unfit());
    assert_eq!(story.units.len(), units);
    insta::assert_snapshot!(blocked, @"
    run order-42 (flow) is blocked: the workflow's code panicked after event 2 [W101]

      index out of bounds: the len is 1 but the index is 5

      after the await at sdk/tests/machine/blocked.rs:18:30 in flow

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ");
    // The history as it was fits a program in which the cause is repaired, or another answer.
    let mut machine = Story::untold::<flow>().into_machine();
    machine.replay(story.units[0].clone()).unwrap();
    machine.observe(completed(1, 0), BEGIN, BEGIN).unwrap();
}

#[test]
fn s14_a_panic_says_what_it_said_whatever_it_carries() {
    #[workflow]
    async fn flow(_cx: &Cx, how: u8) -> Result<(), Error> {
        match how {
            0 => panic!("a text"),
            1 => panic!("a text of {} parts\nand lines", 2),
            2 => std::panic::panic_any(7),
            _ => panic!("{}", "long ".repeat(100_000)),
        }
    }
    let texts = [0, 1, 2].map(|how| {
        let blocked = Story::untold::<flow>().blocked(started::<flow>(how));
        blocked.to_string()
    });
    insta::assert_snapshot!(texts.join("\n----\n"), @"
    run order-42 (flow) is blocked: the workflow's code panicked at its beginning [W101]

      a text

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ----
    run order-42 (flow) is blocked: the workflow's code panicked at its beginning [W101]

      a text of 2 parts
      and lines

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ----
    run order-42 (flow) is blocked: the workflow's code panicked at its beginning [W101]

      (the panic carries a value that is no text)

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ");
    let long = Story::untold::<flow>().blocked(started::<flow>(3));
    assert!(long.to_string().len() < 10_000);
}

#[test]
fn s14_a_panic_in_spawned_work_or_in_a_drop_during_a_poll_blocks_the_run() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("as the test wants it");
        }
    }
    #[workflow]
    async fn spawned(cx: &Cx) -> Result<(), Error> {
        let own = cx.clone();
        cx.spawn(async move {
            own.sleep(seconds(1)).await.ok();
            panic!("as the test wants it");
        });
        cx.sleep(days(1)).await?;
        Ok(())
    }
    let mut story = Story::of::<spawned>(());
    let blocked = story.blocked(Observation::TimerFired { operation: 1 });
    assert_eq!(blocked.code(), "W101");

    #[workflow]
    async fn dropping(cx: &Cx) -> Result<(), Error> {
        let own = cx.clone();
        cx.spawn(async move {
            let _bomb = Bomb;
            own.sleep(days(1)).await.ok();
        });
        cx.sleep(seconds(1)).await?;
        Ok(())
    }
    let mut story = Story::of::<dropping>(());
    let blocked = story.blocked(Observation::TimerFired { operation: 2 });
    assert_eq!(blocked.code(), "W101");
}

/// Holds all kinds of things when it falls over, or does not.
mod holding {
    use super::*;

    #[stub]
    async fn mail(cx: &Cx) -> u64;

    const SAY: Message<u64> = Message::new("say");
    const SAID: Stream<u64> = Stream::new("said");

    /// Says something when it goes.
    struct Last(Cx);

    impl Drop for Last {
        fn drop(&mut self) {
            self.0.emit(SAID, 9);
        }
    }

    #[durable]
    async fn holds(cx: &Cx, falls: bool) -> Result<u64, Error> {
        let mailbox = Mailbox::open(cx, mail);
        let mut set = JoinSet::named(cx, "parts");
        set.submit(part(cx, 1));
        cx.spawn(part(cx, 2));
        let mut aside = cx.receive(SAY);
        let _last = Last(cx.clone());
        select! {
            said = &mut aside => said?,
            done = part(cx, 3) => done?,
        };
        assert!(!falls, "as the test wants it");
        cx.emit(SAID, 1);
        let done = part(cx, 4).await?;
        drop((mailbox, set, aside));
        Ok(done)
    }

    #[workflow]
    pub(super) async fn flow(cx: &Cx) -> Result<u64, Error> {
        holds(cx, false).await
    }

    pub(super) mod falling {
        use super::*;

        #[workflow]
        pub(in super::super) async fn flow(cx: &Cx) -> Result<u64, Error> {
            super::holds(cx, true).await
        }
    }
}

#[test]
fn s14_a_panic_in_replay_is_a_panic_whatever_the_code_holds() {
    let mut story = Story::of::<holding::flow>(());
    story.complete(5, 3);
    let blocked = story.blocked_on::<holding::falling::flow>();
    assert_eq!(blocked.code(), "W101", "{blocked}");
    assert!(!blocked.is_unfit());
    assert!(blocked.to_string().contains("as the test wants it"));
    // And live.
    let mut story = Story::of::<holding::falling::flow>(());
    let blocked = story.blocked(completed(5, 3));
    assert_eq!(blocked.code(), "W101", "{blocked}");
}

#[derive(Serialize)]
struct Fussy;

impl<'de> Deserialize<'de> for Fussy {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("as the test wants it")
    }
}

#[test]
fn s14_a_panic_while_the_input_is_decoded_blocks_the_run() {
    #[workflow]
    async fn flow(_cx: &Cx, _input: Fussy) -> Result<(), Error> {
        Ok(())
    }
    let blocked = Story::untold::<flow>().blocked(started::<flow>(()));
    assert_eq!(blocked.code(), "W101");
}

#[test]
fn s14_a_panic_while_a_result_is_encoded_blocks_the_run() {
    #[derive(Deserialize)]
    struct Loud;
    impl Serialize for Loud {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("as the test wants it")
        }
    }
    #[workflow]
    async fn flow(_cx: &Cx) -> Result<Loud, Error> {
        Ok(Loud)
    }
    let blocked = Story::untold::<flow>().blocked(started::<flow>(()));
    assert_eq!(blocked.code(), "W101");
}

#[workflow]
async fn plain(cx: &Cx, number: u64) -> Result<u64, Error> {
    Ok(part(cx, number).await?)
}

fn beginning(change: impl FnOnce(&mut Started)) -> String {
    let mut observation = started::<plain>(1);
    if let Observation::Started(started) = &mut observation {
        change(started);
    }
    Story::untold::<plain>().blocked(observation).to_string()
}

#[test]
fn h210_an_input_that_does_not_decode() {
    let text = beginning(|started| started.input = perennial::value::Value::encode("x").unwrap());
    insta::assert_snapshot!(text, @r#"
    run order-42 (plain) is blocked: its history does not fit this program [H210 does not decode]

      event 1
          begun by artifact first, this is artifact this
          the input: the value does not decode as `u64`: invalid type: string "x", expected u64

    Nothing was changed. The run goes on after any of these:
      · let the type read what was stored: `#[serde(default)]` for a new field, `#[serde(alias = "..")]` for an old name
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

#[test]
fn h209_a_run_of_another_workflow() {
    let text = beginning(|started| started.workflow = "fulfil".into());
    insta::assert_snapshot!(text, @"
    run order-42 (plain) is blocked: the program lacks a part of it [H209 not registered]

      event 1
          begun by artifact first, this is artifact this
          the run is one of the workflow `fulfil`

    Nothing was changed. The run goes on after this:
      · start artifact first again
    ");
}

#[test]
fn h214_newer_replay_semantics() {
    let text = beginning(|started| started.semantics = SEMANTICS + 1);
    insta::assert_snapshot!(text, @"
    run order-42 (plain) is blocked: its history was written by newer software [H214 newer software]

      event 1
          begun by artifact first, this is artifact this
          its replay semantics are number 2; this engine knows those up to 1

    Nothing was changed. The run goes on after any of these:
      · start the newer software again
      · start artifact first again
    ");
}

#[test]
fn h213_operations_that_begin_where_they_cannot() {
    let text = beginning(|started| started.first_operation = 0);
    insta::assert_snapshot!(text, @"
    run order-42 (plain) is blocked: its history cannot be read [H213 damaged]

      event 1
          begun by artifact first, this is artifact this
          its operations begin with number 0, which cannot be

    Nothing was changed. The run goes on after this:
      · keep a copy of the store before anything else, then restore a backup that has the record
    ");
    beginning(|started| started.first_operation = u64::MAX);
}

#[test]
fn h212_a_history_that_does_not_begin_with_its_beginning() {
    let blocked = Story::untold::<plain>().blocked(completed(1, 1));
    assert_eq!(blocked.code(), "H212");
    assert!(
        !blocked.is_unfit(),
        "damage is not between code and history"
    );
    insta::assert_snapshot!(blocked, @"
    run (not begun) (plain) is blocked: its history cannot be read [H212 gap]

      event 1
          this is artifact this
          a history begins with `started`

    Nothing was changed. The run goes on after this:
      · keep a copy of the store before anything else, then restore a backup that has the record
    ");
}

#[test]
fn h213_a_run_that_starts_twice() {
    let blocked = Story::of::<plain>(1).blocked(started::<plain>(1));
    insta::assert_snapshot!(blocked, @"
    run order-42 (plain) is blocked: its history does not fit this program [H206 left over]

      event 3
          begun by artifact first, this is artifact this
          `started` comes a second time

    Nothing was changed. The run goes on after any of these:
      · start artifact first again
      · move it to a new run by a `#[migration]`
    ");
}

#[test]
fn h213_an_answer_to_what_was_never_asked_or_of_the_wrong_kind() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        select! {
            _ = part(cx, 1) => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        cx.sleep(days(1)).await?;
        Ok(())
    }
    let texts = [
        Story::of::<flow>(()).blocked(completed(9, 1)),
        Story::of::<flow>(()).blocked(completed(2, 1)),
        Story::of::<flow>(()).blocked(Observation::TimerFired { operation: 1 }),
        {
            let mut story = Story::of::<flow>(());
            story.fire(2);
            story.blocked(Observation::TimerFired { operation: 1 })
        },
    ]
    .map(|blocked| {
        assert!(!blocked.is_unfit());
        blocked.to_string()
    });
    insta::assert_snapshot!(texts.join("\n----\n"), @"
    run order-42 (flow) is blocked: its history cannot be read [H213 damaged]

      event 4
          begun by artifact first, this is artifact this
          it answers operation ~9, which has not begun

    Nothing was changed. The run goes on after this:
      · keep a copy of the store before anything else, then restore a backup that has the record
    ----
    run order-42 (flow) is blocked: its history cannot be read [H213 damaged]

      event 4
          begun by artifact first, this is artifact this
          it is the result of an activity, and ~2 is a timer

    Nothing was changed. The run goes on after this:
      · keep a copy of the store before anything else, then restore a backup that has the record
    ----
    run order-42 (flow) is blocked: its history cannot be read [H213 damaged]

      event 4
          begun by artifact first, this is artifact this
          it fires ~1, which is the activity `part`

    Nothing was changed. The run goes on after this:
      · keep a copy of the store before anything else, then restore a backup that has the record
    ----
    run order-42 (flow) is blocked: its history cannot be read [H213 damaged]

      event 7
          begun by artifact first, this is artifact this
          it fires ~1, which is the activity `part`

    Nothing was changed. The run goes on after this:
      · keep a copy of the store before anything else, then restore a backup that has the record
    ");
}

#[test]
fn a_timer_that_fires_after_it_was_dropped_has_no_effect() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        select! {
            _ = part(cx, 1) => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        cx.sleep(days(1)).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    story.complete(1, 1);
    assert!(story.fire(2).unit.decisions.is_empty());
    // And once more, as a driver that has forgotten.
    assert!(story.fire(2).unit.decisions.is_empty());
    assert!(story.complete(1, 1).unit.decisions.is_empty());
}

#[test]
fn operations_are_counted_on_from_where_the_generation_begins() {
    let mut observation = started::<plain>(1);
    if let Observation::Started(started) = &mut observation {
        started.first_operation = 41;
        started.generation = 3;
    }
    let mut story = Story::untold::<plain>();
    story.observe(observation);
    assert_eq!(story.last().scheduled[0].operation, 41);
    // A late answer of an earlier generation has no effect.
    assert!(story.complete(40, 1).unit.decisions.is_empty());
    story.complete(41, 10);
    assert_eq!(story.result::<u64, Error>(), Ok(10));
    insta::assert_snapshot!(story.text(), @"
    1 started      plain 1
    2   activity   ~1 part 1                                        blocked.rs plain
    3 completed    ~1 ? 1
    4 completed    ~1 part 10
    5 completed    10
    ");
}

#[test]
fn a_workflow_knows_its_run() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(String, String), Error> {
        Ok((cx.run_id().to_string(), cx.namespace().to_string()))
    }
    let story = Story::of::<flow>(());
    assert_eq!(
        story.result::<(String, String), Error>(),
        Ok(("order-42".into(), "default".into()))
    );
}

#[test]
fn errors_name_both_programs_and_a_machine_says_what_it_is() {
    let machine = Story::untold::<plain>().into_machine();
    assert_eq!(
        format!("{machine:?}"),
        "Machine { workflow: \"plain\", next_event: 1, finished: false, .. }"
    );
    assert_eq!(&*artifact("this"), "this");
}
