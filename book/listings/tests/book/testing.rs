//! *Testing workflows*, without a sandbox.

use std::fs;
use std::process::Command;

use perennial::prelude::*;
use perennial::testing::{TestFailure, TestRun, failure_of};
use perennial_book::testing::{
    APPROVAL, Answer, Customer, Declined, Outbox, charge, invoices, price, purchase, send_mail,
    trial,
};

use crate::cargo::{at_home, essential, succeed};
use crate::texts::{assert_text, listings, root};

// ANCHOR: first
pub(crate) fn ada() -> Customer {
    Customer {
        name: "Ada".to_owned(),
        card: "4000 0012".to_owned(),
    }
}

#[perennial::test]
fn the_card_is_charged_after_thirty_days(t: &mut TestRun) {
    let mails = t.mock(send_mail, |(_to, _text)| Ok(()));
    t.mock(price, |_plan| Ok(900));
    let charges = t.mock(charge, |(_card, _cents)| Ok("R-1".to_owned()));

    let run = t.start(trial, ada());
    assert_eq!(mails.calls(), [("Ada".to_owned(), "welcome".to_owned())]);

    t.advance(days(29));
    assert!(charges.calls().is_empty());

    t.advance(days(1));
    assert_eq!(charges.calls(), [("4000 0012".to_owned(), 900)]);
    assert_eq!(run.result().unwrap(), Some("R-1".to_owned()));
}
// ANCHOR_END: first

// ANCHOR: by_itself
#[perennial::test]
fn who_is_declined_is_told(t: &mut TestRun) {
    let mails = t.mock(send_mail, |_| Ok(())).times(2);
    t.mock(price, |_| Ok(900));
    t.mock(charge, |_| Err(Failure::reject(Declined)));

    assert_eq!(t.start(trial, ada()).result().unwrap(), None);
    assert_eq!(mails.calls()[1].1, "goodbye");
    assert_eq!(t.now(), TestRun::BEGIN + days(30));
}
// ANCHOR_END: by_itself

// ANCHOR: retries
#[perennial::test]
fn the_bank_may_be_away_for_a_moment(t: &mut TestRun) {
    t.mock(send_mail, |_| Ok(()));
    t.mock(price, |_| Ok(900));
    let charges = t
        .mock(charge, |_| Err(Failure::transient("no connection")))
        .then(|_| Err(Failure::transient("no connection")))
        .then(|(_card, _cents)| Ok("R-1".to_owned()))
        .times(3);

    let run = t.start(trial, ada());
    t.advance(days(30));
    assert_eq!(charges.calls().len(), 1);
    t.advance(minutes(1)); // `initial = "1m"`
    assert_eq!(charges.calls().len(), 2);
    t.advance(minutes(2)); // and twice as long
    assert!(run.is_finished());
}
// ANCHOR_END: retries

// ANCHOR: inputs
#[perennial::test]
fn a_mock_may_look_at_its_input_and_at_the_attempt(t: &mut TestRun) {
    t.mock(send_mail, |_| Ok(()));
    t.mock(price, |_| Ok(900));
    t.mock_with(charge, |acx, (card, _cents)| match card.as_str() {
        "" => Err(Failure::reject(Declined)),
        _ if acx.attempt() < 3 => Err(Failure::transient("no connection")),
        card => Ok(format!("R-{card}")),
    })
    .takes(seconds(20));

    let no_card = Customer {
        card: String::new(),
        ..ada()
    };
    assert_eq!(t.start(trial, no_card).result().unwrap(), None);
    let charged = t.start(trial, ada()).result().unwrap();
    assert_eq!(charged, Some("R-4000 0012".to_owned()));
}
// ANCHOR_END: inputs

// ANCHOR: allow
#[perennial::test]
fn with_the_code_of_the_activities(t: &mut TestRun) {
    t.state(Outbox::default());
    t.allow(send_mail);
    t.allow(price);
    t.mock(charge, |(_card, cents)| Ok(format!("{cents}")));

    assert_eq!(
        t.start(trial, ada()).result().unwrap(),
        Some("900".to_owned())
    );
}
// ANCHOR_END: allow

// ANCHOR: block_on
#[perennial::test]
fn with_code_that_needs_tokio(t: &mut TestRun) {
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    t.block_on_with(move |work| tokio.block_on(work));
    // ANCHOR_END: block_on
    t.allow(price);
    t.mock(send_mail, |_| Ok(()));
    t.mock(charge, |_| Ok("R-1".to_owned()));
    assert!(t.start(trial, ada()).result().is_ok());
}

// ANCHOR: send
#[perennial::test]
fn the_boss_may_take_her_time(t: &mut TestRun) {
    t.mock(send_mail, |_| Ok(()));
    let run = t.start(purchase, 1_200);
    t.advance(days(6));
    let by = "Grace".to_owned();
    run.send(APPROVAL, Answer { by, yes: true });
    assert_eq!(run.result().unwrap(), Some("Grace".to_owned()));
}

#[perennial::test]
fn nobody_says_anything(t: &mut TestRun) {
    t.mock(send_mail, |_| Ok(()));
    let run = t.start(purchase, 1_200);
    assert_eq!(run.result().unwrap(), None);
    assert_eq!(t.now(), TestRun::BEGIN + days(7));
}
// ANCHOR_END: send

