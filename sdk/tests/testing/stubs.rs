//! Stubs: the test is who fulfils them.

use perennial::prelude::*;
use perennial::testing::{Recorded, Snapshot, TestFailure, TestRun};
use perennial::value::Value;

use super::{failure, notify, text_of};

#[stub]
async fn review(cx: &Cx, order: String) -> bool;

#[stub]
async fn inject(cx: &Cx) -> u64;

#[workflow]
async fn purchase(cx: &Cx, order: String) -> Result<Option<bool>, Error> {
    let offer = review(cx, order).open()?;
    notify(cx, "Ada".to_owned(), offer.reference().to_string()).await?;
    Ok(offer.timeout(days(7)).await?)
}

#[workflow]
async fn listens(cx: &Cx) -> Result<Vec<u64>, Error> {
    let mailbox = Mailbox::open(cx, inject);
    let mut heard = Vec::new();
    while heard.len() < 3 {
        heard.push(mailbox.next().await?);
    }
    Ok(heard)
}

fn history(run: &impl Recorded) -> String {
    Snapshot::new().times().text(run).unwrap()
}

#[perennial::test]
fn b02_the_test_fulfils_what_is_offered(t: &mut TestRun) {
    let told = t.mock(notify, |_| Ok(()));
    let run = t.start(purchase, "a lamp".to_owned());
    t.advance(days(6));
    let [offer] = &run.offers()[..] else {
        panic!("{:?}", run.offers());
    };
    assert_eq!(offer.name, "review");
    assert_eq!(offer.input, Value::encode("a lamp").unwrap());
    assert_eq!(offer.since, TestRun::BEGIN);
    // What the reviewer was told is what names the offer.
    assert_eq!(told.calls()[0].1, offer.reference.to_string());
    run.fulfil(review, true);
    assert_eq!(run.result().unwrap(), Some(true));
    assert_eq!(t.now(), TestRun::BEGIN + days(6));
    assert_eq!(run.offers(), []);
    insta::assert_snapshot!(history(&run));
}

#[perennial::test]
fn a_stub_with_a_time_limit_is_closed_by_it(t: &mut TestRun) {
    t.mock(notify, |_| Ok(()));
    let run = t.start(purchase, "a lamp".to_owned());
    assert_eq!(run.result().unwrap(), None);
    assert_eq!(t.now(), TestRun::BEGIN + days(7));
}

#[perennial::test]
fn b03_the_same_again_changes_nothing(t: &mut TestRun) {
    let run = t.start(listens, ());
    let first = run.offers()[0].reference.clone();
    run.fulfil_at(&first, inject, 5);
    let length = run.history().length();
    run.fulfil_at(&first, inject, 5);
    run.fulfil_json(&first, " 5 ");
    assert_eq!(run.history().length(), length);
    run.fulfil(inject, 6);
    run.fulfil(inject, 7);
    assert_eq!(run.result().unwrap(), [5, 6, 7]);
    // Also after the end.
    run.fulfil_at(&first, inject, 5);
}

#[test]
fn what_cannot_be_fulfilled_fails_the_test_and_says_what_is_open() {
    let refused = |what: fn(&perennial::testing::Run<listens>)| {
        text_of(|t| {
            let run = t.start(listens, ());
            run.fulfil(inject, 5);
            what(&run);
        })
    };
    let at = |text: &str| text.parse::<perennial::OperationId>().unwrap();
    let texts = [
        // B4, B7: of an offer that is over.
        refused(|run| run.fulfil_at(&"test-1~1".parse().unwrap(), inject, 6)),
        // B12: of another function; no such offer.
        refused(|run| run.fulfil_at(&"test-1~2".parse().unwrap(), review, true)),
        refused(|run| run.fulfil_at(&"test-1~9".parse().unwrap(), inject, 6)),
        refused(|run| run.fulfil(review, true)),
        // B13: of another run.
        refused(|run| run.fulfil_at(&"test-2~2".parse().unwrap(), inject, 6)),
        refused(|run| run.fulfil_json(&"test-1~2".parse().unwrap(), "{")),
        // B11: of a run that has ended.
        text_of(|t| {
            let run = t.start(listens, ());
            (5..8).for_each(|n| run.fulfil(inject, n));
            run.fulfil_at(&at("test-1~4"), inject, 8);
        }),
    ];
    insta::assert_snapshot!(texts.join("\n\n---\n\n"));
}

#[test]
fn a_run_that_waits_for_a_stub_says_how_the_test_fulfils_it() {
    let waiting = failure(|t| {
        t.mock(notify, |_| Ok(()));
        t.stop_clock();
        let run = t.start(purchase, "a lamp".to_owned());
        let _ = run.result();
    });
    assert!(matches!(waiting, TestFailure::Waiting(_)));
    insta::assert_snapshot!(text_of(|t| {
        let run = t.start(listens, ());
        let _ = run.result();
    }));
}

/// The kit replays after each unit in a changed world, so that this fails if what decides is not recorded.
#[perennial::test]
fn b08_replays_take_the_branch_that_was_taken(t: &mut TestRun) {
    #[workflow]
    async fn race(cx: &Cx) -> Result<String, Error> {
        let mailbox = Mailbox::open(cx, inject);
        let mut set = JoinSet::named(cx, "race");
        for n in 1..=3 {
            set.submit(async move { cx.sleep(days(n)).await.map(|()| n) });
        }
        let mut order = String::new();
        while !set.is_empty() {
            order += &select! {
                mail = mailbox.next() => format!("m{} ", mail?),
                slept = set.next() => format!("s{} ", slept.transpose()?.unwrap_or(0)),
            };
        }
        Ok(order)
    }
    let run = t.start(race, ());
    run.fulfil(inject, 1);
    t.advance(days(1));
    run.fulfil(inject, 2);
    run.fulfil(inject, 3);
    assert_eq!(run.result().unwrap(), "m1 s1 m2 m3 s2 s3 ");
}
