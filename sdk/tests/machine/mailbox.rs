//! Mailboxes (acceptance/mailbox.md): exactly one offer at all times, whatever the workflow is at.

use perennial::history::Decision;
use perennial::machine::Offered;
use perennial::prelude::*;
use proptest::prelude::{Strategy, any, prop, prop_oneof, proptest};

use crate::story::Story;

#[activity(idempotent)]
async fn work(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

#[stub]
async fn inject(cx: &Cx) -> u64;

#[stub]
async fn inject_for(cx: &Cx, whom: String) -> u64;

/// Hears what is injected until that is 0.
#[workflow]
async fn listen(cx: &Cx) -> Result<Vec<u64>, StubError> {
    let mailbox = Mailbox::open(cx, inject);
    let mut heard = Vec::new();
    loop {
        match mailbox.next().await? {
            0 => return Ok(heard),
            n => heard.push(n),
        }
    }
}

#[test]
fn b06_the_next_offer_is_opened_in_the_unit_that_takes_the_one_before() {
    let mut story = Story::of::<listen>(());
    assert_eq!(story.machine().open_offers(), [1]);
    let opened = |operation| Offered::Opened {
        operation,
        name: "inject",
    };
    for operation in 1..=3 {
        story.fulfil(operation, 7);
        assert_eq!(story.last().offers, [opened(operation + 1)]);
        assert_eq!(story.machine().open_offers(), [operation + 1]);
    }
    story.fulfil(4, 0);
    assert_eq!(
        story.last().offers,
        [opened(5), Offered::Closed { operation: 5 }]
    );
    assert_eq!(story.result::<Vec<u64>, StubError>(), Ok(vec![7, 7, 7]));
    insta::assert_snapshot!(story.text(), @"
     1 started      listen null
     2   stub       ~1 inject null                                   mailbox.rs
     3 fulfilled    ~1 inject 7
     4   stub       ~2 inject null                                   mailbox.rs
     5 fulfilled    ~2 inject 7
     6   stub       ~3 inject null                                   mailbox.rs
     7 fulfilled    ~3 inject 7
     8   stub       ~4 inject null                                   mailbox.rs
     9 fulfilled    ~4 inject 0
    10   stub       ~5 inject null                                   mailbox.rs
    11   dropped    ~5 inject
    12 completed    [7,7,7]
    ");
}

#[test]
fn b06_there_is_an_offer_also_while_the_workflow_waits_for_something_else() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<u64>, Error> {
        let mailbox = Mailbox::open_with(cx, inject_for, "Ada".to_owned());
        let first = mailbox.reference();
        work(cx, 1).await?;
        assert_ne!(mailbox.reference(), first);
        assert_eq!(mailbox.len(), 2);
        let mut heard = Vec::new();
        while let Some(mail) = mailbox.try_next() {
            heard.push(mail?);
        }
        assert!(mailbox.is_empty());
        heard.push(mailbox.next().await?);
        Ok(heard)
    }
    let mut story = Story::of::<flow>(());
    story.fulfil(1, 5);
    story.fulfil(3, 6);
    assert_eq!(story.machine().open_offers(), [4]);
    story.complete(2, 1);
    story.fulfil(4, 8);
    assert_eq!(story.result::<Vec<u64>, Error>(), Ok(vec![5, 6, 8]));
    insta::assert_snapshot!(story.text(), @r#"
     1 started      flow null
     2   stub       ~1 inject_for "Ada"                              mailbox.rs
     3   activity   ~2 work 1                                        mailbox.rs flow
     4 fulfilled    ~1 inject_for 5
     5   stub       ~3 inject_for "Ada"                              mailbox.rs
     6 fulfilled    ~3 inject_for 6
     7   stub       ~4 inject_for "Ada"                              mailbox.rs
     8 completed    ~2 work 1
     9 fulfilled    ~4 inject_for 8
    10   stub       ~5 inject_for "Ada"                              mailbox.rs
    11   dropped    ~5 inject_for
    12 completed    [5,6,8]
    "#);
}

#[workflow]
async fn race(cx: &Cx) -> Result<String, Error> {
    let mailbox = Mailbox::open(cx, inject);
    let taken = select! {
        mail = mailbox.next() => format!("mail {}", mail?),
        done = work(cx, 1) => format!("work {}", done?),
    };
    cx.sleep(seconds(1)).await?;
    let rest = mailbox.try_next().transpose()?;
    Ok(format!("{taken}, then {rest:?}"))
}

#[test]
fn b08_of_an_offer_and_work_the_one_wins_that_comes_first_and_replay_takes_the_same_branch() {
    // The story replays each of its units on cold machines.
    let mut story = Story::of::<race>(());
    story.fulfil(1, 5);
    let [
        ..,
        Decision::Dropped { operation: 2 },
        Decision::TimerStarted { .. },
    ] = story.decisions()
    else {
        panic!("the work is not dropped: {}", story.text());
    };
    story.complete(2, 9);
    story.fire(4);
    let result = story.result::<String, Error>();
    assert_eq!(result, Ok("mail 5, then None".into()));

    let mut story = Story::of::<race>(());
    story.complete(2, 9);
    story.fulfil(1, 5);
    story.fire(3);
    // What lost the race has not taken what came for it.
    let result = story.result::<String, Error>();
    assert_eq!(result, Ok("work 9, then Some(5)".into()));
}

#[test]
fn b09_what_is_injected_while_work_is_in_flight_does_not_stop_it() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u64, Vec<u64>), Error> {
        let mailbox = Mailbox::open(cx, inject);
        let mut heard = Vec::new();
        let mut task = cx.spawn(work(cx, 1));
        loop {
            select! {
                mail = mailbox.next() => heard.push(mail?),
                done = &mut task => return Ok((done?, heard)),
            }
        }
    }
    let mut story = Story::of::<flow>(());
    story.fulfil(1, 5);
    story.fulfil(3, 6);
    assert_eq!(story.machine().open_activities(), [2]);
    story.complete(2, 9);
    let result = story.result::<(u64, Vec<u64>), Error>();
    assert_eq!(result, Ok((9, vec![5, 6])));
    let all = story.units.iter().flat_map(|unit| &unit.decisions);
    let dropped: Vec<_> = all
        .filter(|decision| matches!(decision, Decision::Dropped { .. }))
        .collect();
    // The offer alone, at the end.
    assert_eq!(dropped, [&Decision::Dropped { operation: 4 }]);
}