// ANCHOR: send_json
#[perennial::test]
fn what_is_no_answer_is_asked_again(t: &mut TestRun) {
    let mails = t.mock(send_mail, |_| Ok(())).times(2);
    let run = t.start(purchase, 1_200);
    run.send_json("approval", r#"{"by": "Grace"}"#);
    assert!(mails.calls()[1].1.contains("missing field `yes`"));
    run.send_json("approval", r#"{"by": "Grace", "yes": false}"#);
    assert_eq!(run.result().unwrap(), None);
}
// ANCHOR_END: send_json

// ANCHOR: report
#[perennial::test]
fn what_was_checked(t: &mut TestRun) {
    t.mock(send_mail, |_| Ok(()));
    t.mock(price, |_| Ok(900));
    t.mock(charge, |_| Ok("R-1".to_owned()));
    t.start(trial, ada()).result().unwrap();
    println!("{}", t.report());
    // ANCHOR_END: report
    assert_text("texts/testing/report.txt", &t.report().to_string());
}

#[perennial::test]
fn replays_can_be_left_out(t: &mut TestRun) {
    t.mock(send_mail, |_| Ok(()));
    // ANCHOR: without_replays
    t.without_replays("ten thousand runs, and another test replays one of them");
    // ANCHOR_END: without_replays
    let input = vec![("Ada".to_owned(), "GB".to_owned())];
    t.start(invoices, input).result().unwrap();
    assert_eq!(t.report().replays, 0);
}

fn text(body: impl FnOnce(&mut TestRun)) -> String {
    failure_of(body).expect("the test fails").to_string()
}

#[test]
fn a_mock_that_was_forgotten() {
    let forgotten = text(|t| {
        t.mock(send_mail, |_| Ok(()));
        t.mock(price, |_| Ok(900));
        let _ = t.start(trial, ada()).result();
    });
    assert_text("texts/testing/forgotten.txt", &forgotten);
}

/// A name that was mistyped.
#[test]
fn a_message_that_nothing_waits_for() {
    #[workflow]
    async fn is_approved(cx: &Cx) -> Result<bool, ReceiveError> {
        Ok(cx.receive(APPROVAL).await?.yes)
    }
    let failure = text(|t| {
        let run = t.start(is_approved, ());
        run.send_json("aproval", r#"{"by": "Grace", "yes": true}"#);
        let _ = run.result();
    });
    // The line of the wait changes with this file.
    let (before, after) = failure.split_once("testing.rs:").unwrap();
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    let failure = format!("{before}testing.rs:12:8{after}");
    assert_text("texts/testing/unread.txt", &failure);
}

#[test]
fn a_mock_that_is_called_less_often_than_declared() {
    let failure = text(|t| {
        t.mock(send_mail, |_| Ok(())).times(2);
        t.mock(price, |_| Ok(900));
        t.mock(charge, |_| Ok("R-1".to_owned()));
        t.start(trial, ada()).result().unwrap();
    });
    // The line of the mock changes with this file.
    let (before, after) = failure.split_once("testing.rs:").unwrap();
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
    let failure = format!("{before}testing.rs:12{after}");
    assert_text("texts/testing/miscounted.txt", &failure);
}

/// The order is another one each time: the first one that comes out with Germany first is shown.
#[test]
fn the_order_of_a_hash_set() {
    let customers = || {
        [("Ada", "GB"), ("Emmy", "DE")]
            .map(|(name, country)| (name.to_owned(), country.to_owned()))
            .to_vec()
    };
    let found = (0..1_000).find_map(|_| {
        let failure = failure_of(|t| {
            t.mock(send_mail, |_| Ok(()));
            let _ = t.start(invoices, customers()).result();
        });
        match failure {
            // Nearly always a replay on a fresh thread finds it; the last one says so in another way.
            None => None,
            Some(TestFailure::Diverged(diverged)) if diverged.on_a_used_thread => None,
            Some(TestFailure::Diverged(diverged)) => {
                let text = diverged.to_string();
                let first = text.lines().find(|line| line.contains("first"))?;
                first.contains("DE").then_some(text)
            }
            other => panic!("{other:?}"),
        }
    });
    assert_text("texts/testing/hash-order.txt", &found.unwrap());
}

#[test]
fn the_manifest_is_what_the_commands_make() {
    let outside = tempfile::tempdir().unwrap();
    let mut new = Command::new(env!("CARGO"));
    new.args(["new", "trip"]).current_dir(&outside);
    succeed(at_home(&mut new));
    let trip = outside.path().join("trip");
    let setup = fs::read_to_string(listings().join("testing/setup.sh")).unwrap();
    let setup = setup.replace("../perennial", root().to_str().unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-euc", &setup]).current_dir(&trip);
    succeed(at_home(&mut bash));
    let manifest = fs::read_to_string(trip.join("Cargo.toml")).unwrap();
    let (_, manifest) = manifest.split_once("[dependencies]").unwrap();
    let shown = fs::read_to_string(listings().join("testing/Cargo.toml.txt")).unwrap();
    assert_eq!(essential(manifest), essential(&shown));
}
