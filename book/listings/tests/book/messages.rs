//! *Messages and signals*.

use perennial::prelude::*;
use perennial::testing::TestRun;
use perennial::value::Value;
use perennial_book::messages::{
    APPROVAL, Answer, REFRESH, WITHDRAWN, approve, approve_once, ask_boss, explain,
    patient_purchase, purchase, purchase_or_not, purchase_within_a_week, refresh, report,
    send_json, send_noted, start_approved, tell, vote, write,
};
use perennial_runtime::store::MemoryStore;
use perennial_runtime::{Client, Runtime, SendError};

use crate::chapters::Still;
use crate::texts::assert_text;

fn answer(by: &str, yes: bool) -> Answer {
    let by = by.to_owned();
    Answer { by, yes }
}

/// Over a clock that stands still, so that the texts that show times are the same each time.
async fn runtime() -> Runtime {
    Runtime::builder(MemoryStore::new())
        .workflow(purchase)
        .workflow(purchase_within_a_week)
        .workflow(patient_purchase)
        .workflow(report)
        .activities((ask_boss, write))
        .clock(Still)
        .start()
        .await
        .unwrap()
}

async fn purchase_42(client: &Client) -> RunId {
    let run = client.start(purchase_within_a_week, "purchase-42", 1_200);
    run.await.unwrap().id().clone()
}

#[tokio::test]
async fn a_message_is_sent_taken_and_listed() {
    let runtime = runtime().await;
    let client = runtime.client();
    let id = purchase_42(&client).await;
    let receipt = approve(&client, &id).await.unwrap();
    assert_eq!((receipt.number, receipt.duplicate), (1, false));
    let run = client.run(purchase_within_a_week, id.clone()).unwrap();
    assert_eq!(run.result().await.unwrap(), Some("Grace".to_owned()));
    let error = approve(&client, &id).await.unwrap_err();
    assert_text("texts/messages/finished.txt", &error.to_string());
    let late = explain(&client, &id, &answer("Grace", true)).await;
    assert_eq!(late, "it was decided at 2027-01-15T08:00:00.000Z");
    assert!(
        tell(&client, &id)
            .await
            .unwrap()
            .starts_with("#1 approval: taken by ~")
    );
}

#[perennial::test]
fn how_a_wait_with_a_time_limit_is_recorded(t: &mut TestRun) {
    t.allow(ask_boss);
    let run = t.start(purchase_within_a_week, 1_200);
    t.advance(days(2));
    run.send(APPROVAL, answer("Grace", true));
    run.result().unwrap();
    assert_text("texts/messages/history.txt", &run.history().text());
}

#[perennial::test]
fn nobody_says_anything(t: &mut TestRun) {
    t.allow(ask_boss);
    let run = t.start(purchase_within_a_week, 1_200);
    assert_eq!(run.result().unwrap(), None);
    assert_eq!(t.now(), TestRun::BEGIN + days(7));
}

#[tokio::test]
async fn the_same_key_is_the_same_message() {
    let runtime = runtime().await;
    let client = runtime.client();
    let id = client.start(patient_purchase, "patient", ()).await.unwrap();
    let id = id.id();
    approve_once(&client, id).await.unwrap();
    let first = Timestamp::from_millis(1_799_999_000_000);
    let key = ("answer of Grace", first);
    let same = send_noted(&client, id, &answer("Grace", true), key).await;
    assert!(same.unwrap().duplicate);
    let other = send_noted(&client, id, &answer("Grace", false), key).await;
    assert_text(
        "texts/messages/conflict.txt",
        &other.unwrap_err().to_string(),
    );
}

