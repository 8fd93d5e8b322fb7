//! `cx.log`.

use perennial::prelude::*;

use crate::story::{Story, started};

#[workflow]
async fn talk(cx: &Cx) -> Result<(), Error> {
    cx.log("begun");
    cx.sleep(seconds(1)).await?;
    cx.log(format_args!("{} later", 1));
    Ok(())
}

#[test]
fn a_line_appears_once_with_its_unit_and_its_place_and_not_in_replay() {
    let mut story = Story::of::<talk>(());
    story.fire(1);
    let lines: Vec<_> = story
        .logs
        .iter()
        .map(|line| (line.message.as_str(), line.site.file.ends_with("logs.rs")))
        .collect();
    assert_eq!(lines, [("begun", true), ("1 later", true)]);
    // A machine that replays and then goes on has the new lines only.
    let mut machine = Story::untold::<talk>().into_machine();
    machine.replay(story.units[0].clone()).unwrap();
    let unit = story.units[1].clone();
    let step = machine.observe(unit.observation, unit.at, unit.at).unwrap();
    assert_eq!(step.logs.len(), 1);
}

#[test]
fn a_text_is_not_made_in_replay_and_may_not_use_the_cx() {
    struct Drawing<'a>(&'a Cx);
    impl std::fmt::Display for Drawing<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{}", self.0.random::<u64>())
        }
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.log(Drawing(cx));
        Ok(())
    }
    let blocked = Story::untold::<flow>().blocked(started::<flow>(()));
    insta::assert_snapshot!(blocked, @"
    run order-42 (flow) is blocked: the workflow's code panicked at its beginning [W101]

      the `Cx` was used inside a text for `cx.log`, which is not run again in replay

      help: make the value first, and then hand it over

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ");
}

#[test]
fn a_text_may_read_what_the_cx_knows() {
    struct Told<'a>(&'a Cx);
    impl std::fmt::Display for Told<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{} at {}", self.0.run_id(), self.0.now())
        }
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.log(Told(cx));
        Ok(())
    }
    let story = Story::of::<flow>(());
    assert_eq!(
        story.logs[0].message,
        "order-42 at 2023-11-14T22:13:20.000Z"
    );
}

#[test]
fn a_long_line_is_cut() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.log("x".repeat(1_000_000));
        Ok(())
    }
    let line = &Story::of::<flow>(()).logs[0].message;
    assert!(line.len() < 20_000 && line.contains("bytes left out"));
}

#[test]
fn the_lines_of_a_unit_that_is_not_committed_are_lost_with_it() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.log("about to fall");
        panic!("as the test wants it");
    }
    let mut story = Story::untold::<flow>();
    story.blocked(started::<flow>(()));
    assert!(story.logs.is_empty());
}
