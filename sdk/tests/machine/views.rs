//! Views (S28): what a run shows of itself, which is no part of its history. Each story is told to a cold machine too.

use perennial::history::encode_unit;
use perennial::machine::Shown;
use perennial::prelude::*;

use crate::story::{Story, started};

const STATUS: View<String> = View::new("status");
const DONE: View<u64> = View::new("done");

#[activity(idempotent)]
async fn step(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[workflow]
async fn flow(cx: &Cx) -> Result<(), Error> {
    cx.set(DONE, 0);
    cx.set(STATUS, "begins".to_owned());
    cx.set(STATUS, "waits".to_owned());
    step(cx).await?;
    cx.set(STATUS, "waits".to_owned());
    cx.set(DONE, 1);
    step(cx).await?;
    cx.set(STATUS, "over".to_owned());
    Ok(())
}

fn texts(views: &[Shown]) -> Vec<(&str, String)> {
    let texts = views.iter();
    texts
        .map(|shown| (shown.view, shown.value.as_json().to_owned()))
        .collect()
}

fn shows(view: &'static str, value: &str) -> (&'static str, String) {
    (view, value.to_owned())
}

#[test]
fn a_unit_tells_the_last_value_of_each_view_that_it_has_changed() {
    let mut story = Story::of::<flow>(());
    let views = texts(&story.last().views);
    assert_eq!(views, [shows("done", "0"), shows("status", "\"waits\"")]);
    assert_eq!(story.last().views[0].data, "u64");
    assert_eq!(story.last().views[1].data, "alloc::string::String");
    story.complete(1, ());
    assert_eq!(texts(&story.last().views), [shows("done", "1")]);
    story.complete(2, ());
    assert_eq!(texts(&story.last().views), [shows("status", "\"over\"")]);
    assert!(!story.text().contains("status"), "{}", story.text());
}

/// O20: a program that shows something else has the same history, to the byte, and shows what is its own.
#[test]
fn o20_what_is_shown_is_in_no_history_and_another_program_shows_its_own() {
    mod later {
        use super::*;

        #[workflow]
        pub(super) async fn flow(cx: &Cx) -> Result<(), Error> {
            cx.set(STATUS, "first step".to_owned());
            step(cx).await?;
            cx.set(STATUS, "second step".to_owned());
            step(cx).await?;
            Ok(())
        }
    }
    let mut story = Story::of::<flow>(());
    story.complete(1, ());
    let mut later = story.on::<later::flow>();
    let views = later.machine().views();
    assert_eq!(texts(&views), [shows("status", "\"second step\"")]);
    story.complete(2, ());
    later.complete(2, ());
    let records = |story: &Story| -> Vec<Vec<u8>> { story.units.iter().map(encode_unit).collect() };
    let decisions =
        |story: &Story| -> Vec<_> { story.units.iter().map(|u| u.decisions.len()).collect() };
    assert_eq!(decisions(&story), decisions(&later));
    assert_eq!(records(&story)[..2], records(&later)[..2]);
}

#[test]
fn w102_one_view_more_than_a_run_may_have_and_views_set_without_end() {
    #[workflow]
    async fn flow(cx: &Cx, views: u64) -> Result<(), Error> {
        for number in 0..views {
            let name: &'static str = format!("view-{number}").leak();
            cx.set(View::<u64>::new(name), number);
        }
        Ok(())
    }
    assert!(Story::of::<flow>(16).is_finished());
    let blocked = Story::untold::<flow>().blocked(started::<flow>(17));
    assert_eq!(blocked.code(), "W102");
    assert!(blocked.to_string().contains("views of a run"), "{blocked}");

    #[workflow]
    async fn endless(cx: &Cx) -> Result<(), Error> {
        loop {
            cx.set(DONE, 1);
        }
    }
    let blocked = Story::untold::<endless>()
        .unchecked()
        .blocked(started::<endless>(()));
    assert!(
        blocked.to_string().contains("views set after one event"),
        "{blocked}"
    );
}

#[test]
fn a_value_that_cannot_be_stored_and_a_view_set_where_no_replay_comes_block_the_run() {
    const RAW: View<f64> = View::new("raw");
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        cx.set(RAW, f64::NAN);
        Ok(())
    }
    let blocked = Story::untold::<flow>().blocked(started::<flow>(()));
    assert!(
        blocked.to_string().contains("value of view \"raw\""),
        "{blocked}"
    );

    #[workflow]
    async fn inside(cx: &Cx) -> Result<(), Error> {
        cx.record("once", || {
            cx.set(DONE, 1);
            5
        });
        Ok(())
    }
    let blocked = Story::untold::<inside>().blocked(started::<inside>(()));
    assert!(
        blocked
            .to_string()
            .contains("inside the closure of `cx.record`"),
        "{blocked}"
    );
}