#[tokio::test]
async fn a_message_can_come_with_the_run() {
    let runtime = runtime().await;
    let client = runtime.client();
    for _ in 0..2 {
        let run = start_approved(&client).await.unwrap();
        assert_eq!(run.result().await.unwrap(), Some("Grace".to_owned()));
        // She clicks as well: it is the same message.
        approve_once(&client, run.id()).await.unwrap();
        assert_eq!(tell(&client, run.id()).await.unwrap().lines().count(), 1);
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_told() {
    let runtime = runtime().await;
    let client = runtime.client();
    let nobody = "purchase-43".parse().unwrap();
    let error = explain(&client, &nobody, &answer("Grace", true)).await;
    assert_eq!(error, "there is no such purchase");
    let id = purchase_42(&client).await;
    let typo: Message<Answer> = Message::new("aproval");
    let error = client.send(&id, typo, &answer("Grace", true)).await;
    assert_text(
        "texts/messages/no-such.txt",
        &error.unwrap_err().to_string(),
    );
    assert!(matches!(
        refresh(&client, &id).await,
        Err(SendError::NoSuchMessage { .. })
    ));
}

#[tokio::test]
async fn json_of_another_type_is_asked_about() {
    let runtime = runtime().await;
    let client = runtime.client();
    let run = client.start(patient_purchase, "patient", ()).await.unwrap();
    for json in [r#"{"by": "Grace"}"#, r#"{"by": "Grace", "yes": true}"#] {
        let json = Value::from_json(json).unwrap();
        send_json(&client, run.id(), json).await.unwrap();
    }
    assert!(run.result().await.unwrap());
}

#[perennial::test]
fn three_voters_have_a_week_together(t: &mut TestRun) {
    let run = t.start(vote, ());
    for (by, yes) in [("Ada", true), ("Emmy", false)] {
        t.advance(days(3));
        run.send(APPROVAL, answer(by, yes));
    }
    assert_eq!(run.result().unwrap(), 1);
    assert_eq!(t.now(), TestRun::BEGIN + days(7));
}

#[perennial::test]
fn the_first_of_two_messages_decides(t: &mut TestRun) {
    let run = t.start(purchase_or_not, ());
    run.send(WITHDRAWN, "too dear".to_owned());
    assert_eq!(run.result().unwrap(), "withdrawn: too dear");
    assert!(run.unread().is_empty());
}

#[perennial::test]
fn of_two_that_it_was_told_of_before_the_arm_that_stands_first_wins(t: &mut TestRun) {
    #[workflow]
    async fn busy(cx: &Cx) -> Result<String, Error> {
        write(cx, "at work".to_owned()).await?;
        first_of_two(cx).await
    }
    #[durable]
    async fn first_of_two(cx: &Cx) -> Result<String, Error> {
        select! {
            answer = cx.receive(APPROVAL) => Ok(answer?.by),
            why = cx.receive(WITHDRAWN) => Ok(why?),
        }
    }
    t.mock(write, |_| Ok(())).takes(hours(1));
    let run = t.start(busy, ());
    run.send(WITHDRAWN, "too dear".to_owned());
    run.send(APPROVAL, answer("Grace", true));
    assert_eq!(run.result().unwrap(), "Grace");
    assert_eq!(run.unread().len(), 1, "the other one was left where it was");
}

/// With a limit of nothing, a wait takes what is there.
#[workflow]
async fn at_once(cx: &Cx) -> Result<[Option<bool>; 2], Error> {
    write(cx, "at work".to_owned()).await?;
    let mut yes = [None; 2];
    for yes in &mut yes {
        let answer = cx.receive(APPROVAL).timeout(seconds(0)).await?;
        *yes = answer.map(|answer| answer.yes);
    }
    Ok(yes)
}

#[perennial::test]
fn with_a_limit_of_nothing_a_wait_takes_what_is_there(t: &mut TestRun) {
    t.mock(write, |_| Ok(())).takes(hours(1));
    let run = t.start(at_once, ());
    run.send(APPROVAL, answer("Grace", true));
    assert_eq!(run.result().unwrap(), [Some(true), None]);
    assert_eq!(t.now(), TestRun::BEGIN + hours(1));
}

#[tokio::test]
async fn also_in_a_runtime() {
    let runtime = Runtime::builder(MemoryStore::new())
        .workflow(at_once)
        .activity(write)
        .start();
    let runtime = runtime.await.unwrap();
    let start = runtime.client().start(at_once, "at-once", ());
    let run = start.send(APPROVAL, &answer("Grace", true)).await.unwrap();
    assert_eq!(run.result().await.unwrap(), [Some(true), None]);
}

#[perennial::test]
fn a_report_is_written_each_hour_and_when_it_is_asked_for(t: &mut TestRun) {
    let reports = t.mock(write, |_| Ok(())).times(2);
    let run = t.start(report, 2);
    t.advance(minutes(20));
    run.signal(REFRESH, "Ada".to_owned());
    run.result().unwrap();
    assert_eq!(
        reports.calls(),
        ["asked for by Ada", "asked for by the clock"]
    );
    assert_eq!(t.now(), TestRun::BEGIN + minutes(80));
}

#[tokio::test]
async fn a_signal_reaches_who_waits() {
    let runtime = runtime().await;
    let client = runtime.client();
    let run = client.start(report, "report", 1).await.unwrap();
    // One that comes before the wait is dropped.
    while client.status(run.id()).await.unwrap().finished.is_none() {
        match refresh(&client, run.id()).await {
            Ok(()) | Err(SendError::RunFinished { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
