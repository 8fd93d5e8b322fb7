//! `cx.spawn` (S8, S12).

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use perennial::prelude::*;

use crate::story::Story;

#[activity(pure)]
async fn part(_acx: &ActivityCx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

#[test]
fn s8_spawned_work_begins_at_once_and_goes_on_beside_the_workflow() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let own = cx.clone();
        let task = cx.spawn(async move {
            part(&own, 1).await?;
            part(&own, 2).await
        });
        cx.sleep(seconds(1)).await?;
        Ok(task.await?)
    }
    let mut story = Story::of::<flow>(());
    story.complete(1, 10);
    story.fire(2);
    story.complete(3, 20);
    assert_eq!(story.result::<u64, Error>(), Ok(20));
    insta::assert_snapshot!(story.text(), @"
    1 started      flow null
    2   activity   ~1 part 1                                        spawn.rs flow
    3   sleep      ~2                                               spawn.rs flow
    4 completed    ~1 part 10
    5   activity   ~3 part 2                                        spawn.rs flow
    6 fired        ~2 sleep
    7 completed    ~3 part 20
    8 completed    20
    ");
}

#[test]
fn dropping_the_task_does_not_stop_the_work() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let own = cx.clone();
        drop(cx.spawn(async move {
            own.sleep(seconds(1)).await.ok();
            part(&own, 1).await
        }));
        cx.sleep(days(1)).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    assert_eq!(story.fire(1).scheduled.len(), 1);
}

#[test]
fn s8_the_root_is_polled_before_spawned_tasks_and_these_in_the_order_in_which_they_began() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<String>, Error> {
        let order = Rc::new(RefCell::new(Vec::new()));
        let gate = Rc::new(Cell::new(0));
        let note = |who: &str| order.borrow_mut().push(format!("{who}{}", gate.get()));
        for name in ["first", "second"] {
            let (order, gate, own) = (Rc::clone(&order), Rc::clone(&gate), cx.clone());
            cx.spawn(async move {
                for _ in 0..2 {
                    order.borrow_mut().push(format!("{name}{}", gate.get()));
                    own.sleep(seconds(1)).await.ok();
                }
            });
        }
        note("root");
        cx.sleep(seconds(1)).await?;
        gate.set(1);
        note("root");
        cx.sleep(seconds(1)).await?;
        Ok(order.take())
    }
    let mut story = Story::of::<flow>(());
    for operation in [2, 1, 3, 6] {
        story.fire(operation);
    }
    assert_eq!(
        story.result::<Vec<String>, Error>().unwrap().join(" "),
        "first0 second0 root0 second0 first0 root1"
    );
}

#[test]
fn s12_what_is_still_open_at_the_return_is_dropped_in_the_order_in_which_it_began_and_listed() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        cx.spawn(part(cx, 1));
        cx.spawn(cx.sleep(days(1)));
        let (two, three) = (part(cx, 2), part(cx, 3));
        cx.spawn(async move { join!(two, three) });
        part(cx, 4).await?;
        Ok(7)
    }
    let mut story = Story::of::<flow>(());
    story.complete(5, 50);
    insta::assert_snapshot!(story.text(), @"
     1 started      flow null
     2   activity   ~1 part 1                                        spawn.rs flow
     3   sleep      ~2                                               spawn.rs flow
     4   activity   ~3 part 2                                        spawn.rs flow
     5   activity   ~4 part 3                                        spawn.rs flow
     6   activity   ~5 part 4                                        spawn.rs flow
     7 completed    ~5 part 50
     8   dropped    ~1 part
     9   dropped    ~2 sleep
    10   dropped    ~3 part
    11   dropped    ~4 part
    12 completed    7   left open: ~1 part, ~3 part, ~4 part
    ");
}

#[test]
fn spawning_inside_spawned_work_begins_at_once_too() {
    #[durable]
    async fn tree(cx: &Cx, depth: u64) -> u64 {
        if depth == 0 {
            return part(cx, depth).await.unwrap_or(0);
        }
        let cx = cx.clone();
        let (left, right) = (cx.clone(), cx.clone());
        let left = cx.spawn(async move { BoxDurable::new(tree(&left, depth - 1)).await });
        let right = cx.spawn(async move { BoxDurable::new(tree(&right, depth - 1)).await });
        left.await + right.await
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        Ok(tree(cx, 3).await)
    }
    let mut story = Story::of::<flow>(());
    assert_eq!(story.last().scheduled.len(), 8);
    for operation in (1..=8).rev() {
        story.complete(operation, 1);
    }
    assert_eq!(story.result::<u64, Error>(), Ok(8));
}

#[test]
fn a_task_can_be_awaited_from_another_one() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let first = cx.spawn(part(cx, 1));
        let second = cx.spawn(async move { first.await.map(|n| n + 1) });
        Ok(second.await?)
    }
    let mut story = Story::of::<flow>(());
    story.complete(1, 41);
    assert_eq!(story.result::<u64, Error>(), Ok(42));
}

#[test]
fn awaiting_a_task_again_after_its_end_blocks_the_run_and_does_not_hang_it() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let mut task = cx.spawn(cx.sleep(seconds(1)));
        (&mut task).await?;
        (&mut task).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    let blocked = story.blocked(perennial::history::Observation::TimerFired { operation: 1 });
    assert!(
        blocked.to_string().contains("a `Task` was awaited again"),
        "{blocked}"
    );
}

#[test]
fn blocks_take_the_cx_along_and_it_stays_that_of_their_own_run() {
    #[workflow]
    async fn flow(cx: &Cx, number: u64) -> Result<Vec<u64>, Error> {
        let task = cx.spawn(async move {
            let (a, b) = join!(part(cx, number), async move { cx.sleep(seconds(1)).await });
            b.ok();
            a
        });
        let mut set = JoinSet::new(cx);
        for add in 1..=2 {
            set.submit(async move { part(cx, number + add).await });
        }
        let mut results = vec![task.await?];
        while let Some(result) = set.next().await {
            results.push(result?);
        }
        Ok(results)
    }
    // Two runs on one thread, by turns; then one more that gets the handle of the first.
    let mut runs = [Story::of::<flow>(10), Story::of::<flow>(20)];
    for operation in [3, 1, 4] {
        for (base, story) in [10, 20].into_iter().zip(&mut runs) {
            story.complete(operation, base + operation);
        }
    }
    let [mut first, second] = runs;
    first.fire(2);
    assert_eq!(first.result::<Vec<u64>, Error>(), Ok(vec![11, 13, 14]));
    drop(first);
    let third = Story::of::<flow>(30);
    assert_eq!(third.last().scheduled.len(), 3);
    let mut second = second;
    second.fire(2);
    assert_eq!(second.result::<Vec<u64>, Error>(), Ok(vec![21, 23, 24]));
    insta::assert_snapshot!(third.text(), @"
    1 started      flow 30
    2   activity   ~1 part 30                                       spawn.rs flow
    3   sleep      ~2                                               spawn.rs flow
    4   activity   ~3 part 31                                       spawn.rs flow
    5   activity   ~4 part 32                                       spawn.rs flow
    ");
}
