//! The workflows of the histories. Each is released: never change one, add another.

use std::cell::Cell;
use std::rc::Rc;

use perennial::WorkflowDefinition;
use perennial::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) cents: u64,
    pub(crate) note: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Declined {
    pub(crate) why: String,
}

#[activity(idempotent)]
async fn charge(_acx: &ActivityCx, order: Order) -> Result<String, Failure<Declined>> {
    Ok(order.id)
}

#[activity(idempotent)]
async fn ship(_acx: &ActivityCx, number: u64) -> Result<u64, Failure<Declined>> {
    Ok(number)
}

/// Each way in which an activity can end, a draw of each kind, timers, drops, a marker in both forms, and activities
/// that are left open.
#[workflow]
async fn everything(cx: &Cx, order: Order) -> Result<(String, u64), Error> {
    let receipt = charge(cx, order.clone()).await?;
    let jitter = cx.random_range(0..1_000);
    let id = cx.uuid();
    let limit: u64 = cx.record("limit \"of the day\"", || 5);
    if cx.patched("wait-first") {
        cx.sleep(millis(jitter)).await?;
    }
    let ends = join_all((0..limit).map(|number| ship(cx, number))).await;
    let failed = ends.iter().filter(|end| end.is_err()).count() as u64;
    select! {
        shipped = ship(cx, 100) => drop(shipped?),
        _ = cx.sleep(hours(1)) => {},
    }
    for _ in 0..2 {
        if cx.patched_each("each-time") {
            cx.sleep(minutes(1)).await?;
        }
    }
    let _left = cx.spawn(ship(cx, 7));
    let _also = cx.spawn(charge(
        cx,
        Order {
            id: id.to_string(),
            ..order
        },
    ));
    Ok((receipt, failed))
}

/// Returns its error, and leaves something open.
#[workflow]
async fn refuses(cx: &Cx, number: u64) -> Result<u64, Declined> {
    let _left = cx.spawn(ship(cx, number));
    match ship(cx, number).await {
        Ok(number) => Ok(number),
        Err(ActivityError::Rejected(why)) => Err(why),
        Err(other) => Err(Declined {
            why: other.to_string(),
        }),
    }
}

impl std::fmt::Display for Declined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

/// Waits for an activity and a timer, for a run that is moved elsewhere meanwhile.
#[workflow]
async fn waits(cx: &Cx) -> Result<u64, Error> {
    let (shipped, slept) = join!(ship(cx, 1), cx.sleep(days(30)));
    slept?;
    shipped.map_err(Error::from)
}

const APPROVAL: Message<u64> = Message::new("approval");
const NOTE: Message<Order> = Message::new("note:to.the_shop-1");
const BELL: Signal<String> = Signal::new("bell");

/// What it is told, and the numbers of what was not of the type.
#[workflow]
async fn receives(cx: &Cx) -> Result<(Vec<String>, Vec<u64>), Error> {
    let mut told = Vec::new();
    let mut wrong = Vec::new();
    // Two wait for one signal, and one message comes before there is a wait for it.
    let (one, two, shipped) = join!(cx.wait_for(BELL), cx.wait_for(BELL), ship(cx, 1));
    told.extend([one?, two?, shipped?.to_string()]);
    for _ in 0..3 {
        match cx.receive(APPROVAL).await {
            Ok(approved) => told.push(approved.to_string()),
            Err(ReceiveError::Invalid { number, .. }) => wrong.push(number),
            Err(other) => return Err(other.into()),
        }
    }
    // A wait that has got a message loses it again.
    let mut early = Box::pin(cx.receive(NOTE));
    select! {
        note = &mut early => told.push(note?.id),
        slept = cx.sleep(hours(1)) => slept?,
    }
    let _ = ship(cx, 2).await?;
    drop(early);
    told.push(cx.receive(NOTE).await?.id);
    if let Err(ReceiveError::Invalid { number, .. }) = cx.wait_for(BELL).await {
        wrong.push(number);
    }
    match cx.wait_for(BELL).timeout(minutes(1)).await? {
        Some(rung) => told.push(rung),
        None => told.push("nobody".to_owned()),
    }
    if let Some(note) = cx.receive(NOTE).timeout(days(7)).await? {
        told.push(note.id);
    }
    Ok((told, wrong))
}

const OUTPUT: Stream<Order> = Stream::new("output:of.the_shop-1");
const TOTAL: Stream<Option<u64>> = Stream::new("total");
const STATUS: View<String> = View::new("status");

/// Items of two streams, several in a unit and one in the last; what is shown beside them is nowhere.
#[workflow]
async fn publishes(cx: &Cx, order: Order) -> Result<u64, Error> {
    cx.set(STATUS, "begins".to_owned());
    cx.emit(TOTAL, None);
    for number in 1..=2 {
        let shipped = ship(cx, number).await?;
        cx.emit(OUTPUT, order.clone());
        cx.emit(TOTAL, Some(shipped));
        cx.set(STATUS, format!("{number} shipped"));
    }
    cx.sleep(hours(1)).await?;
    cx.emit(TOTAL, Some(u64::MAX));
    Ok(order.cents)
}

#[stub]
async fn review(cx: &Cx, id: String, round: u64) -> u64;

#[stub(name = "put-in")]
async fn inject(cx: &Cx) -> String;

