//! The programs of the scenarios.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use perennial::prelude::*;
use perennial::{ActivityDefinition, ActivityFn, States, WorkflowDefinition};

use super::super::watch::inject;
use super::effects::Effects;
use crate::registry::Registry;

pub(super) const LEFT: Message<u64> = Message::new("left");
pub(super) const RIGHT: Message<u64> = Message::new("right");
pub(super) const GO: Signal<u64> = Signal::new("go");
pub(super) const HALT: Signal<u64> = Signal::new("halt");
pub(super) const RAISE: Update<u64, u64, String> = Update::new("raise");
const OUT: Stream<u64> = Stream::new("out");
const LOG: Stream<String> = Stream::new("log");
const STAGE: View<String> = View::new("stage");

/// Has no effect.
#[activity(pure)]
async fn double(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(2 * n)
}

/// Has an effect, once for each key.
#[activity(idempotent)]
async fn pay(acx: &ActivityCx, what: String) -> Result<u64, Failure> {
    let effects = acx.state::<Arc<Effects>>();
    effects.make(acx.idempotency_key(), &what);
    Ok(what.len() as u64)
}

/// Comes to nothing the first time.
#[activity(idempotent)]
async fn stumble(acx: &ActivityCx, what: String) -> Result<u64, Failure> {
    let effects = acx.state::<Arc<Effects>>();
    if effects.make(acx.idempotency_key(), &what) {
        return Err(Failure::transient("not yet"));
    }
    Ok(what.len() as u64)
}

/// Says no.
#[activity(pure)]
async fn refuse(_acx: &ActivityCx) -> Result<u64, String> {
    Err("no".to_owned())
}

/// Somebody outside says something.
#[stub]
pub(super) async fn review(cx: &Cx) -> u64;

/// Activities one after the other and at once, one that is tried again, and one that says no.
#[workflow]
pub(super) async fn works(cx: &Cx) -> Result<Vec<u64>, Error> {
    let first = double(cx, 4).await?;
    let (one, two) = join!(pay(cx, "one".to_owned()), pay(cx, "and two".to_owned()));
    let third = stumble(cx, "three".to_owned()).await?;
    let refused = u64::from(refuse(cx).await.is_err());
    let last = pay(cx, "the last".to_owned()).await?;
    Ok(vec![first, one?, two?, third, refused, last])
}

/// More activities at once than may run at once.
#[workflow]
pub(super) async fn fans(cx: &Cx) -> Result<u64, Error> {
    let all = (0..4).map(|n| pay(cx, "x".repeat(n + 1)));
    let paid = join_all(all).await;
    let mut sum = 0;
    for paid in paid {
        sum += paid?;
    }
    Ok(sum)
}

/// Timers one after the other and at once, and waits that come to nothing.
#[workflow]
pub(super) async fn naps(cx: &Cx) -> Result<Vec<u64>, Error> {
    cx.sleep(seconds(3)).await?;
    let (long, short) = join!(cx.sleep(seconds(9)), cx.sleep(seconds(5)));
    long?;
    short?;
    let nothing = cx.receive(LEFT).timeout(seconds(2)).await?;
    let first = select! {
        _ = cx.sleep(seconds(7)) => 7,
        _ = cx.sleep(seconds(4)) => 4,
    };
    Ok(vec![nothing.unwrap_or_default(), first])
}

/// Messages, some of which are there before they are waited for.
#[workflow]
pub(super) async fn listens(cx: &Cx) -> Result<Vec<u64>, Error> {
    let first = cx.receive(LEFT).await?;
    let (left, right) = join!(cx.receive(LEFT), cx.receive(RIGHT));
    let doubled = double(cx, first).await?;
    let last = cx.receive(LEFT).timeout(hours(1)).await?;
    Ok(vec![
        first,
        left?,
        right?,
        doubled,
        last.unwrap_or_default(),
    ])
}

/// Signals, one of which two wait for.
#[workflow]
pub(super) async fn heeds(cx: &Cx) -> Result<Vec<u64>, Error> {
    let (one, two) = join!(cx.wait_for(GO), cx.wait_for(GO));
    let paid = pay(cx, "go".to_owned()).await?;
    let last = cx.wait_for(HALT).await?;
    Ok(vec![one?, two?, paid, last])
}

/// Tells another run something, itself too, and one that is not there.
#[workflow]
pub(super) async fn asks(cx: &Cx, other: RunId) -> Result<Vec<u64>, Error> {
    cx.send(&other, LEFT, &1).await?;
    let mut heard = vec![cx.receive(LEFT).await?];
    let (two, three) = join!(cx.send(&other, LEFT, &2), cx.send(&other, RIGHT, &3));
    two?;
    three?;
    heard.push(cx.receive(LEFT).await?);
    cx.signal(&other, GO, &4).await?;
    cx.send(&cx.run_id(), RIGHT, &5).await?;
    heard.push(cx.receive(RIGHT).await?);
    let nobody = RunId::new("nobody")?;
    heard.push(u64::from(cx.send(&nobody, LEFT, &6).await.is_err()));
    heard.push(cx.receive(LEFT).await?);
    Ok(heard)
}

