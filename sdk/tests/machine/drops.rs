//! What dropping means (S12): a decision during a poll, nothing at any other time.

use std::cell::Cell;

use perennial::history::Decision;
use perennial::prelude::*;

use crate::story::{BEGIN, Story, started};

#[activity(idempotent)]
async fn part(_acx: &ActivityCx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

/// Uses the `Cx` when it is dropped.
struct Noisy {
    cx: Cx,
    name: &'static str,
}

thread_local! {
    static DROPPED: Cell<u32> = const { Cell::new(0) };
}

impl Drop for Noisy {
    fn drop(&mut self) {
        DROPPED.set(DROPPED.get() + 1);
        let _: u64 = self.cx.random();
        self.cx.record(self.name, || 1);
        self.cx.log(format_args!("dropped {}", self.name));
        let cx = self.cx.clone();
        drop(self.cx.spawn(perennial::__private::durably(async move {
            let _ = cx.sleep(seconds(1)).await;
        })));
    }
}

#[workflow]
async fn holds(cx: &Cx) -> Result<(), Error> {
    let _noisy = Noisy {
        cx: cx.clone(),
        name: "local",
    };
    let other = Noisy {
        cx: cx.clone(),
        name: "in a task",
    };
    let own = cx.clone();
    cx.spawn(async move {
        let _other = other;
        own.sleep(days(1)).await.ok();
    });
    let mut set = JoinSet::new(cx);
    set.submit(part(cx, 1));
    let _ = join!(cx.sleep(days(1)), part(cx, 2));
    Ok(())
}

#[test]
fn s12_destroying_a_warm_machine_is_inert_whatever_the_workflow_holds() {
    let mut machine = Story::untold::<holds>().into_machine();
    machine.observe(started::<holds>(()), BEGIN, BEGIN).unwrap();
    let (timers, activities) = (machine.timers(), machine.open_activities());
    assert_eq!((timers.len(), activities.len()), (2, 2));
    drop(machine);
    assert_eq!(DROPPED.get(), 2);
}

#[test]
fn s12_during_a_poll_the_same_drops_are_decisions() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let noisy = Noisy {
            cx: cx.clone(),
            name: "first",
        };
        let call = Box::pin(part(cx, 1).into_future());
        select! {
            _ = async move {
                let _noisy = noisy;
                call.await
            } => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        Ok(1)
    }
    let mut story = Story::of::<flow>(());
    story.fire(2);
    insta::assert_snapshot!(story.text(), @"
     1 started      flow null
     2   activity   ~1 part 1                                        drops.rs flow
     3   sleep      ~2                                               drops.rs flow
     4 fired        ~2 sleep
     5   dropped    ~1 part
     6   random                                                      drops.rs
     7   recorded   first 1                                          drops.rs
     8   sleep      ~3
     9   dropped    ~3 sleep
    10 completed    1   left open: ~1 part
    ");
}

#[test]
fn s12_a_blocked_machine_is_dropped_in_silence_too() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let _noisy = Noisy {
            cx: cx.clone(),
            name: "local",
        };
        cx.sleep(seconds(1)).await?;
        panic!("as the test wants it");
    }
    let mut story = Story::of::<flow>(());
    let blocked = story.blocked(perennial::history::Observation::TimerFired { operation: 1 });
    assert_eq!(blocked.code(), "W101");
    drop(story);
}

#[test]
fn s12_a_machine_may_be_dropped_while_its_owner_panics() {
    let panicked = std::panic::catch_unwind(|| {
        let mut machine = Story::untold::<holds>().into_machine();
        machine.observe(started::<holds>(()), BEGIN, BEGIN).unwrap();
        panic!("as the test wants it");
    });
    assert!(panicked.is_err());
}

#[test]
fn a_drop_that_panics_takes_nothing_else_with_it() {
    struct Bomb(Cx);
    impl Drop for Bomb {
        fn drop(&mut self) {
            let _ = &self.0;
            panic!("as the test wants it");
        }
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        for name in ["a", "b"] {
            let (bomb, noisy) = (
                Bomb(cx.clone()),
                Noisy {
                    cx: cx.clone(),
                    name,
                },
            );
            let own = cx.clone();
            cx.spawn(async move {
                let _held = (bomb, noisy);
                own.sleep(days(1)).await.ok();
            });
        }
        let _bomb = Bomb(cx.clone());
        cx.sleep(days(1)).await?;
        Ok(())
    }
    let mut machine = Story::untold::<flow>().into_machine();
    machine.observe(started::<flow>(()), BEGIN, BEGIN).unwrap();
    drop(machine);
    assert_eq!(
        DROPPED.get(),
        2,
        "what stands behind the bombs is dropped as well"
    );
}

