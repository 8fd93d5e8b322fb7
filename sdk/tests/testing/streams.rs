//! Streams and views: what a run gives out while it goes on, and what it shows of itself.

use perennial::prelude::*;
use perennial::testing::{Snapshot, TestRun};

use super::{charge, text_of};

const OUTPUT: Stream<u64> = Stream::new("output");
const NOTES: Stream<String> = Stream::new("notes");

#[workflow]
async fn charges(cx: &Cx, sums: Vec<u64>) -> Result<(), Error> {
    for cents in sums {
        cx.emit(OUTPUT, charge(cx, cents).await?);
    }
    Ok(())
}

#[perennial::test]
fn a_test_sees_the_items_of_a_stream_and_they_stand_in_the_history(t: &mut TestRun) {
    t.mock(charge, |cents| Ok(cents * 2));
    let run = t.start(charges, vec![1, 2]);
    run.result().unwrap();
    assert_eq!(run.stream(OUTPUT), [2, 4]);
    assert_eq!(run.stream(NOTES), Vec::<String>::new());
    insta::assert_snapshot!(Snapshot::new().text(&run).unwrap(), @"
    1 started      charges [1,2]
    2   activity   ~1 charge 1                                      streams.rs charges
    3 completed    ~1 charge 2
    4   emitted    output #1 2                                      streams.rs
    5   activity   ~2 charge 2                                      streams.rs charges
    6 completed    ~2 charge 4
    7   emitted    output #2 4                                      streams.rs
    8 completed    null
    ");
}

#[perennial::test]
fn a_snapshot_can_leave_parts_of_an_item_out(t: &mut TestRun) {
    t.mock(charge, |cents| Ok(cents * 2));
    let run = t.start(charges, vec![1]);
    run.result().unwrap();
    let text = Snapshot::new().redact("output.item", "[sum]");
    insta::assert_snapshot!(text.text(&run).unwrap(), @r#"
    1 started      charges [1]
    2   activity   ~1 charge 1                                      streams.rs charges
    3 completed    ~1 charge 2
    4   emitted    output #1 "[sum]"                                streams.rs
    5 completed    null
    "#);
}

#[test]
fn b18_an_item_of_another_type_fails_the_test() {
    const OTHER: Stream<String> = Stream::new("output");
    insta::assert_snapshot!(text_of(|t| {
        t.mock(charge, Ok);
        let run = t.start(charges, vec![1]);
        run.result().unwrap();
        let _ = run.stream(OTHER);
    }), @r#"item 1 of stream "output": the value does not decode as `alloc::string::String`: invalid type: integer `1`, expected a string"#);
}

const STATUS: View<String> = View::new("status");

#[workflow]
async fn shows(cx: &Cx) -> Result<(), Error> {
    cx.set(STATUS, "begins".to_owned());
    charge(cx, 1).await?;
    cx.sleep(days(1)).await?;
    cx.set(STATUS, "over".to_owned());
    Ok(())
}

#[perennial::test]
fn a_test_sees_what_a_view_shows_and_the_history_has_nothing_of_it(t: &mut TestRun) {
    t.mock(charge, Ok);
    let run = t.start(shows, ());
    t.advance(hours(1));
    assert_eq!(run.view(STATUS).as_deref(), Some("begins"));
    run.result().unwrap();
    assert_eq!(run.view(STATUS).as_deref(), Some("over"));
    assert!(!Snapshot::new().text(&run).unwrap().contains("over"));
}

#[test]
fn a_view_of_another_type_fails_the_test() {
    const NUMBER: View<u64> = View::new("status");
    insta::assert_snapshot!(text_of(|t| {
        t.mock(charge, Ok);
        let run = t.start(shows, ());
        run.result().unwrap();
        let _ = run.view(NUMBER);
    }), @r#"view "status": the value does not decode as `u64`: invalid type: string "over", expected u64"#);
}
