//! Histories that a run has from another one, of which it is a fork (M43).

use perennial::history::{Decision, ForkedFrom, History, Observation, Unit};
use perennial::machine::{Machine, Offered};
use perennial::prelude::*;
use perennial::value::Value;
use perennial::{OldRun, WorkflowDefinition};

use crate::story::{Story, artifact, started};

const A: Message<u64> = Message::new("a");

#[activity(idempotent, retry(attempts = 7))]
async fn step(_acx: &ActivityCx, run: String) -> Result<(), Failure> {
    let _ = run;
    Ok(())
}

#[stub]
async fn review(cx: &Cx, run: String) -> bool;

/// Says by what id it knows itself, again and again.
#[workflow]
async fn flow(cx: &Cx) -> Result<u64, Error> {
    loop {
        step(cx, cx.run_id().to_string()).await?;
        if cx.receive(A).await? == 0 {
            return Ok(0);
        }
    }
}

fn ids(pairs: &[(&str, u64)]) -> Vec<ForkedFrom> {
    let from = pairs.iter().map(|(run, last)| ForkedFrom {
        run: RunId::new(*run).unwrap(),
        last: *last,
    });
    from.collect()
}

/// The story of a run that has its first unit, of two events, from another run.
fn forked(from: &[(&str, u64)]) -> Story {
    let mut begun = started::<flow>(());
    if let Observation::Started(started) = &mut begun {
        started.forked_from = ids(from);
    }
    let mut story = Story::untold::<flow>();
    story.observe(begun);
    story
}

fn asked(story: &Story) -> Vec<String> {
    let decisions = story.units.iter().flat_map(|unit| &unit.decisions);
    let inputs = decisions.filter_map(|decision| match decision {
        Decision::ActivityScheduled { input, .. } => Some(input.as_json().to_owned()),
        _ => None,
    });
    inputs.collect()
}

#[test]
fn m43_the_code_knows_itself_by_the_other_id_up_to_the_fork_and_by_its_own_from_then_on() {
    // Events 1 and 2, 3 and 4, 5 to 7.
    let mut story = forked(&[("first", 2), ("second", 4)]);
    for number in 1..=2 {
        story.complete(2 * number - 1, ());
        story.message(number, "a", 1);
    }
    assert_eq!(
        asked(&story),
        [r#""first""#, r#""order-42""#, r#""order-42""#]
    );
    story.replay_on::<flow>().unwrap();

    let mut story = forked(&[("first", 2), ("second", 7)]);
    story.complete(1, ());
    story.message(1, "a", 1);
    story.complete(3, ());
    story.message(2, "a", 1);
    assert_eq!(
        asked(&story),
        [r#""first""#, r#""second""#, r#""order-42""#]
    );
    story.replay_on::<flow>().unwrap();
}

#[test]
fn m43_what_the_other_run_had_not_taken_is_not_this_ones() {
    let mut story = forked(&[("other", 3)]);
    story.message(7, "a", 1);
    story.complete(1, ());
    // It waits: what came before the fork is nothing to it.
    assert_eq!(story.machine().awaited().len(), 1);
    story.message(8, "a", 0);
    assert!(story.is_finished());
    story.replay_on::<flow>().unwrap();

    // One that was taken before the fork was.
    let mut story = forked(&[("other", 6)]);
    story.message(7, "a", 1);
    story.complete(1, ());
    assert_eq!(story.units.last().map(Unit::last), Some(7));
    assert_eq!(story.machine().open_activities(), [3]);
}

#[test]
fn m43_a_migration_of_a_fork_does_not_see_messages_of_the_other_run() {
    let mut story = forked(&[("other", 3)]);
    story.message(7, "a", 1);
    story.message(8, "a", 2);
    let history = History {
        run: "order-42".parse().unwrap(),
        generation: 1,
        units: story.units.clone(),
    };
    let old = OldRun::new(history, Vec::new(), Vec::new()).unwrap();
    assert_eq!(old.messages(A).unwrap(), [2]);
}

/// Offers two stubs, of which one has a time limit, and schedules an activity.
#[workflow]
async fn opens(cx: &Cx) -> Result<(), Error> {
    let run = || cx.run_id().to_string();
    let (one, two, three) = join!(
        review(cx, run()),
        review(cx, run()).timeout(hours(1)),
        step(cx, run())
    );
    one?;
    two?;
    three?;
    Ok(())
}

#[test]
fn what_is_in_no_history_is_told_by_a_replay() {
    let mut story = Story::of::<opens>(());
    story.fulfil(1, true);
    let mut machine = Machine::new(
        WorkflowDefinition::of::<opens>(),
        &artifact("second"),
        Box::new(|| 7),
    );
    let told: Vec<_> = story
        .units
        .iter()
        .map(|unit| machine.retell(unit.clone()).unwrap())
        .collect();
    let scheduled = &told[0].scheduled;
    assert_eq!((scheduled.len(), scheduled[0].operation), (1, 4));
    assert_eq!(scheduled[0].options.retry.attempts, Some(7));
    assert!(matches!(
        told[0].offers[..],
        [
            Offered::Opened { operation: 1, .. },
            Offered::Opened { operation: 2, .. },
            Offered::Limited { operation: 2, .. }
        ]
    ));
    assert!(told[1].offers.is_empty() && told[1].scheduled.is_empty());
    // It compares as any replay does.
    let mut machine = Machine::new(
        WorkflowDefinition::of::<opens>(),
        &artifact("second"),
        Box::new(|| 7),
    );
    let mut changed = story.units[0].clone();
    if let Decision::StubOffered { input, .. } = &mut changed.decisions[0] {
        *input = Value::null();
    }
    assert!(machine.retell(changed.clone()).is_err());
    assert!(machine.retell(changed).is_err());
}

/// Puts a wait aside that has begun, and comes back to it.
#[workflow]
async fn keeps(cx: &Cx) -> Result<u64, Error> {
    let mut aside = cx.receive(A);
    select! {
        got = &mut aside => return Ok(got?),
        done = step(cx, "one".to_owned()) => done?,
    }
    step(cx, "two".to_owned()).await?;
    Ok(aside.await?)
}

#[test]
fn m43_a_wait_that_has_got_a_message_and_not_returned_it_waits_for_another_one() {
    // Events 1 to 3, 4 and 5, and the message.
    let begun = |from: &[(&str, u64)]| {
        let mut begun = started::<keeps>(());
        if let Observation::Started(started) = &mut begun {
            started.forked_from = ids(from);
        }
        let mut story = Story::untold::<keeps>();
        story.observe(begun);
        story.complete(2, ());
        story.message(7, "a", 1);
        assert_eq!(story.units.last().map(Unit::last), Some(6));
        story
    };
    let mut story = begun(&[]);
    assert_eq!(story.machine().awaited(), []);
    story.complete(3, ());
    assert_eq!(story.result::<u64, ()>(), Ok(1));

    let mut story = begun(&[("other", 6)]);
    assert_eq!(story.machine().awaited().len(), 1);
    story.complete(3, ());
    assert!(!story.is_finished());
    story.message(8, "a", 2);
    assert_eq!(story.result::<u64, ()>(), Ok(2));
    story.replay_on::<keeps>().unwrap();
}
