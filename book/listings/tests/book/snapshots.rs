//! *Snapshot-testing histories*.

use std::path::Path;
use std::process::Command;

use perennial::assert_history;
use perennial::prelude::Failure;
use perennial::testing::{Run, Snapshot, TestRun, check_histories, replay_folder, save_history};
use perennial_book::testing::{Declined, changed, charge, invoices, price, send_mail, trial};
use perennial_runtime::store::MemoryStore;
use perennial_runtime::{Client, Runtime};

use crate::testing::ada;
use crate::texts::assert_text;

fn subscribed(t: &mut TestRun) -> Run<trial> {
    t.mock(send_mail, |_| Ok(()));
    t.mock(price, |_| Ok(900));
    t.mock(charge, |_| Ok("R-1".to_owned()));
    let run = t.start(trial, ada());
    run.result().unwrap();
    run
}

// ANCHOR: first
#[perennial::test]
fn a_trial_that_ends_in_a_subscription(t: &mut TestRun) {
    t.mock(send_mail, |_| Ok(()));
    t.mock(price, |_| Ok(900));
    t.mock(charge, |_| Ok("R-1".to_owned()));

    let run = t.start(trial, ada());
    run.result().unwrap();
    assert_history!(run);
    // ANCHOR_END: first
    let text = Snapshot::new().text(&run).unwrap();
    assert_text("texts/snapshots/trial.txt", &text);
}

#[perennial::test]
fn a_step_more_should_not_change_the_lines_after_it(t: &mut TestRun) {
    let run = subscribed(t);
    // ANCHOR: unnumbered
    assert_history!("unnumbered", run, Snapshot::new().unnumbered());
    // ANCHOR_END: unnumbered
}

// ANCHOR: redactions
#[perennial::test]
fn nobody_reads_the_card(t: &mut TestRun) {
    let run = subscribed(t);
    let hidden = Snapshot::new()
        .redact("trial.input.card", "[card]")
        .redact("charge.input[0]", "[card]");
    assert_history!(run, hidden, @r#"
     1 started      trial {"card":"[card]","name":"Ada"}
     2   activity   ~1 send_mail ["Ada","welcome"]                   testing.rs trial
     3 completed    ~1 send_mail null
     4   sleep      ~2                                               testing.rs trial
     5 fired        ~2 sleep
     6   activity   ~3 price "basic"                                 testing.rs trial
     7 completed    ~3 price 900
     8   activity   ~4 charge ["[card]",900]                         testing.rs trial
     9 completed    ~4 charge "R-1"
    10 completed    "R-1"
    "#);
}
// ANCHOR_END: redactions

#[perennial::test]
fn a_redaction_that_matches_nothing(t: &mut TestRun) {
    let run = subscribed(t);
    // ANCHOR: useless
    let snapshot = Snapshot::new().redact("trial.input.cards", "[card]");
    // ANCHOR_END: useless
    let error = snapshot.text(&run).unwrap_err();
    assert_text("texts/snapshots/redaction.txt", &error.to_string());
}

/// Fails on purpose: the next test runs it, and the book shows what it says.
#[perennial::test]
#[ignore = "it fails; the book shows how"]
fn with_a_reminder_more(t: &mut TestRun) {
    t.mock(send_mail, |_| Ok(()));
    t.mock(price, |_| Ok(900));
    t.mock(charge, |_| Ok("R-1".to_owned()));
    let run = t.start(changed::trial, ada());
    run.result().unwrap();
    assert_history!("unnumbered", run, Snapshot::new().unnumbered());
}

#[test]
fn a_diff() {
    let test = "snapshots::with_a_reminder_more";
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env("INSTA_UPDATE", "no")
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    let diff: String = said
        .lines()
        .skip_while(|line| !line.starts_with("-old snapshot"))
        .take_while(|line| !line.starts_with("Stopped on"))
        .flat_map(|line| [line.trim_end(), "\n"])
        .collect();
    assert!(diff.contains("three days left"), "{said}");
    assert_text("texts/snapshots/diff.txt", &diff);
}

// ANCHOR: keep
#[perennial::test]
fn histories_of_the_first_release(t: &mut TestRun) {
    t.mock(send_mail, |_| Ok(()));
    t.mock(price, |_| Ok(900));
    t.mock(charge, |_| Ok("R-1".to_owned()))
        .then(|_| Err(Failure::reject(Declined)));

    let run = t.start(trial, ada());
    save_history(&run, "tests/histories/trial-v1-in-flight.json").unwrap();
    run.result().unwrap();
    save_history(&run, "tests/histories/trial-v1-subscribed.json").unwrap();

    let run = t.start(trial, ada());
    run.result().unwrap();
    save_history(&run, "tests/histories/trial-v1-declined.json").unwrap();
}
// ANCHOR_END: keep

// ANCHOR: check
#[test]
fn runs_in_flight_go_on_with_this_code() {
    check_histories("tests/histories", (trial, invoices));
}
// ANCHOR_END: check

#[test]
fn what_was_checked() {
    let checked = check_histories("tests/histories", (trial, invoices));
    assert_text("texts/snapshots/checked.txt", &checked.to_string());
}

#[test]
fn changed_code_does_not_fit() {
    let misfits = replay_folder("tests/histories", changed::trial).unwrap_err();
    assert_text("texts/snapshots/misfits.txt", &misfits.to_string());
}

#[perennial::test]
fn released_histories_are_not_overwritten(t: &mut TestRun) {
    t.mock(send_mail, |_| Ok(()));
    t.mock(price, |_| Ok(900));
    t.mock(charge, |_| Ok("R-1".to_owned()));
    let run = t.start(changed::trial, ada());
    run.result().unwrap();
    let kept = save_history(&run, "tests/histories/trial-v1-subscribed.json");
    assert_text("texts/snapshots/kept.txt", &kept.unwrap_err().to_string());
}

// ANCHOR: production
async fn keep(client: &Client, id: &str) -> Result<(), Box<dyn std::error::Error>> {
    let run = client.run(trial, id)?;
    let history = run.history().await?.history;
    save_history(&history, format!("tests/histories/{id}.json"))?;
    Ok(())
}
// ANCHOR_END: production

#[tokio::test]
async fn a_run_that_is_not_there_has_no_history() {
    let runtime = Runtime::builder(MemoryStore::new()).start().await.unwrap();
    assert!(keep(&runtime.client(), "trial-7").await.is_err());
    assert!(
        !Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/histories/trial-7.json")
            .exists()
    );
}
