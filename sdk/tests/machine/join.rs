//! `join!`, `try_join!`, `join_all` (S8).

use perennial::prelude::*;

use crate::story::{Counted, Story, polls};

#[activity(pure)]
async fn part(_acx: &ActivityCx, number: u64) -> Result<u64, Failure<String>> {
    Ok(number)
}

#[test]
fn s8_members_begin_in_source_order_and_their_results_keep_it() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<u64>, Error> {
        let (a, b, c) = join!(part(cx, 1), part(cx, 2), part(cx, 3));
        Ok(vec![a?, b?, c?])
    }
    let mut story = Story::of::<flow>(());
    story.complete(3, 30);
    story.complete(1, 10);
    story.complete(2, 20);
    assert_eq!(story.result::<Vec<u64>, Error>(), Ok(vec![10, 20, 30]));
    insta::assert_snapshot!(story.text(), @"
    1 started      flow null
    2   activity   ~1 part 1                                        join.rs flow
    3   activity   ~2 part 2                                        join.rs flow
    4   activity   ~3 part 3                                        join.rs flow
    5 completed    ~3 part 30
    6 completed    ~1 part 10
    7 completed    ~2 part 20
    8 completed    [10,20,30]
    ");
}

#[test]
fn members_of_several_steps_go_on_each_by_itself() {
    #[durable]
    async fn twice(cx: &Cx, number: u64) -> Result<u64, ActivityError<String>> {
        Ok(part(cx, number).await? + part(cx, number * 10).await?)
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let (a, b) = join!(twice(cx, 1), async move {
            cx.sleep(seconds(1)).await?;
            Ok::<_, Error>(7)
        });
        Ok(a? + b?)
    }
    let mut story = Story::of::<flow>(());
    story.complete(1, 1);
    story.fire(2);
    story.complete(3, 10);
    assert_eq!(story.result::<u64, Error>(), Ok(18));
}

#[test]
fn a_member_that_is_ready_at_once_needs_no_event() {
    #[durable]
    async fn ready(number: u64) -> u64 {
        number
    }
    #[workflow]
    async fn flow(_cx: &Cx) -> Result<u64, Error> {
        let (a, b) = join!(ready(1), ready(2));
        let none: Vec<u64> = join_all(Vec::<BoxDurable<'_, u64>>::new()).await;
        let all: u64 = join_all([ready(3), ready(4)]).await.into_iter().sum();
        Ok(a + b + none.len() as u64 + all)
    }
    assert_eq!(Story::of::<flow>(()).result::<u64, Error>(), Ok(10));
}

#[workflow]
async fn all_or_none(cx: &Cx) -> Result<u64, Error> {
    let (a, b, c) = try_join!(part(cx, 1), part(cx, 2), part(cx, 3))?;
    Ok(a + b + c)
}

fn no(why: &str) -> perennial::history::ActivityFailure {
    perennial::history::ActivityFailure::Rejected {
        value: perennial::value::Value::encode(why).unwrap(),
    }
}

#[test]
fn try_join_gives_the_values_or_the_first_error_and_drops_the_others() {
    let mut story = Story::of::<all_or_none>(());
    for (operation, value) in [(2, 2), (3, 3), (1, 1)] {
        story.complete(operation, value);
    }
    assert_eq!(story.result::<u64, Error>(), Ok(6));

    let mut story = Story::of::<all_or_none>(());
    story.complete(1, 1);
    story.fail(2, no("no"));
    assert_eq!(story.result::<u64, Error>(), Err(Error::new("no")));
    insta::assert_snapshot!(story.text(), @r#"
    1 started      all_or_none null
    2   activity   ~1 part 1                                        join.rs all_or_none
    3   activity   ~2 part 2                                        join.rs all_or_none
    4   activity   ~3 part 3                                        join.rs all_or_none
    5 completed    ~1 part 1
    6 failed       ~2 part rejected "no"
    7   dropped    ~3 part
    8 failed       {"message":"no"}   left open: ~3 part
    "#);
}

#[test]
fn of_two_errors_of_one_event_the_one_that_stands_first_is_given() {
    #[durable]
    async fn err(text: &'static str) -> Result<(), Error> {
        Err(Error::new(text))
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let ((), ()) = try_join!(
            async move {
                cx.sleep(seconds(1)).await?;
                err("first").await
            },
            err("second")
        )?;
        Ok(())
    }
    let story = Story::of::<flow>(());
    // The second is ready with the start, the first is not.
    assert_eq!(story.result::<(), Error>(), Err(Error::new("second")));

    #[workflow]
    async fn both(_cx: &Cx) -> Result<(), Error> {
        let ((), ()) = try_join!(err("first"), err("second"))?;
        Ok(())
    }
    let story = Story::of::<both>(());
    assert_eq!(story.result::<(), Error>(), Err(Error::new("first")));
}

#[test]
fn s8_a_fan_out_of_n_costs_n() {
    #[workflow]
    async fn flow(cx: &Cx, count: u64) -> Result<u64, Error> {
        let parts = (0..count).map(|number| Counted::new(part(cx, number)));
        let results = join_all(parts).await;
        results.into_iter().try_fold(0, |sum, part| Ok(sum + part?))
    }
    for count in [10, 1_000] {
        let mut story = Story::untold::<flow>().unchecked();
        story.observe(crate::story::started::<flow>(count));
        // From the last to the first, so that passing over costs most.
        for operation in (1..=count).rev() {
            story.complete(operation, 1);
        }
        assert_eq!(story.result::<u64, Error>(), Ok(count));
        // One poll to begin each, and one for its result.
        assert_eq!(polls() as u64, 2 * count);
    }
}

#[test]
fn s8_nested_fans_cost_no_more() {
    #[workflow]
    async fn flow(cx: &Cx, count: u64) -> Result<u64, Error> {
        let rows = (0..count).map(|_| {
            let row: Vec<_> = (0..count).map(|n| Counted::new(part(cx, n))).collect();
            async move { join_all(row).await.len() as u64 }
        });
        Ok(join_all(rows).await.into_iter().sum())
    }
    let mut story = Story::untold::<flow>().unchecked();
    story.observe(crate::story::started::<flow>(30));
    for operation in 1..=900 {
        story.complete(operation, 1);
    }
    assert_eq!(story.result::<u64, Error>(), Ok(900));
    assert_eq!(polls(), 1_800);
}

#[test]
fn awaiting_a_join_again_after_its_end_blocks_the_run_with_the_reason() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let mut all = join_all([cx.sleep(seconds(1))]);
        (&mut all).await;
        (&mut all).await;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    let blocked = story.blocked(perennial::history::Observation::TimerFired { operation: 1 });
    assert!(blocked.to_string().contains("awaited again"), "{blocked}");
}
