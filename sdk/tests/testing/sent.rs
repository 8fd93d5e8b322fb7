//! What runs send: to runs of the test, and to others.

use std::cell::Cell;
use std::rc::Rc;

use perennial::RunEnd;
use perennial::history::Channel;
use perennial::prelude::*;
use perennial::testing::{Sent, Snapshot, TestRun};

use super::charge;

const NOTE: Message<String> = Message::new("note");
const RESERVED: Message<u64> = Message::new("reserved");
const REFRESH: Signal<u64> = Signal::new("refresh");

/// Tells an order what it has reserved for it, and waits for a word about each.
#[workflow]
async fn stock(cx: &Cx, order: RunId, count: u64) -> Result<Vec<Result<u64, SendFailure>>, Error> {
    let mut sent = Vec::new();
    for seats in 0..count {
        let receipt = cx.send(&order, RESERVED, &seats).await;
        sent.push(receipt.map(|receipt| receipt.number));
    }
    Ok(sent)
}

#[workflow]
async fn order(cx: &Cx, count: u64) -> Result<Vec<u64>, Error> {
    let mut seats = Vec::new();
    for _ in 0..count {
        seats.push(cx.receive(RESERVED).await?);
    }
    Ok(seats)
}

fn id(name: &str) -> RunId {
    RunId::new(name).unwrap()
}

#[perennial::test]
fn m47_a_run_of_the_test_gets_what_another_one_sends(t: &mut TestRun) {
    let order = t.start_as("order-42", order, 2);
    let stock = t.start(stock, (id("order-42"), 2));
    assert_eq!(stock.result().unwrap(), [Ok(1), Ok(2)]);
    assert_eq!(order.result().unwrap(), [0, 1]);
    insta::assert_snapshot!(Snapshot::new().text(&stock).unwrap());
}

#[perennial::test]
fn what_is_sent_to_a_run_that_is_not_in_the_test_counts_as_sent(t: &mut TestRun) {
    let run = t.start(stock, (id("order-42"), 3));
    assert_eq!(run.result().unwrap(), [Ok(1), Ok(2), Ok(3)]);
    let sent = run.sent();
    let first = Sent::clone(&sent[0]);
    assert_eq!((sent.len(), first.channel), (3, Channel::Message));
    assert_eq!(
        (first.from.as_str(), first.to.as_str()),
        ("test-1", "order-42")
    );
    assert_eq!((&*first.name, first.failure), ("reserved", None));
    let payloads = sent
        .iter()
        .map(|sent| sent.payload.decode::<u64>().unwrap());
    assert_eq!(payloads.collect::<Vec<_>>(), [0, 1, 2]);
}

#[perennial::test]
fn m49_a_run_of_the_test_that_has_ended_takes_nothing(t: &mut TestRun) {
    let ended = t.start_as("order-42", order, 0);
    ended.result().unwrap();
    t.advance(hours(1));
    let run = t.start(stock, (id("order-42"), 1));
    let failure = SendFailure::RunFinished {
        run: id("order-42"),
        end: RunEnd::Completed,
        finished: TestRun::BEGIN,
    };
    assert_eq!(run.result().unwrap(), [Err(failure.clone())]);
    assert_eq!(run.sent()[0].failure, Some(failure));
    assert_eq!(ended.unread(), []);
}

#[perennial::test]
fn a_test_answers_for_what_is_sent(t: &mut TestRun) {
    let asked = Rc::new(Cell::new(0));
    let counted = Rc::clone(&asked);
    t.on_send(move |sent| {
        counted.set(counted.get() + 1);
        if counted.get() == 2 {
            let run = sent.to.clone();
            return Err(SendFailure::InboxFull { run, limit: 10_000 });
        }
        Ok(())
    });
    let order = t.start_as("order-42", order, 2);
    let run = t.start(stock, (id("order-42"), 3));
    let full = SendFailure::InboxFull {
        run: id("order-42"),
        limit: 10_000,
    };
    assert_eq!(run.result().unwrap(), [Ok(1), Err(full), Ok(2)]);
    assert_eq!(order.result().unwrap(), [0, 2]);
    // It is asked once each, and by no replay.
    assert_eq!(asked.get(), 3);
}

#[perennial::test]
fn m38_a_name_that_a_run_of_the_test_does_not_wait_for_is_refused(t: &mut TestRun) {
    #[workflow]
    async fn notes(cx: &Cx, to: RunId) -> Result<bool, Error> {
        let sent = cx.send(&to, NOTE, &"hello".to_owned()).await;
        Ok(matches!(sent, Err(SendFailure::NoSuchMessage { .. })))
    }
    t.start_as("order-42", order, 1);
    assert!(t.start(notes, id("order-42")).result().unwrap());
}

#[perennial::test]
fn m50_m54_a_run_tells_itself_something_and_a_signal_is_for_who_waits(t: &mut TestRun) {
    #[workflow]
    async fn itself(cx: &Cx) -> Result<(u64, Option<u64>), Error> {
        let own = cx.run_id();
        cx.send(&own, RESERVED, &5).await?;
        cx.signal(&own, REFRESH, &6).await?;
        let taken = cx.receive(RESERVED).await?;
        let (rung, heard) = join!(
            cx.signal(&own, REFRESH, &7),
            cx.wait_for(REFRESH).timeout(hours(1))
        );
        rung?;
        Ok((taken, heard?))
    }
    let run = t.start(itself, ());
    assert_eq!(run.result().unwrap(), (5, Some(7)));
    assert_eq!(run.sent().len(), 3);
}

#[perennial::test]
fn what_came_of_a_send_is_told_before_a_timer_that_is_due_and_a_message(t: &mut TestRun) {
    #[workflow]
    async fn at_once(cx: &Cx) -> Result<u64, Error> {
        let own = cx.run_id();
        let (slept, sent, taken) = join!(
            cx.sleep(seconds(0)),
            cx.send(&own, RESERVED, &5),
            cx.receive(RESERVED)
        );
        slept?;
        sent?;
        Ok(taken?)
    }
    let run = t.start(at_once, ());
    assert_eq!(run.result().unwrap(), 5);
    insta::assert_snapshot!(Snapshot::new().text(&run).unwrap());
}

#[perennial::test]
fn an_activity_goes_on_beside_what_is_sent(t: &mut TestRun) {
    #[workflow]
    async fn beside(cx: &Cx, order: RunId) -> Result<u64, Error> {
        let (charged, sent) = join!(charge(cx, 5), cx.send(&order, RESERVED, &1));
        sent?;
        Ok(charged?)
    }
    t.mock(charge, Ok).takes(hours(1));
    let run = t.start(beside, id("order-42"));
    assert_eq!(run.history().units.len(), 2, "it was sent at once");
    assert_eq!(run.result().unwrap(), 5);
}