/// The other one.
#[workflow]
pub(super) async fn answers(cx: &Cx, from: RunId) -> Result<Vec<u64>, Error> {
    let first = cx.receive(LEFT).await?;
    pay(cx, "the answer".to_owned()).await?;
    let heard = cx.spawn(cx.wait_for(GO));
    cx.send(&from, LEFT, &(10 * first)).await?;
    let (two, three) = join!(cx.receive(LEFT), cx.receive(RIGHT));
    let (two, three) = (two?, three?);
    cx.send(&from, LEFT, &(two + three)).await?;
    let go = heard.await?;
    cx.send(&from, LEFT, &go).await?;
    Ok(vec![first, two, three, go])
}

/// Offers of all kinds: fulfilled, dropped, out of time, of a mailbox, left open at the end.
#[workflow]
pub(super) async fn confers(cx: &Cx) -> Result<Vec<u64>, Error> {
    let mailbox = Mailbox::open(cx, inject);
    let mut heard = vec![mailbox.next().await?];
    heard.push(review(cx).timeout(seconds(5)).await?.unwrap_or_default());
    let vain = review(cx).open()?;
    heard.push(pay(cx, "meanwhile".to_owned()).await?);
    drop(vain);
    heard.push(mailbox.next().await?);
    let (said, mail) = join!(review(cx), mailbox.next());
    heard.extend([said?, mail?]);
    let _left = review(cx).open()?;
    heard.push(double(cx, 1).await?);
    Ok(heard)
}

/// Waits for what another run gives it, and tells that one where.
#[workflow]
pub(super) async fn wants(cx: &Cx, from: RunId) -> Result<Vec<u64>, Error> {
    let mut given = Vec::new();
    for _ in 0..2 {
        let call = review(cx).open()?;
        cx.send(&from, LEFT, &call.reference().number).await?;
        given.push(call.await?);
    }
    Ok(given)
}

/// The other one. It gives itself something too, and somebody who is not there.
#[workflow]
pub(super) async fn gives(cx: &Cx, to: RunId) -> Result<Vec<u64>, Error> {
    let mut called = Vec::new();
    for value in [10, 20] {
        let number = cx.receive(LEFT).await?;
        let reference = OperationId {
            run: to.clone(),
            number,
        };
        cx.fulfil(&reference, review, &value).await?;
        let again = cx.fulfil(&reference, review, &(value + 1)).await;
        called.extend([number, u64::from(again.is_err())]);
    }
    let own = review(cx).open()?;
    cx.fulfil(&own.reference(), review, &30).await?;
    called.push(own.await?);
    let nobody = OperationId {
        run: RunId::new("nobody")?,
        number: 1,
    };
    called.push(u64::from(cx.fulfil(&nobody, review, &1).await.is_err()));
    Ok(called)
}

/// Changes that are asked for, between other things.
#[workflow]
pub(super) async fn yields(cx: &Cx) -> Result<Vec<u64>, Error> {
    let level = Rc::new(Cell::new(0));
    let raised = Rc::clone(&level);
    cx.handle(
        RAISE,
        |by: &u64| {
            if *by > 100 {
                Err("too much".to_owned())
            } else {
                Ok(())
            }
        },
        move |by| {
            raised.set(raised.get() + by);
            raised.get()
        },
    );
    let first = Rc::clone(&level);
    cx.until(move || first.get() >= 2).await;
    cx.emit(OUT, level.get());
    cx.until(|| level.get() >= 7).await;
    let paid = pay(cx, "raised".to_owned()).await?;
    Ok(vec![level.get(), paid])
}

/// Says how much it has by now, and is told more.
#[stub]
pub(super) async fn consult(cx: &Cx, so_far: u64) -> u64;

/// Is asked several times, and answers each time but the last, with which it ends.
#[workflow]
pub(super) async fn consults(cx: &Cx) -> Result<u64, Error> {
    let mut so_far = 0;
    for _ in 0..3 {
        so_far += consult(cx, so_far).await?;
        pay(cx, so_far.to_string()).await?;
    }
    Ok(so_far)
}

