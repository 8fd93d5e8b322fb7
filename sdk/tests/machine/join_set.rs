//! `JoinSet` (S8).

use perennial::prelude::*;

use crate::story::{Counted, Story, polls};

#[activity(pure)]
async fn part(_acx: &ActivityCx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

#[workflow]
async fn gather(cx: &Cx, count: u64) -> Result<Vec<u64>, Error> {
    let mut set = JoinSet::new(cx);
    for number in 1..=count {
        set.submit(part(cx, number));
    }
    assert_eq!(set.len() as u64, count);
    let mut order = Vec::new();
    while let Some(number) = set.next().await {
        order.push(number?);
    }
    assert!(set.is_empty());
    Ok(order)
}

#[test]
fn s8_members_begin_when_they_are_submitted_and_come_in_the_order_in_which_they_are_ready() {
    let mut story = Story::of::<gather>(3);
    assert_eq!(story.last().scheduled.len(), 3);
    for operation in [2, 3, 1] {
        story.complete(operation, operation);
    }
    assert_eq!(story.result::<Vec<u64>, Error>(), Ok(vec![2, 3, 1]));
}

#[test]
fn s8_a_member_that_is_ready_as_it_is_submitted_is_ready_before_the_others() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<String, Error> {
        let mut set = JoinSet::new(cx);
        let slow = cx.sleep(seconds(1));
        set.submit(async move { slow.await.map(|()| "slow") });
        set.submit(async move { Ok("at once") });
        set.submit(async move { Ok("too") });
        let mut names = Vec::new();
        while let Some(name) = set.next().await {
            names.push(name?);
        }
        Ok(names.join(", "))
    }
    let mut story = Story::of::<flow>(());
    story.fire(1);
    assert_eq!(
        story.result::<String, Error>(),
        Ok("at once, too, slow".into())
    );
}

#[test]
fn members_go_on_while_nobody_waits_for_the_next() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let mut set = JoinSet::new(cx);
        let own = cx.clone();
        set.submit(async move {
            own.sleep(seconds(1)).await?;
            part(&own, 7).await.map_err(Error::from)
        });
        cx.sleep(days(1)).await?;
        match set.next().await {
            Some(number) => number,
            None => Ok(0),
        }
    }
    let mut story = Story::of::<flow>(());
    assert_eq!(story.fire(1).scheduled.len(), 1);
    story.complete(3, 70);
    story.fire(2);
    assert_eq!(story.result::<u64, Error>(), Ok(70));
}

#[test]
fn a_window_keeps_only_so_many_at_work() {
    #[workflow]
    async fn flow(cx: &Cx, count: u64) -> Result<u64, Error> {
        let (mut set, mut sum) = (JoinSet::new(cx), 0);
        for number in 1..=count {
            if set.len() == 2
                && let Some(done) = set.next().await
            {
                sum += done?;
            }
            set.submit(part(cx, number));
        }
        while let Some(done) = set.next().await {
            sum += done?;
        }
        Ok(sum)
    }
    let mut story = Story::of::<flow>(5);
    for operation in [2, 1, 3, 5, 4] {
        assert!(story.machine().open_activities().len() <= 2);
        story.complete(operation, operation);
    }
    assert_eq!(story.result::<u64, Error>(), Ok(15));
}

#[test]
fn s12_dropping_a_set_drops_what_is_open_in_the_order_of_submission() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let first = {
            let mut set = JoinSet::new(cx);
            for number in 1..=4 {
                set.submit(part(cx, number));
            }
            set.next().await
        };
        cx.sleep(seconds(1)).await?;
        Ok(first.unwrap_or(Ok(0))?)
    }
    let mut story = Story::of::<flow>(());
    story.complete(2, 20);
    assert_eq!(story.machine().open_activities(), [1, 3, 4]);
    story.fire(5);
    assert_eq!(story.result::<u64, Error>(), Ok(20));
    insta::assert_snapshot!(story.text(), @"
     1 started      flow null
     2   activity   ~1 part 1                                        join_set.rs flow
     3   activity   ~2 part 2                                        join_set.rs flow
     4   activity   ~3 part 3                                        join_set.rs flow
     5   activity   ~4 part 4                                        join_set.rs flow
     6 completed    ~2 part 20
     7   dropped    ~1 part
     8   dropped    ~3 part
     9   dropped    ~4 part
    10   sleep      ~5                                               join_set.rs flow
    11 fired        ~5 sleep
    12 completed    20   left open: ~1 part, ~3 part, ~4 part
    ");
}

#[test]
fn a_set_that_is_dropped_by_one_of_its_own_members_is_no_trouble() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let set = std::rc::Rc::new(std::cell::RefCell::new(JoinSet::new(cx)));
        let (own, own_cx) = (std::rc::Rc::clone(&set), cx.clone());
        set.borrow_mut().submit(async move {
            own_cx.sleep(seconds(1)).await.ok();
            own.replace(JoinSet::new(&own_cx));
            // Still at work, though nobody would take what it gives.
            own_cx.sleep(seconds(1)).await.ok();
        });
        let day = cx.sleep(days(1));
        set.borrow_mut().submit(async move {
            day.await.ok();
        });
        cx.sleep(hours(1)).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    story.fire(1);
    insta::assert_snapshot!(story.text(), @"
    1 started      flow null
    2   sleep      ~1                                               join_set.rs flow
    3   sleep      ~2                                               join_set.rs flow
    4   sleep      ~3                                               join_set.rs flow
    5 fired        ~1 sleep
    6   dropped    ~2 sleep
    7   sleep      ~4                                               join_set.rs flow
    8   dropped    ~4 sleep
    ");
    story.fire(3);
    assert!(story.is_finished());
}

#[test]
fn sets_inside_members_of_sets_end_inside_out() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let mut outer = JoinSet::new(cx);
        for row in 0..3 {
            let cx = cx.clone();
            outer.submit(async move {
                let (mut inner, mut sum) = (JoinSet::new(&cx), 0);
                for column in 0..3 {
                    inner.submit(part(&cx, row * 3 + column));
                }
                while let Some(part) = inner.next().await {
                    sum += part.unwrap_or(0);
                }
                sum
            });
        }
        let mut sum = 0;
        while let Some(row) = outer.next().await {
            sum += row;
        }
        Ok(sum)
    }
    let mut story = Story::of::<flow>(());
    for operation in (1..=9).rev() {
        story.complete(operation, operation);
    }
    assert_eq!(story.result::<u64, Error>(), Ok(45));
}

#[test]
fn s8_a_set_of_n_costs_n() {
    #[workflow]
    async fn flow(cx: &Cx, count: u64) -> Result<u64, Error> {
        let mut set = JoinSet::new(cx);
        for number in 0..count {
            set.submit(Counted::new(part(cx, number)));
        }
        let mut sum = 0;
        while let Some(part) = set.next().await {
            sum += part?;
        }
        Ok(sum)
    }
    for count in [10, 1_000] {
        let mut story = Story::untold::<flow>().unchecked();
        story.observe(crate::story::started::<flow>(count));
        for operation in (1..=count).rev() {
            story.complete(operation, 1);
        }
        assert_eq!(story.result::<u64, Error>(), Ok(count));
        assert_eq!(polls() as u64, 2 * count);
    }
}