#[test]
fn b02_a_mailbox_is_a_member_of_a_set_and_the_member_that_was_taken_is_its_own() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<Vec<u64>, Error> {
        let mailbox = Mailbox::open(cx, inject);
        let mut set = JoinSet::named(cx, "turn");
        let offer = set.submit(mailbox.next());
        let other = set.submit(async move { Ok(work(cx, 1).await.unwrap()) });
        let mut order = Vec::new();
        let first = set.next().await.unwrap()?;
        order.extend([u64::from(set.last_id() == Some(offer)), first]);
        let second = set.next().await.unwrap()?;
        order.extend([u64::from(set.last_id() == Some(other)), second]);
        Ok(order)
    }
    let mut story = Story::of::<flow>(());
    story.fulfil(1, 5);
    story.complete(2, 9);
    assert_eq!(story.result::<Vec<u64>, Error>(), Ok(vec![1, 5, 1, 9]));
}

#[test]
fn several_that_wait_are_served_in_their_order_and_who_leaves_takes_nothing() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(u64, u64), Error> {
        let mailbox = Mailbox::open(cx, inject);
        let left = mailbox.next();
        let (first, second) = (mailbox.next(), mailbox.next());
        select! {
            _ = left => {},
            _ = cx.sleep(seconds(1)) => {},
        }
        let (first, second) = join!(first, second);
        Ok((first?, second?))
    }
    let mut story = Story::of::<flow>(());
    story.fire(2);
    story.fulfil(1, 5);
    story.fulfil(3, 6);
    assert_eq!(story.result::<(u64, u64), Error>(), Ok((5, 6)));
}

#[test]
fn m37_what_is_not_of_the_type_is_told_and_the_next_offer_is_open_all_the_same() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<(String, u64), Error> {
        let mailbox = Mailbox::open(cx, inject);
        let error = mailbox.next().await.unwrap_err();
        Ok((error.to_string(), mailbox.next().await?))
    }
    let mut story = Story::of::<flow>(());
    story.fulfil(1, "five");
    assert_eq!(story.machine().open_offers(), [2]);
    story.fulfil(2, 5);
    insta::assert_snapshot!(story.text(), @r#"
    1 started      flow null
    2   stub       ~1 inject null                                   mailbox.rs
    3 fulfilled    ~1 inject "five"
    4   invalid    ~1 inject   the value does not decode as `u64`: invalid type: string \"five\", expected u64
    5   stub       ~2 inject null                                   mailbox.rs
    6 fulfilled    ~2 inject 5
    7   stub       ~3 inject null                                   mailbox.rs
    8   dropped    ~3 inject
    9 completed
             [
               "what the stub `inject` was fulfilled with, as order-42~1, is not of its type: "
               "the value does not decode as `u64`: invalid type: string \"five\", expected u64",
               5
             ]
    "#);
}

