//! Code that changes while runs are in flight: RW-01, RW-05, and what `compare_inputs = false` leaves out (S10).

use perennial::history::Decision;
use perennial::prelude::*;
use perennial::{Blocked, Incompatible};

use crate::story::Story;

#[activity(idempotent)]
pub(crate) async fn audit(_acx: &ActivityCx, id: String) -> Result<String, Failure> {
    Ok(id)
}

#[activity(idempotent)]
pub(crate) async fn a(_acx: &ActivityCx) -> Result<String, Failure> {
    Ok("a".into())
}

#[activity(idempotent)]
pub(crate) async fn b(_acx: &ActivityCx) -> Result<String, Failure> {
    Ok("b".into())
}

fn misfit(blocked: &Blocked) -> &Incompatible {
    match blocked {
        Blocked::Incompatible(error) => error,
        other => panic!("{other}"),
    }
}

mod before {
    use super::{a, audit};
    use perennial::prelude::*;

    #[workflow]
    pub(super) async fn order(cx: &Cx) -> Result<String, Error> {
        cx.sleep(hours(1)).await?;
        let id = cx.uuid().to_string();
        Ok(audit(cx, id).await?)
    }

    #[workflow]
    pub(super) async fn ticks(cx: &Cx) -> Result<String, Error> {
        let mut done = String::new();
        for _ in 0..8 {
            cx.sleep(hours(1)).await?;
            done += &a(cx).await?;
        }
        Ok(done)
    }

    #[workflow]
    pub(super) async fn digest(cx: &Cx, text: String) -> Result<String, Error> {
        Ok(audit(cx, format!("{text}, as text")).await?)
    }
}

mod after {
    use super::{a, audit, b};
    use perennial::prelude::*;

    #[workflow]
    pub(super) async fn order(cx: &Cx) -> Result<String, Error> {
        let _jitter = cx.random_range(0..10);
        cx.sleep(hours(1)).await?;
        let id = cx.uuid().to_string();
        Ok(audit(cx, id).await?)
    }

    #[workflow]
    pub(super) async fn ticks(cx: &Cx) -> Result<String, Error> {
        let mut done = String::new();
        for _ in 0..8 {
            cx.sleep(hours(1)).await?;
            done += &match cx.version_each("b-not-a", 0..=1) {
                0 => a(cx).await?,
                1 => b(cx).await?,
            };
        }
        Ok(done)
    }

    #[workflow(compare_inputs = false)]
    pub(super) async fn digest(cx: &Cx, text: String) -> Result<String, Error> {
        let result = audit(cx, format!("{text}, as a number")).await?;
        Ok(format!("{result}!"))
    }
}

mod without_the_old_branch {
    use super::b;
    use perennial::prelude::*;

    #[workflow]
    pub(super) async fn ticks(cx: &Cx) -> Result<String, Error> {
        let mut done = String::new();
        for _ in 0..8 {
            cx.sleep(hours(1)).await?;
            done += &match cx.version_each("b-not-a", 1..=1) {
                1 => b(cx).await?,
            };
        }
        Ok(done)
    }

    #[workflow(compare_inputs = false)]
    pub(super) async fn digest(cx: &Cx, _text: String) -> Result<String, Error> {
        Ok(b(cx).await?)
    }
}

#[test]
fn rw01_an_added_draw_is_named_at_its_own_event_and_the_old_code_goes_on_with_its_id() {
    let mut story = Story::of::<before::order>(());
    // While it is asleep, and again once it has drawn its id: the first difference is the same.
    for _ in 0..2 {
        let blocked = story.blocked_on::<after::order>();
        let error = misfit(&blocked);
        assert_eq!((error.run.as_str(), error.event), ("order-42", 2));
        let (recorded, asked) = (error.recorded.as_ref(), error.asked.as_ref());
        assert_eq!(recorded.unwrap().what, "sleep");
        assert_eq!(asked.unwrap().what, "random draw");
        assert!(asked.unwrap().site.is_some());
        if story.units.len() == 1 {
            story.fire(1);
        }
    }
    let id = story
        .decisions()
        .iter()
        .find_map(|decision| match decision {
            Decision::Recorded { value, .. } => value.decode::<String>().ok(),
            _ => None,
        });
    let id = id.unwrap();
    let mut back = story.on::<before::order>();
    back.complete(2, &id);
    assert_eq!(back.result::<String, Error>(), Ok(id));
}

#[test]
fn rw05_iterations_that_were_recorded_keep_the_old_branch_and_the_next_ones_take_the_new_one() {
    let mut story = Story::of::<before::ticks>(());
    for tick in 0..5 {
        story.fire(2 * tick + 1);
        story.complete(2 * tick + 2, "a");
    }
    let mut later = story.on::<after::ticks>();
    for tick in 5..8 {
        later.fire(2 * tick + 1);
        later.complete(2 * tick + 2, "b");
    }
    assert_eq!(later.result::<String, Error>(), Ok("aaaaabbb".to_owned()));
    assert_eq!(later.text().matches("marker").count(), 1);
    later.replay_on::<after::ticks>().unwrap();

    // Too early: the marker, that none is recorded, and what is supported.
    for history in [&story, &later] {
        let blocked = history.blocked_on::<without_the_old_branch::ticks>();
        let error = misfit(&blocked);
        assert_eq!((error.kind.code(), error.event), ("H207", 4));
        let marker = error.marker.as_ref().unwrap();
        assert_eq!(marker.id, "b-not-a");
        assert_eq!((marker.recorded, marker.supported), (None, Some((1, 1))));
    }
    // Back: what has the new branch does not fit, what has not does.
    let blocked = later.blocked_on::<before::ticks>();
    assert_eq!(misfit(&blocked).kind.code(), "H208");
    story.replay_on::<before::ticks>().unwrap();
}

#[test]
fn s10_without_comparing_inputs_kind_and_name_are_compared_still() {
    let mut story = Story::of::<before::digest>("7");
    story.complete(1, "done");
    story.replay_on::<after::digest>().unwrap();
    let blocked = story.blocked_on::<without_the_old_branch::digest>();
    assert_eq!(misfit(&blocked).event, 2);
}

#[test]
fn s10_without_comparing_inputs_the_run_goes_on_with_what_was_recorded() {
    let story = Story::of::<before::digest>("7");
    let mut later = story.on::<after::digest>();
    later.complete(1, "done");
    assert_eq!(later.result::<String, Error>(), Ok("done!".to_owned()));
    assert!(matches!(
        &story.decisions()[0],
        Decision::ActivityScheduled { input, .. } if input.as_json() == "\"7, as text\""
    ));
}
