//! Whatever a driver feeds: no panic comes out of a machine, errors are typed, and warm and cold agree.

use perennial::history::{ActivityFailure, Channel, Observation};
use perennial::prelude::*;
use perennial::value::Value;
use proptest::prelude::*;

use crate::story::{Story, replay, started, told};

#[activity(idempotent)]
async fn part(_acx: &ActivityCx, number: u64) -> Result<u64, Failure<String>> {
    Ok(number)
}

#[durable]
async fn race(cx: &Cx, number: u64) -> Result<u64, Error> {
    Ok(select! {
        part = part(cx, number) => part?,
        _ = cx.sleep(seconds(number)) => number,
    })
}

const ADD: Message<u64> = Message::new("add");
const BELL: Signal<u64> = Signal::new("bell");

#[stub]
async fn look(cx: &Cx, number: u64) -> u64;

/// Offers stubs, some of which nobody waits for to the end.
#[durable]
async fn offer(cx: &Cx, rounds: u64) -> u64 {
    let mut sum = 0;
    let mut set = JoinSet::named(cx, "looks");
    for round in 0..rounds {
        set.submit(look(cx, round));
        sum += select! {
            seen = look(cx, 10 + round) => seen.unwrap_or(5),
            seen = set.next() => seen.and_then(Result::ok).unwrap_or(6),
            raced = race(cx, round) => raced.unwrap_or(4),
        };
    }
    sum
}

/// Adds up what it is told, and leaves some of it to others.
#[durable]
async fn listen(cx: &Cx, rounds: u64) -> u64 {
    let mut sum = 0;
    for round in 0..rounds {
        let (added, rung) = join!(cx.receive(ADD), cx.wait_for(BELL).timeout(seconds(2)));
        sum += added.unwrap_or(1) + rung.ok().flatten().unwrap_or(2);
        sum += select! {
            added = cx.receive(ADD) => added.unwrap_or(3),
            raced = race(cx, round) => raced.unwrap_or(4),
        };
    }
    sum
}

#[workflow]
async fn anything(cx: &Cx, seed: u64) -> Result<u64, Error> {
    let mut set = JoinSet::new(cx);
    for number in 0..seed % 4 {
        set.submit(part(cx, number));
    }
    let own = cx.clone();
    let listening = cx.spawn(async move { listen(&own, seed % 3).await });
    let own = cx.clone();
    let offering = cx.spawn(async move { offer(&own, seed % 3).await });
    let own = cx.clone();
    let beside = cx.spawn(async move {
        let mut sum = 0;
        for number in 0..3 {
            sum += race(&own, number).await.unwrap_or(0);
        }
        sum
    });
    let mut sum = 0;
    for round in 0..4 {
        let (a, b, c) = join!(race(cx, round), race(cx, round + 1), async move {
            cx.sleep(seconds(1)).await?;
            try_join!(part(cx, 1), part(cx, 2)).map_err(Error::from)
        });
        sum += a? + b?;
        if let Ok((one, two)) = c {
            sum += one + two + cx.random_range(0..10);
        }
        if let Some(Ok(next)) = set.next().await {
            sum += cx.record("next", || next);
        }
        let all = join_all((0..round).map(|number| race(cx, number))).await;
        sum += all.into_iter().map(|one| one.unwrap_or(1)).sum::<u64>();
    }
    Ok(sum + beside.await + listening.await + offering.await)
}