#[test]
fn an_operation_that_was_never_polled_is_dropped_without_a_trace() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        drop(part(cx, 1));
        drop(part(cx, 2).into_future());
        drop(cx.sleep(seconds(1)));
        drop(async move { part(cx, 3).await });
        drop(JoinSet::<u64>::new(cx));
        Ok(())
    }
    let story = Story::of::<flow>(());
    assert!(matches!(story.decisions(), [Decision::Completed { .. }]));
}

#[test]
fn an_operation_whose_result_is_there_is_dropped_without_a_trace() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let mut call = Box::pin(part(cx, 1).into_future());
        select! {
            _ = &mut call => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        cx.sleep(seconds(1)).await?;
        drop(call);
        cx.sleep(seconds(1)).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    story.fire(2);
    story.complete(1, 1);
    let step = story.fire(3);
    assert!(matches!(
        step.unit.decisions[..],
        [Decision::TimerStarted { .. }]
    ));
}

#[test]
fn drop_order_is_rusts_order_locals_last_first() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let mut first = Box::pin(part(cx, 1).into_future());
        let mut second = Box::pin(part(cx, 2).into_future());
        let mut third = Box::pin(part(cx, 3).into_future());
        select! {
            _ = &mut third => {},
            _ = &mut first => {},
            _ = &mut second => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    story.fire(4);
    insta::assert_snapshot!(story.text(), @"
     1 started      flow null
     2   activity   ~1 part 3                                        drops.rs flow
     3   activity   ~2 part 1                                        drops.rs flow
     4   activity   ~3 part 2                                        drops.rs flow
     5   sleep      ~4                                               drops.rs flow
     6 fired        ~4 sleep
     7   dropped    ~1 part
     8   dropped    ~3 part
     9   dropped    ~2 part
    10 completed    null   left open: ~1 part, ~2 part, ~3 part
    ");
}

#[test]
fn a_cx_that_was_carried_out_of_its_workflow_does_nothing() {
    thread_local! {
        static CARRIED: std::cell::RefCell<Option<(Cx, perennial::Sleep)>> =
            const { std::cell::RefCell::new(None) };
    }
    fn carry_out(cx: &Cx, sleep: perennial::Sleep) {
        CARRIED.set(Some((cx.clone(), sleep)));
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let mut sleep = Box::pin(cx.sleep(days(1)));
        select! {
            _ = &mut sleep => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        carry_out(cx, *std::pin::Pin::into_inner(sleep));
        cx.sleep(seconds(1)).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    story.fire(2);
    let (cx, sleep) = CARRIED.take().unwrap();
    let _: u64 = cx.random();
    let drawn = cx.record("outside", || 7);
    assert_eq!(drawn, 7);
    cx.log("outside");
    drop(cx.spawn(cx.sleep(seconds(1))));
    drop(sleep);
    // Nothing of it is in the next unit, which is the workflow's own.
    let step = story.fire(3);
    assert!(matches!(
        step.unit.decisions[..],
        [Decision::Completed { .. }]
    ));
}

#[test]
fn s12_values_that_are_dropped_with_their_machine_may_use_the_cx_that_was_lent_to_them() {
    struct Borrowing(&'static Cx);
    impl Drop for Borrowing {
        fn drop(&mut self) {
            DROPPED.set(DROPPED.get() + 1);
            self.0.log("dropped");
            let _: u64 = self.0.random();
            assert_eq!(self.0.run_id().as_str(), "order-42");
        }
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let _root = Borrowing(cx);
        cx.spawn(async move {
            let _task = Borrowing(cx);
            cx.sleep(days(1)).await.ok();
        });
        cx.sleep(days(1)).await?;
        Ok(())
    }
    let mut machine = Story::untold::<flow>().into_machine();
    machine.observe(started::<flow>(()), BEGIN, BEGIN).unwrap();
    drop(machine);
    assert_eq!(DROPPED.get(), 2);
}