#[test]
fn dropping_a_mailbox_closes_its_offer_and_that_is_compared() {
    #[workflow]
    async fn flow(cx: &Cx) -> Result<u64, Error> {
        let mailbox = Mailbox::open(cx, inject);
        let first = mailbox.next().await?;
        drop(mailbox);
        cx.sleep(seconds(1)).await?;
        Ok(first)
    }
    #[workflow(name = "flow")]
    async fn keeps(cx: &Cx) -> Result<u64, Error> {
        let mailbox = Mailbox::open(cx, inject);
        let first = mailbox.next().await?;
        cx.sleep(seconds(1)).await?;
        drop(mailbox);
        Ok(first)
    }
    let mut story = Story::of::<flow>(());
    story.fulfil(1, 5);
    assert_eq!(story.machine().open_offers(), [0; 0]);
    insta::assert_snapshot!(story.blocked_on::<keeps>(), @r#"
    run order-42 (flow) is blocked: its history does not fit this program [H204 removed]

      event 5, operation ~2
          recorded    drop ~2                                        begun by artifact first
          this code   sleep ~3  sdk/tests/machine/mailbox.rs:263:30  artifact this

      recorded next                    this code asks for
          5 drop                               ← removed
          6 sleep                      sleep

    Nothing was changed. The run goes on after any of these:
      · keep the old path for runs in flight: `if !cx.patched("drop-drop") { .. }`
      · start artifact first again
      · move it to a new run by a `#[migration]`
    "#);
}

/// Something that happens to a run.
#[derive(Clone, Copy, Debug)]
enum Move {
    /// The oldest open offer is fulfilled.
    Fulfil(u64),
    /// An offer that is over is fulfilled once more.
    FulfilAgain(u64, u64),
    /// One of the activities comes to its result.
    Complete(u64),
}

/// Goes back and forth between its mailbox and other work.
#[workflow]
async fn busy(cx: &Cx) -> Result<Vec<u64>, Error> {
    let mailbox = Mailbox::open(cx, inject);
    let mut heard = Vec::new();
    let mut set = JoinSet::named(cx, "work");
    for n in 1..=4 {
        set.submit(async move {
            work(cx, n).await?;
            work(cx, 10 * n).await
        });
    }
    while !set.is_empty() {
        select! {
            mail = mailbox.next() => {
                let n = mail?;
                heard.push(n);
                if n % 3 == 0 {
                    // Nobody listens meanwhile.
                    set.next().await;
                }
            },
            _ = set.next() => heard.push(work(cx, 0).await?),
        }
    }
    Ok(heard)
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        (0..9_u64).prop_map(Move::Fulfil),
        (any::<u64>(), 0..9_u64).prop_map(|(which, n)| Move::FulfilAgain(which, n)),
        any::<u64>().prop_map(Move::Complete),
    ];
    prop::collection::vec(one, 0..40)
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    #[test]
    fn b01_exactly_one_offer_is_open_at_any_time(moves in moves()) {
        // Each unit is told to cold machines too, which must have the same offers open.
        let mut story = Story::of::<busy>(());
        let mut sent = Vec::new();
        for one in moves {
            if story.is_finished() {
                break;
            }
            let open = story.machine().open_offers();
            assert_eq!(open.len(), 1, "{}", story.text());
            match one {
                Move::Fulfil(n) => {
                    sent.push(n);
                    story.fulfil(open[0], n);
                }
                Move::FulfilAgain(which, n) if open[0] > 1 => {
                    let first = 1;
                    let over = first + which % (open[0] - first);
                    if is_offer(&story, over) {
                        assert_eq!(story.fulfil(over, n).unit.decisions, []);
                    }
                }
                Move::FulfilAgain(..) => {}
                Move::Complete(which) => {
                    let activities = story.machine().open_activities();
                    if !activities.is_empty() {
                        let which = which % activities.len() as u64;
                        let operation = activities[usize::try_from(which).unwrap()];
                        story.complete(operation, 100);
                    }
                }
            }
        }
        let expected = usize::from(!story.is_finished());
        assert_eq!(story.machine().open_offers().len(), expected);
        if story.is_finished() {
            let heard = story.result::<Vec<u64>, Error>().unwrap();
            let heard: Vec<u64> = heard.into_iter().filter(|n| *n < 100).collect();
            // In their order, each once, and none that was not sent.
            assert_eq!(heard, sent[..heard.len()]);
        }
    }
}

fn is_offer(story: &Story, number: u64) -> bool {
    let mut all = story.units.iter().flat_map(|unit| &unit.decisions);
    all.any(|decision| {
        matches!(decision, Decision::StubOffered { operation, .. } if *operation == number)
    })
}