/// Waits for several things, and is paused meanwhile.
#[workflow]
pub(super) async fn rests(cx: &Cx) -> Result<Vec<u64>, Error> {
    let paid = pay(cx, "at first".to_owned()).await?;
    let (slept, heard) = join!(cx.sleep(seconds(3)), cx.receive(LEFT));
    slept?;
    cx.emit(OUT, paid);
    let review = review(cx).open()?;
    let more = pay(cx, "then".to_owned()).await?;
    let (said, again) = join!(review, cx.receive(LEFT));
    let last = cx.receive(RIGHT).timeout(hours(1)).await?;
    Ok(vec![heard?, more, said?, again?, last.unwrap_or_default()])
}

/// Has an offer, a timer, an activity and a wait open when it is forked.
#[workflow]
pub(super) async fn parts(cx: &Cx) -> Result<Vec<u64>, Error> {
    let review = review(cx).open()?;
    let first = pay(cx, "before".to_owned()).await?;
    cx.emit(OUT, first);
    cx.set(STAGE, "parts".to_owned());
    let (slept, paid, heard, said) = join!(
        cx.sleep(seconds(3)),
        pay(cx, "in the middle".to_owned()),
        cx.receive(LEFT),
        review
    );
    slept?;
    let (paid, heard) = (paid?, heard?);
    cx.emit(OUT, heard);
    let last = pay(cx, "after".to_owned()).await?;
    Ok(vec![paid, heard, said?, last])
}

/// Streams and a view, between other things.
#[workflow]
pub(super) async fn tells(cx: &Cx) -> Result<u64, Error> {
    cx.set(STAGE, "begins".to_owned());
    cx.emit(OUT, 1);
    cx.emit(LOG, "began".to_owned());
    let paid = pay(cx, "told".to_owned()).await?;
    cx.emit(OUT, paid);
    cx.emit(OUT, paid + 1);
    cx.sleep(seconds(1)).await?;
    cx.set(STAGE, "listens".to_owned());
    let heard = cx.receive(LEFT).await?;
    cx.emit(OUT, heard);
    cx.emit(LOG, "heard".to_owned());
    let doubled = double(cx, heard).await?;
    cx.emit(OUT, doubled);
    cx.set(STAGE, "done".to_owned());
    Ok(doubled)
}

/// A little of everything, and an error in the end.
#[workflow]
pub(super) async fn orders(cx: &Cx, ledger: RunId) -> Result<u64, Error> {
    let mailbox = Mailbox::open(cx, inject);
    let amount = cx.receive(LEFT).await?;
    cx.emit(OUT, amount);
    let (paid, booked) = join!(pay(cx, "order".to_owned()), cx.send(&ledger, LEFT, &amount));
    booked?;
    cx.set(STAGE, "paid".to_owned());
    let mail = select! {
        mail = mailbox.next() => mail?,
        _ = cx.sleep(days(3)) => 0,
    };
    cx.emit(OUT, mail);
    let said = review(cx).timeout(days(1)).await?;
    cx.sleep(seconds(1)).await?;
    cx.send(&ledger, RIGHT, &(paid? + mail)).await?;
    Err(Error::new(format!("no: {said:?}")))
}

/// Takes what orders send.
#[workflow]
pub(super) async fn books(cx: &Cx) -> Result<u64, Error> {
    let amount = cx.receive(LEFT).await?;
    cx.emit(OUT, amount);
    let rest = cx.receive(RIGHT).await?;
    pay(cx, format!("{amount} and {rest}")).await?;
    Ok(amount + rest)
}

/// Does something, and waits for what does not come. It is moved.
#[workflow]
pub(super) async fn moves(cx: &Cx) -> Result<u64, Error> {
    let paid = pay(cx, "before".to_owned()).await?;
    cx.emit(OUT, paid);
    Ok(paid + cx.receive(LEFT).await?)
}

/// What it is moved to.
#[workflow]
pub(super) async fn moved(cx: &Cx, paid: u64) -> Result<u64, Error> {
    let doubled = double(cx, paid).await?;
    let heard = cx.receive(RIGHT).await?;
    Ok(doubled + heard)
}

#[migration(from = moves, to = moved)]
pub(super) fn onward(old: &OldRun) -> Result<u64, Refuse> {
    Ok(old.last_result(pay)?.unwrap_or_default())
}

/// A program that has these workflows, and all activities.
pub(super) fn registry(
    workflows: impl IntoIterator<Item = WorkflowDefinition>,
    effects: &Arc<Effects>,
) -> Registry {
    fn activity<M, F: ActivityFn<M>>(registry: &mut Registry, _: F) {
        registry.add_activity(ActivityDefinition::of::<F::A>());
    }
    let mut registry = Registry::default();
    workflows
        .into_iter()
        .for_each(|workflow| registry.add_workflow(workflow));
    activity(&mut registry, double);
    activity(&mut registry, pay);
    activity(&mut registry, stumble);
    activity(&mut registry, refuse);
    let mut states = States::default();
    states.insert(Arc::clone(effects));
    registry.states = Arc::new(states);
    registry
}
