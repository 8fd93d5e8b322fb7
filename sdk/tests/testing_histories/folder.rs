use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use perennial::history::{History, Migrated, Observation, Unit};
use perennial::testing::{Unfit, check_histories, replay_folder, save_history};

use crate::story::Story;
use crate::workflows::{order, v1, v2};
use crate::{empty_folder, history, portable};

fn fulfilled(units: usize) -> History {
    let mut story = Story::of::<v1::fulfil>(order("A-1"));
    story.complete(1, "R-1");
    story.fire(2);
    story.complete(3, ());
    assert!(story.is_finished());
    let mut history = history("order-42", &story);
    history.units.truncate(units);
    history
}

fn refunded() -> History {
    let mut story = Story::of::<v1::refund>("R-1");
    story.complete(1, ());
    history("refund-1", &story)
}

/// Histories of runs that ended and of one that is in flight, also in a folder within.
fn fill(folder: &Path) {
    save_history(&fulfilled(4), folder.join("fulfil-v1.json")).unwrap();
    save_history(&fulfilled(2), folder.join("in-flight/fulfil-v1.json")).unwrap();
    save_history(&refunded(), folder.join("refund-v1.json")).unwrap();
    fs::write(folder.join("README.md"), "Histories of version 1.\n").unwrap();
}

#[test]
fn a_folder_of_histories_fits_the_code_that_wrote_them() {
    let folder = empty_folder("fits");
    fill(&folder);
    let checked = check_histories(&folder, (v1::fulfil, v1::refund));
    insta::assert_snapshot!(checked, @"3 histories in 3 files fit this code, 1 of them unfinished; each was replayed on a fresh thread, the first of each kind in 16 changed worlds, with other hash keys alone (link `perennial-sandbox` to change the clock and random bytes too)");
    // Tuples may hold tuples, where there are more than twelve.
    let nested = check_histories(&folder, ((v1::refund,), (v1::fulfil, v2::unrelated)));
    assert_eq!(nested.histories, 3);
    // One workflow needs no tuple.
    fs::remove_file(folder.join("refund-v1.json")).unwrap();
    assert_eq!(check_histories(&folder, v1::fulfil).histories, 2);
}

#[test]
fn s38_histories_of_runs_that_were_moved_fit_the_code_that_wrote_what_was_before() {
    let folder = empty_folder("moved");
    let mut whole = fulfilled(2);
    let Observation::Started(started) = whole.units[0].observation.clone() else {
        panic!("it begins with another event")
    };
    let moved = |number, unstarted| Unit {
        number,
        at: whole.units[1].at,
        observation: Observation::Migrated(Migrated {
            to: "order-42-v2".parse().unwrap(),
            workflow: "fulfil_v2".to_owned(),
            migration: "to_v2".to_owned(),
            artifact: "second".to_owned(),
            kept: vec![],
            stopped: vec![2],
            unstarted,
        }),
        decisions: vec![],
    };
    let not_begun = History {
        units: vec![moved(1, Some(Box::new(started)))],
        ..whole.clone()
    };
    let end = moved(whole.length() + 1, None);
    whole.units.push(end);
    save_history(&whole, folder.join("moved.json")).unwrap();
    save_history(&not_begun, folder.join("not-begun.json")).unwrap();
    let checked = check_histories(&folder, v1::fulfil);
    assert_eq!((checked.histories, checked.unfinished), (2, 0));
    // What was before is compared, as in any history.
    let misfits = replay_folder(&folder, v2::fulfil).unwrap_err();
    assert_eq!(misfits.misfits.len(), 1);
}

#[test]
fn all_that_does_not_fit_is_told_at_once() {
    let folder = empty_folder("misfits");
    fill(&folder);
    fs::write(folder.join("broken.json"), "{\n  \"run\": 7\n}\n").unwrap();
    fs::write(folder.join("export.jsonl"), "milk\n").unwrap();
    let mut unknown = fulfilled(4);
    let Observation::Started(started) = &mut unknown.units[0].observation else {
        panic!("it begins with another event")
    };
    started.workflow = "fulfill".into();
    save_history(&unknown, folder.join("renamed.json")).unwrap();
    let mut headless = fulfilled(4);
    headless.units.remove(0);
    save_history(&headless, folder.join("headless.json")).unwrap();
    let mut gap = fulfilled(4);
    gap.units.remove(1);
    save_history(&gap, folder.join("gap.json")).unwrap();

    let misfits = replay_folder(&folder, (v2::fulfil, v2::refund)).unwrap_err();
    assert_eq!((misfits.misfits.len(), misfits.fit), (8, 0));
    insta::assert_snapshot!(portable(&misfits));
    // Beside them, what fits fits.
    let misfits = replay_folder(&folder, (v1::fulfil, v1::refund)).unwrap_err();
    assert_eq!((misfits.misfits.len(), misfits.fit), (5, 3));
}

#[test]
fn check_histories_panics_with_the_text() {
    let folder = empty_folder("panics");
    fill(&folder);
    let text = replay_folder(&folder, (v2::fulfil, v2::refund))
        .unwrap_err()
        .to_string();
    let panic = catch_unwind(|| check_histories(&folder, (v2::fulfil, v2::refund))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>(), Some(&text));
}

/// The history of a run that had ended fits only code that ends there.
#[test]
fn a_history_that_was_cut_short_of_its_end_does_not_fit() {
    let folder = empty_folder("cut");
    let mut cut = fulfilled(4);
    cut.units.last_mut().unwrap().decisions.clear();
    save_history(&cut, folder.join("cut.json")).unwrap();
    let misfits = replay_folder(&folder, v1::fulfil).unwrap_err();
    let Unfit::Blocked(blocked) = &misfits.misfits[0].why else {
        panic!("{misfits}")
    };
    assert_eq!(blocked.code(), "H203");
}

#[test]
fn a_test_that_checks_nothing_does_not_pass() {
    let folder = empty_folder("nothing");
    fs::write(folder.join("README.md"), "No histories.\n").unwrap();
    let empty = replay_folder(&folder, v1::fulfil).unwrap_err();
    let missing = replay_folder("tests/historeis", v1::fulfil).unwrap_err();
    fill(&folder);
    let twice = replay_folder(&folder, (v1::fulfil, v1::refund, v2::fulfil)).unwrap_err();
    insta::assert_snapshot!([empty, missing, twice].map(portable).join("\n---\n"));
}

mod remembered {
    use std::cell::Cell;

    use perennial::prelude::*;

    fn count() -> u32 {
        thread_local!(static COUNT: Cell<u32> = const { Cell::new(0) });
        COUNT.replace(COUNT.get() + 1)
    }

    /// The first run on a thread decides what a history has, and each one after it something else.
    #[workflow]
    pub(super) async fn counted(_cx: &Cx) -> Result<u32, Error> {
        Ok(count())
    }
}

#[test]
fn what_a_thread_remembers_shows_in_a_kept_history_too() {
    let folder = empty_folder("remembered");
    let first = std::thread::spawn(|| history("counted-1", &Story::of::<remembered::counted>(())));
    save_history(&first.join().unwrap(), folder.join("counted.json")).unwrap();
    let misfits = replay_folder(&folder, remembered::counted).unwrap_err();
    let Unfit::Diverged(diverged) = &misfits.misfits[0].why else {
        panic!("{misfits}")
    };
    assert!(diverged.on_a_used_thread);
}
