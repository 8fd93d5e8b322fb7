//! Join sets that know their members by name and number (B10, B19).

use perennial::history::Decision;
use perennial::prelude::*;

use crate::story::Story;

#[activity(idempotent)]
async fn work(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

#[stub]
async fn review(cx: &Cx) -> String;

#[test]
fn b02_the_member_that_is_taken_is_the_one_that_was_submitted() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<u64>, Error> {
        let mut set = JoinSet::named(cx, "work");
        let first = set.submit(work(cx, 10));
        let second = set.submit(work(cx, 20));
        assert_ne!(first, second);
        assert_eq!((first.number(), second.number()), (1, 2));
        assert_eq!(format!("{second:?}"), "#2");
        assert_eq!(set.last_id(), None);
        let mut order = Vec::new();
        while let Some((id, result)) = set.next_with_id().await {
            assert_eq!(set.last_id(), Some(id));
            order.extend([id.number(), result?]);
        }
        Ok(order)
    }
    let mut story = Story::of::<flow>(());
    story.complete(2, 21);
    story.complete(1, 11);
    assert_eq!(story.result::<Vec<u64>, Error>(), Ok(vec![2, 21, 1, 11]));
}

#[test]
fn what_is_ready_can_be_taken_without_waiting() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(bool, Vec<u64>), Error> {
        let mut set = JoinSet::new(cx);
        for n in 1..=3 {
            set.submit(work(cx, n));
        }
        let before = set.try_next().is_some();
        cx.sleep(seconds(1)).await?;
        let mut ready = Vec::new();
        while let Some(result) = set.try_next() {
            ready.push(result?);
        }
        Ok((before, ready))
    }
    let mut story = Story::of::<flow>(());
    story.complete(3, 3);
    story.complete(1, 1);
    story.fire(4);
    // The second one is still at work, and is left behind.
    assert_eq!(
        story.result::<(bool, Vec<u64>), Error>(),
        Ok((false, vec![3, 1]))
    );
}

#[test]
fn b10_what_nobody_has_taken_when_a_set_is_dropped_is_dropped_and_recorded() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let mut set = JoinSet::named(cx, "work");
        for n in 1..=3 {
            set.submit(work(cx, n));
        }
        let first = set.next().await.unwrap()?;
        drop(set);
        cx.sleep(seconds(1)).await?;
        Ok(first)
    }
    let mut story = Story::of::<flow>(());
    story.complete(2, 2);
    story.fire(4);
    insta::assert_snapshot!(story.text(), @"
     1 started      flow null
     2   activity   ~1 work 1                                        scopes.rs flow
     3   activity   ~2 work 2                                        scopes.rs flow
     4   activity   ~3 work 3                                        scopes.rs flow
     5 completed    ~2 work 2
     6   closed     work   drops #1, #3
     7   dropped    ~1 work
     8   dropped    ~3 work
     9   sleep      ~4                                               scopes.rs flow
    10 fired        ~4 sleep
    11 completed    2   left open: ~1 work, ~3 work
    ");
}

#[test]
fn b10_what_nobody_has_taken_goes_on_where_that_was_declared() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let mut set = JoinSet::named(cx, "work").on_close(Close::Detach);
        for n in 1..=2 {
            set.submit(async move {
                let n = work(cx, n).await?;
                work(cx, 10 * n).await
            });
        }
        drop(set);
        cx.sleep(seconds(1)).await?;
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    story.complete(1, 1);
    let [Decision::ActivityScheduled { operation: 4, .. }] = story.decisions() else {
        panic!("it does not go on: {}", story.text());
    };
    story.fire(3);
    insta::assert_snapshot!(story.text(), @"
     1 started      flow null
     2   activity   ~1 work 1                                        scopes.rs flow
     3   activity   ~2 work 2                                        scopes.rs flow
     4   closed     work   lets go on #1, #2
     5   sleep      ~3                                               scopes.rs flow
     6 completed    ~1 work 1
     7   activity   ~4 work 10                                       scopes.rs flow
     8 fired        ~3 sleep
     9   dropped    ~4 work
    10   dropped    ~2 work
    11 completed    null   left open: ~2 work, ~4 work
    ");
}

#[test]
fn b10_a_set_that_was_emptied_has_nothing_to_record() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(), Error> {
        let mut set = JoinSet::named(cx, "work");
        set.submit(work(cx, 1));
        while let Some(result) = set.next().await {
            result?;
        }
        Ok(())
    }
    let mut story = Story::of::<flow>(());
    story.complete(1, 1);
    assert_eq!(story.decisions().len(), 1, "{}", story.text());
}

#[test]
fn b10_replay_compares_the_name_the_policy_and_what_was_left() {
    macro_rules! flow {
        ($name:ident, $set:expr) => {
            #[workflow(name = "flow")]
            async fn $name(cx: &Cx) -> Result<(), Error> {
                let set: fn(&'static Cx) -> JoinSet<_> = $set;
                let mut set = set(cx);
                set.submit(work(cx, 1));
                drop(set);
                Ok(())
            }
        };
    }
    flow!(flow, |cx| JoinSet::named(cx, "work"));
    flow!(renamed, |cx| JoinSet::named(cx, "jobs"));
    flow!(detached, |cx| JoinSet::named(cx, "work")
        .on_close(Close::Detach));
    flow!(nameless, |cx| JoinSet::new(cx));
    let story = Story::of::<flow>(());
    let texts = [
        story.blocked_on::<renamed>(),
        story.blocked_on::<detached>(),
        story.blocked_on::<nameless>(),
    ]
    .map(|blocked| blocked.to_string());
    insta::assert_snapshot!(texts.join("\n\n---\n\n"));
}

/// Of a set of several kinds each member is taken as what it is, and a wait for one takes no other.
#[test]
fn b19_a_wait_for_one_member_takes_no_other() {
    #[derive(Debug)]
    enum Event {
        Worked(u64),
        Reviewed(String),
    }
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<String>, Error> {
        let mut set = JoinSet::named(cx, "mixed");
        let mut other = JoinSet::named(cx, "other");
        let slow = set.submit(async move { Ok(Event::Worked(work(cx, 1).await?)) });
        let review = set.submit(async move { Ok::<_, Error>(Event::Reviewed(review(cx).await?)) });
        let stranger = other.submit(work(cx, 2));
        let mut seen = Vec::new();
        assert!(set.take(stranger).await.is_none());
        let Some(Ok(Event::Reviewed(text))) = set.take(review).await else {
            panic!("it is the review that was asked for");
        };
        seen.push(text);
        assert_eq!(set.last_id(), Some(review));
        assert!(set.take(review).await.is_none());
        let Some(Ok(Event::Worked(n))) = set.take(slow).await else {
            panic!("it is the work that was asked for");
        };
        seen.push(n.to_string());
        seen.push(other.next().await.unwrap()?.to_string());
        Ok(seen)
    }
    let mut story = Story::of::<flow>(());
    // What is ready first is not taken for what is waited for.
    story.complete(1, 11);
    story.complete(3, 33);
    assert!(!story.is_finished());
    story.fulfil(2, "good");
    assert_eq!(
        story.result::<Vec<String>, Error>(),
        Ok(vec!["good".into(), "11".into(), "33".into()])
    );
}
