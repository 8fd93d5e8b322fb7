//! Ends that the code has no say in (S11, S38).

use perennial::RunId;
use perennial::history::{Migrated, Observation, Started, Unit};
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

fn moved(unstarted: Option<Started>) -> Observation {
    Observation::Migrated(Migrated {
        to: RunId::new("order-42-v2").unwrap(),
        workflow: "flow_v2".into(),
        migration: "to_v2".into(),
        artifact: "second".into(),
        kept: vec![],
        stopped: vec![],
        unstarted: unstarted.map(Box::new),
    })
}

#[test]
fn s11_a_run_that_was_moved_ends_without_being_polled() {
    // At each place at which it may stand.
    let mut story = Story::of::<flow>(10);
    story.observe(moved(None));
    assert!(story.is_finished() && story.last().finished && story.decisions().is_empty());
    let mut story = Story::of::<flow>(10);
    story.complete(1, 5);
    story.observe(moved(None));
    assert!(story.is_finished());
    assert_eq!(story.blocked(completed(1, 5)).code(), "H206");

    // The code behind it may be any other, as long as it fits what was before.
    mod longer {
        use perennial::prelude::*;
        #[workflow]
        pub(super) async fn flow(cx: &Cx, _limit: u64) -> Result<u64, Error> {
            let first = super::part(cx, 1).await?;
            cx.sleep(seconds(1)).await?;
            super::part(cx, first + 1).await.map_err(Into::into)
        }
    }
    story.replay_on::<longer::flow>().unwrap();
}

#[test]
fn s11_dropping_the_code_of_a_run_that_was_moved_decides_nothing() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let task = cx.spawn(async move { part(cx, 1).await.map(drop) });
        let (one, two) = join!(part(cx, 2), task);
        one?;
        two?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    story.observe(moved(None));
    assert_eq!(story.decisions(), []);
}

#[test]
fn s38_a_run_that_no_program_had_begun_is_moved_by_its_only_event() {
    let Observation::Started(begun) = started::<flow>(10) else {
        panic!("it is `started`");
    };
    let mut story = Story::untold::<flow>();
    story.observe(moved(Some(begun.clone())));
    assert!(story.is_finished());
    assert_eq!(Story::untold::<flow>().blocked(moved(None)).code(), "H212");
    let blocked = Story::of::<flow>(10).blocked(moved(Some(begun)));
    insta::assert_snapshot!(blocked, @"
    run order-42 (flow) is blocked: its history cannot be read [H213 damaged]

      event 3
          begun by artifact first, this is artifact this
          the run had begun, and this says that it had not

    Nothing was changed. The run goes on after this:
      · keep a copy of the store before anything else, then restore a backup that has the record
    ");
}

#[test]
fn s11_what_was_decided_after_an_imposed_end_is_left_over() {
    let mut units = Story::of::<flow>(10).units;
    let decisions = units[0].decisions.clone();
    units.push(Unit {
        number: units[0].last() + 1,
        at: crate::story::BEGIN,
        observation: moved(None),
        decisions,
    });
    assert_eq!(replay::<flow>(&units).unwrap_err().code(), "H206");
}