#[derive(Clone, Debug)]
enum Move {
    /// To the n-th of what is open.
    Complete(usize, u64),
    Fail(usize, ActivityFailure),
    Fire(usize),
    /// To whatever has this number.
    Stray(u64, bool),
    Nonsense(usize, &'static str),
    StartAgain,
    Message(&'static str, u64),
    Signal(&'static str, u64),
    NonsenseMessage(&'static str),
    /// To the n-th offer that is open.
    Fulfil(usize, &'static str),
}

fn failure() -> impl Strategy<Value = ActivityFailure> {
    prop_oneof![
        Just(ActivityFailure::TimedOut),
        Just(ActivityFailure::Cancelled),
        Just(ActivityFailure::Rejected {
            value: Value::from_json("\"no\"").unwrap()
        }),
        Just(ActivityFailure::Rejected {
            value: Value::from_json("7").unwrap()
        }),
        Just(ActivityFailure::RetriesExhausted {
            last: "gone".into(),
            attempts: 3
        }),
        Just(ActivityFailure::TooLarge { size: 9, limit: 8 }),
    ]
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        20 => (any::<usize>(), 0..100_u64).prop_map(|(at, value)| Move::Complete(at, value)),
        10 => any::<usize>().prop_map(Move::Fire),
        3 => (any::<usize>(), failure()).prop_map(|(at, failure)| Move::Fail(at, failure)),
        2 => (0..60_u64, any::<bool>()).prop_map(|(number, timer)| Move::Stray(number, timer)),
        1 => (any::<usize>(), prop::sample::select(vec!["\"x\"", "{}", "-1"]))
            .prop_map(|(at, text)| Move::Nonsense(at, text)),
        1 => Just(Move::StartAgain),
        4 => (prop::sample::select(vec!["add", "add", "bell", "other"]), 0..100_u64)
            .prop_map(|(name, value)| Move::Message(name, value)),
        4 => (prop::sample::select(vec!["bell", "bell", "add"]), 0..100_u64)
            .prop_map(|(name, value)| Move::Signal(name, value)),
        1 => prop::sample::select(vec!["add", "bell"]).prop_map(Move::NonsenseMessage),
        4 => (any::<usize>(), prop::sample::select(vec!["7", "7", "\"no number\""]))
            .prop_map(|(at, text)| Move::Fulfil(at, text)),
    ];
    prop::collection::vec(one, 0..40)
}

fn pick<T: Copy>(from: &[T], at: usize) -> Option<T> {
    (!from.is_empty()).then(|| from[at % from.len()])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_panic_comes_out_and_warm_and_cold_agree(seed in 0..8_u64, moves in moves()) {
        let mut story = Story::of::<anything>(seed);
        for (what, number) in moves.into_iter().zip(1..) {
            let activities = story.machine().open_activities();
            let timers: Vec<u64> = story.machine().timers().iter().map(|(number, _)| *number).collect();
            let observation = match what {
                Move::Complete(at, value) => pick(&activities, at).map(|operation| {
                    Observation::ActivityCompleted { operation, result: Value::encode(&value).unwrap() }
                }),
                Move::Nonsense(at, text) => pick(&activities, at).map(|operation| {
                    Observation::ActivityCompleted { operation, result: Value::from_json(text).unwrap() }
                }),
                Move::Fail(at, failure) => pick(&activities, at)
                    .map(|operation| Observation::ActivityFailed { operation, failure }),
                Move::Fire(at) => pick(&timers, at).map(|operation| Observation::TimerFired { operation }),
                Move::Stray(operation, true) => Some(Observation::TimerFired { operation }),
                Move::Stray(operation, false) => {
                    Some(Observation::ActivityCompleted { operation, result: Value::null() })
                }
                Move::Message(name, value) => {
                    Some(Observation::MessageArrived(told(number, name, value)))
                }
                Move::Signal(name, value) => Some(Observation::SignalArrived(told(number, name, value))),
                Move::NonsenseMessage(name) => {
                    Some(Observation::MessageArrived(told(number, name, "no number")))
                }
                Move::Fulfil(at, text) => pick(&story.machine().open_offers(), at).map(|operation| {
                    Observation::StubFulfilled {
                        operation,
                        value: Value::from_json(text).unwrap(),
                        key: None,
                    }
                }),
                Move::StartAgain => Some(started::<anything>(seed)),
            };
            let Some(observation) = observation else { continue };
            story.advance(500);
            if let Some(blocked) = story.anything(observation) {
                prop_assert!(blocked.code().len() == 4);
                prop_assert!(blocked.to_string().contains(blocked.code()));
                break;
            }
        }
    }

    #[test]
    fn a_history_that_was_tampered_with_replays_or_is_refused_and_never_panics(
        seed in 0..8_u64,
        answers in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..25),
        edits in prop::collection::vec((0..6_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let mut story = Story::of::<anything>(seed).unchecked();
        for (at, prefer_timer) in answers {
            let activities = story.machine().open_activities();
            let timers: Vec<u64> = story.machine().timers().iter().map(|(number, _)| *number).collect();
            let awaited = story.machine().awaited();
            if story.is_finished() || activities.is_empty() && timers.is_empty() && awaited.is_empty() {
                break;
            }
            let number = story.units.len() as u64;
            let offers = story.machine().open_offers();
            if !offers.is_empty() && number % 3 == 1 {
                story.fulfil(*at.get(&offers), 4);
                continue;
            }
            if let Some(&(channel, name)) = awaited.first()
                && (number.is_multiple_of(3) || activities.is_empty() && timers.is_empty())
            {
                match channel {
                    Channel::Message => story.message(number, name, 5),
                    Channel::Signal => story.signal(number, name, 5),
                };
                continue;
            }
            if activities.is_empty() || prefer_timer && !timers.is_empty() {
                story.fire(*at.get(&timers));
            } else {
                story.complete(*at.get(&activities), 3);
            }
        }
        let mut units = story.units.clone();
        for (edit, at, other) in edits {
            let unit = at.index(units.len());
            let count = units[unit].decisions.len();
            match edit {
                0 => {
                    units.remove(unit);
                }
                1 => {
                    let copy = units[unit].clone();
                    units.push(copy);
                }
                2 => {
                    let observation = other.get(&units).observation.clone();
                    units[unit].observation = observation;
                }
                3 if count > 0 => {
                    units[unit].decisions.remove(other.index(count));
                }
                4 if count > 0 => {
                    let copy = other.get(&units[unit].decisions).clone();
                    units[unit].decisions.push(copy);
                }
                5 if count > 1 => units[unit].decisions.swap(0, other.index(count)),
                _ => {}
            }
            if units.is_empty() {
                break;
            }
            // Numbered through, so that the gap is not all that is found.
            let mut number = 1;
            for unit in &mut units {
                unit.number = number;
                number = unit.last() + 1;
            }
        }
        if let Err(blocked) = replay::<anything>(&units) {
            prop_assert!(blocked.to_string().contains(blocked.code()));
            prop_assert!(!matches!(blocked, perennial::Blocked::Panicked(_)), "{}", blocked);
        }
    }
}
