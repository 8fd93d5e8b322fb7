//! Conditions (`cx.until`): they are no events, hold at the first poll at which they do, and are looked at again whenever
//! something may have changed. Each story is told to a cold machine too.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use perennial::history::Observation;
use perennial::prelude::*;
use perennial::value::Value;

use crate::story::{Story, started};

const ADD: Update<u64, u64, String> = Update::new("add");

#[activity(idempotent)]
async fn ship(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

fn add(n: u64) -> Observation {
    Observation::UpdateAccepted {
        name: "add".to_owned(),
        input: Value::encode(&n).unwrap(),
        key: None,
    }
}

#[durable]
fn counter(cx: &Cx) -> Rc<Cell<u64>> {
    let sum = Rc::new(Cell::new(0));
    let add = Rc::clone(&sum);
    cx.handle(
        ADD,
        |_| Ok(()),
        move |n| {
            add.set(add.get() + n);
            add.get()
        },
    );
    sum
}

#[test]
fn a_condition_that_holds_is_over_at_once_and_leaves_nothing() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        cx.until(|| true).await;
        Ok(1)
    }
    let story = Story::of::<flow>(());
    assert!(story.is_finished());
    assert_eq!(story.units[0].decisions.len(), 1);
}

#[test]
fn a_condition_is_an_arm_like_any_other_and_its_loss_is_no_decision() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<u64>, Error> {
        let sum = counter(cx);
        let mut seen = Vec::new();
        for wanted in [2, 4] {
            select! {
                () = cx.until(|| sum.get() >= wanted) => seen.push(sum.get()),
                n = ship(cx, wanted) => seen.push(100 + n?),
            }
        }
        let (n, ()) = join!(ship(cx, 6), cx.until(|| sum.get() >= 6));
        seen.push(n? + sum.get());
        Ok(seen)
    }
    let mut story = Story::of::<flow>(());
    story.complete(1, 2);
    story.observe(add(1));
    story.observe(add(3));
    story.observe(add(1));
    story.complete(3, 6);
    story.observe(add(1));
    assert_eq!(story.result::<Vec<u64>, Error>().unwrap(), [102, 4, 12]);
}

/// What another line of the workflow has done in the same unit counts too, whichever of them is polled first.
#[test]
fn a_condition_is_looked_at_again_when_another_line_has_gone_on_in_the_same_unit() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<u64>, Error> {
        let done = Rc::new(RefCell::new(Vec::new()));
        for line in (1..=3).rev() {
            let done = Rc::clone(&done);
            drop(cx.spawn(async move {
                cx.until(|| done.borrow().len() as u64 >= line).await;
                done.borrow_mut().push(line);
            }));
        }
        let first = Rc::clone(&done);
        drop(cx.spawn(async move {
            let n = ship(cx, 7).await;
            first.borrow_mut().push(n.unwrap_or_default());
        }));
        cx.until(|| done.borrow().len() == 4).await;
        Ok(done.take())
    }
    let mut story = Story::of::<flow>(());
    story.complete(1, 7);
    assert_eq!(story.result::<Vec<u64>, Error>().unwrap(), [7, 1, 2, 3]);
}

#[test]
fn a_condition_that_is_awaited_alone_is_durable_and_an_endless_one_ends() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let never = Cell::new(false);
        cx.until(|| never.get()).await;
        Ok(())
    }
    let story = Story::of::<flow>(());
    assert!(!story.is_finished());

    #[workflow]
    async fn endless(cx: &Cx) -> Result<(), Error> {
        loop {
            cx.until(|| true).await;
        }
    }
    let blocked = Story::untold::<endless>()
        .unchecked()
        .blocked(started::<endless>(()));
    assert!(
        blocked.to_string().contains("polls after one event"),
        "{blocked}"
    );
}

#[test]
fn s14_a_condition_that_panics_or_decides_blocks_the_run() {
    #[workflow]
    async fn flow(cx: &Cx, panics: bool) -> Result<(), Error> {
        cx.until(|| {
            if panics {
                panic!("no")
            } else {
                cx.random::<bool>()
            }
        })
        .await;
        Ok(())
    }
    let texts = [true, false].map(|panics| {
        let blocked = Story::untold::<flow>().blocked(started::<flow>(panics));
        blocked.to_string()
    });
    insta::assert_snapshot!(texts.join("\n---\n"), @"
    run order-42 (flow) is blocked: the workflow's code panicked at its beginning [W101]

      no

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ---
    run order-42 (flow) is blocked: the workflow's code panicked at its beginning [W101]

      the `Cx` was used inside the condition of `cx.until`, which is looked at as often as something happens

      help: a condition only looks at what the workflow knows; decide something when it holds, after the await

    Nothing was changed. The run is tried again when a program is started that has the cause repaired.
    ");
}