/// Stubs in each form, a mailbox among them, and sets that are dropped before their work was taken.
#[workflow]
pub(crate) async fn offers(cx: &Cx) -> Result<(Vec<u64>, Vec<String>), Error> {
    let mailbox = Mailbox::open(cx, inject);
    let mut verdicts = Vec::new();
    let offer = review(cx, "A-1 \"ü\"".to_owned(), 1).open()?;
    ship(cx, offer.reference().number).await?;
    verdicts.push(offer.await?);
    match review(cx, "A-1".to_owned(), 2).await {
        Ok(verdict) => verdicts.push(verdict),
        Err(StubError::Invalid { reference, .. }) => verdicts.push(1_000 + reference.number),
        Err(other) => return Err(other.into()),
    }
    let late = review(cx, "A-1".to_owned(), 3).timeout(days(1)).await?;
    verdicts.push(late.unwrap_or(2_000));
    let mut set = JoinSet::named(cx, "looks");
    set.submit(review(cx, "A-1".to_owned(), 4));
    let taken = set.submit(review(cx, "A-1".to_owned(), 5));
    set.submit(review(cx, "A-1".to_owned(), 6));
    if let Some(Ok(verdict)) = set.take(taken).await {
        verdicts.push(verdict);
    }
    drop(set);
    let mut others = JoinSet::named(cx, "others").on_close(Close::Detach);
    others.submit(async move { ship(cx, 9).await.map(drop) });
    drop(others);
    let mut put_in = Vec::new();
    while put_in.len() < 2 {
        put_in.push(mailbox.next().await?);
    }
    Ok((verdicts, put_in))
}

/// Sends to other runs and to itself, one after the other and at once, and gives up one.
#[workflow]
async fn sends(cx: &Cx, others: Vec<RunId>) -> Result<(Vec<u64>, Vec<String>), Error> {
    let (mut sent, mut not_sent) = (Vec::new(), Vec::new());
    let order = Order {
        id: "A-1 \"ü\"".to_owned(),
        cents: 1_200,
        note: None,
    };
    for run in &others {
        match cx.send(run, NOTE, &order).await {
            Ok(receipt) => sent.push(receipt.number),
            Err(failure) => not_sent.push(format!("{failure:?}")),
        }
    }
    let own = cx.run_id();
    let rings = others.iter().map(|run| cx.signal(run, BELL, &order.id));
    let (rung, sent_to_itself) = join!(join_all(rings), cx.send(&own, APPROVAL, &u64::MAX));
    sent.push(rung.iter().filter(|rung| rung.is_ok()).count() as u64);
    sent.push(sent_to_itself?.number);
    select! {
        _ = cx.send(&own, NOTE, &order) => {},
        _ = async {} => {},
    }
    sent.push(cx.receive(APPROVAL).await?);
    Ok((sent, not_sent))
}

const SET_LIMIT: Update<Order, Option<u64>, String> = Update::new("set:limit-of.the_shop");

/// Changes that are asked for, one of them in the unit in which the run ends.
#[workflow]
async fn updates(cx: &Cx, order: Order) -> Result<u64, Error> {
    let limit = Rc::new(Cell::new(None));
    let set = Rc::clone(&limit);
    cx.handle(
        SET_LIMIT,
        |_| Ok(()),
        move |order| set.replace(Some(order.cents)),
    );
    cx.until(|| limit.get() > Some(order.cents)).await;
    let shipped = ship(cx, 1).await?;
    cx.until(|| limit.get() == Some(0)).await;
    Ok(shipped)
}

/// Somebody says yes or no to an order.
#[stub]
async fn verdict(cx: &Cx, order: Order) -> String;

/// Fulfils what other runs offer and what it offers itself, one after the other and at once, and gives up one.
#[workflow]
async fn fulfils(cx: &Cx, asked: Vec<OperationId>) -> Result<(Vec<u64>, Vec<String>), Error> {
    let (mut given, mut refused) = (Vec::new(), Vec::new());
    let order = Order {
        id: "A-1 \"ü\"".to_owned(),
        cents: 1_200,
        note: None,
    };
    for reference in &asked {
        match cx.fulfil(reference, verdict, &"yes \"ü\"".to_owned()).await {
            Ok(receipt) => given.push(receipt.number),
            Err(failure) => refused.push(format!("{failure:?}")),
        }
    }
    let own = verdict(cx, order).open()?;
    let (by_itself, sent) = join!(
        cx.fulfil(&own.reference(), verdict, &"no".to_owned()),
        cx.send(&cx.run_id(), APPROVAL, &u64::MAX)
    );
    given.extend([by_itself?.number, sent?.number]);
    select! {
        _ = cx.fulfil(&asked[0], verdict, &"late".to_owned()) => {},
        _ = async {} => {},
    }
    refused.push(own.await?);
    Ok((given, refused))
}

pub(crate) fn all() -> Vec<WorkflowDefinition> {
    vec![
        WorkflowDefinition::of::<updates>(),
        WorkflowDefinition::of::<everything>(),
        WorkflowDefinition::of::<refuses>(),
        WorkflowDefinition::of::<waits>(),
        WorkflowDefinition::of::<receives>(),
        WorkflowDefinition::of::<publishes>(),
        WorkflowDefinition::of::<offers>(),
        WorkflowDefinition::of::<sends>(),
        WorkflowDefinition::of::<fulfils>(),
    ]
}
