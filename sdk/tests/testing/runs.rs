//! Runs of a test.

use perennial::history::Decision;
use perennial::prelude::*;
use perennial::testing::TestRun;

use super::{charge, text_of};

#[workflow]
async fn draws(cx: &Cx) -> Result<(u64, String, u64), Error> {
    Ok((
        cx.random_range(0..1_000_000),
        cx.uuid().to_string(),
        cx.record("value", || 5),
    ))
}

#[workflow]
async fn says(cx: &Cx, words: Vec<String>) -> Result<(), Error> {
    for word in words {
        cx.log(word);
        cx.sleep(seconds(1)).await?;
    }
    cx.log(cx.run_id());
    Ok(())
}

/// A type with methods of the names that start operations.
#[derive(Default)]
struct Form(Vec<u64>);

impl Form {
    fn submit(&mut self, field: u64) -> usize {
        self.0.push(field);
        self.0.len()
    }

    fn spawn(&self, sum: impl FnOnce(&[u64]) -> u64) -> u64 {
        sum(&self.0)
    }
}

#[durable]
async fn through_a_helper(cx: &Cx, set: &mut JoinSet<Result<u64, ActivityError<String>>>) {
    set.submit(charge(cx, 3));
}

#[workflow]
async fn starts(cx: &Cx) -> Result<u64, Error> {
    let mut form = Form::default();
    form.submit(cx.now().as_millis());
    let task = cx.spawn(charge(cx, form.spawn(|fields| fields.len() as u64)));
    let mut set = JoinSet::new(cx);
    set.submit(charge(cx, 2));
    through_a_helper(cx, &mut set).await;
    let mut sum = task.await?;
    while let Some(charged) = set.next().await {
        sum += charged?;
    }
    Ok(sum)
}

#[workflow]
async fn panics(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
    panic!("after a second");
}

#[workflow]
async fn never_ends(cx: &Cx) -> Result<(), Error> {
    loop {
        cx.log("again");
    }
}

#[perennial::test]
fn ids_and_draws_are_the_same_in_each_execution(t: &mut TestRun) {
    let runs = [
        t.start(draws, ()),
        t.start(draws, ()),
        t.start_as("third", draws, ()),
    ];
    let told = runs.map(|run| format!("{} {:?}", run.id(), run.result().unwrap()));
    insta::assert_snapshot!(told.join("\n"));
}

#[perennial::test]
fn another_seed_gives_other_draws(t: &mut TestRun) {
    let first = t.start(draws, ()).result().unwrap();
    t.seed(1);
    let second = t.start(draws, ()).result().unwrap();
    assert_ne!(first.0, second.0);
    assert_ne!(first.1, second.1);
}

#[perennial::test]
fn what_a_workflow_logs_is_there_once(t: &mut TestRun) {
    let run = t.start(says, vec!["one".into(), "two".into()]);
    assert_eq!(run.logs(), ["one"]);
    run.result().unwrap();
    assert_eq!(run.logs(), ["one", "two", "test-1"]);
}

#[perennial::test]
fn clones_are_the_same_run(t: &mut TestRun) {
    let run = t.start(says, vec!["one".into()]);
    run.clone().result().unwrap();
    assert!(run.is_finished());
    assert_eq!(run.history(), run.clone().history());
}

#[test]
fn a_run_that_is_blocked_fails_the_test() {
    insta::assert_snapshot!(text_of(|t| {
        let run = t.start(panics, ());
        let _ = run.result();
    }));
    insta::assert_snapshot!(text_of(|t| {
        t.start(never_ends, ());
    }));
}

#[test]
fn ids_that_cannot_be_used_fail_the_test() {
    let texts = [
        text_of(|t| {
            t.start_as("order 42", draws, ());
        }),
        text_of(|t| {
            t.start_as("order-42", draws, ());
            t.start_as("order-42", draws, ());
        }),
    ];
    insta::assert_snapshot!(texts.join("\n---\n"));
}

#[perennial::test]
fn the_report_says_what_was_checked(t: &mut TestRun) {
    t.start(says, vec!["one".into()]).result().unwrap();
    let replayed = t.report();
    t.without_replays("the next run needs the real clock");
    t.start(says, vec!["one".into()]).result().unwrap();
    insta::assert_snapshot!(format!("{replayed}\n{}", t.report()));
}

#[perennial::test]
fn what_is_spawned_and_submitted_has_its_place_and_other_types_have_methods_of_that_name(
    t: &mut TestRun,
) {
    t.mock(charge, Ok);
    let run = t.start(starts, ());
    assert_eq!(run.result().unwrap(), 6);
    let history = run.history();
    let decisions = history.units.iter().flat_map(|unit| &unit.decisions);
    let functions: Vec<_> = decisions
        .filter_map(|decision| match decision {
            Decision::ActivityScheduled { site, .. } => {
                Some(site.as_ref().unwrap().function.as_ref())
            }
            _ => None,
        })
        .collect();
    assert_eq!(functions, ["starts", "starts", "through_a_helper"]);
}
