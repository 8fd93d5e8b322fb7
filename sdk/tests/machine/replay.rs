//! Replaying (S1, S5, O2, O6).

use perennial::history::{Observation, Unit, decode_unit, encode_unit};
use perennial::prelude::*;

use crate::story::{BEGIN, Story, apart, completed, replay, started};

#[activity(idempotent)]
async fn part(_acx: &ActivityCx, number: u64) -> Result<u64, Failure> {
    Ok(number)
}

/// Something of everything.
#[workflow]
async fn busy(cx: &Cx, rounds: u64) -> Result<u64, Error> {
    let mut sum = 0;
    for round in 0..rounds {
        let mut set = JoinSet::new(cx);
        set.submit(part(cx, round));
        set.submit(part(cx, cx.random_range(0..100)));
        let limit = cx.record("limit", || 3_u64);
        let (a, b) = join!(part(cx, limit), cx.sleep(seconds(round)));
        b?;
        sum += a?;
        select! {
            next = set.next() => sum += next.unwrap_or(Ok(0))?,
            _ = cx.sleep(minutes(1)) => {},
        }
        cx.spawn(cx.sleep(days(round)));
        cx.log(format_args!("round {round}"));
    }
    Ok(sum)
}

/// Answers whatever is open, oldest first, until the run ends.
fn told(rounds: u64) -> Vec<Unit> {
    let mut machine = Story::untold::<busy>().into_machine();
    let mut units = vec![
        machine
            .observe(started::<busy>(rounds), BEGIN, BEGIN)
            .unwrap()
            .unit,
    ];
    let mut at = BEGIN;
    while !machine.is_finished() {
        at = at + seconds(1);
        let activity = machine.open_activities().into_iter().min();
        let timer = machine.timers().into_iter().map(|(number, _)| number).min();
        let observation = match (activity, timer) {
            (Some(operation), timer) if timer.is_none_or(|timer| operation < timer) => {
                completed(operation, operation)
            }
            (_, Some(operation)) => Observation::TimerFired { operation },
            _ => panic!("nothing is open"),
        };
        units.push(machine.observe(observation, at, at).unwrap().unit);
    }
    units
}

#[test]
fn o2_the_same_history_twice_gives_the_same_bytes() {
    let (first, second) = (apart(|| told(20)), apart(|| told(20)));
    let bytes = |units: &[Unit]| units.iter().flat_map(encode_unit).collect::<Vec<u8>>();
    assert_eq!(bytes(&first), bytes(&second));
    assert!(first.len() > 60);
}

#[test]
fn o6_a_history_that_went_through_its_encoding_replays_at_every_prefix() {
    let units: Vec<_> = told(6)
        .iter()
        .map(|unit| decode_unit(&encode_unit(unit)).unwrap())
        .collect();
    for end in 0..=units.len() {
        replay::<busy>(&units[..end]).unwrap();
    }
    let text = serde_json::to_string(&units).unwrap();
    let units: Vec<Unit> = serde_json::from_str(&text).unwrap();
    replay::<busy>(&units).unwrap();
}

#[test]
fn s1_a_machine_that_has_replayed_goes_on_as_the_one_that_was_warm() {
    let units = told(4);
    for stop in 1..units.len() {
        let mut machine = Story::untold::<busy>().into_machine();
        for unit in &units[..stop] {
            machine.replay(unit.clone()).unwrap();
        }
        let next = &units[stop];
        let step = machine
            .observe(next.observation.clone(), next.at, next.at)
            .unwrap();
        // Draws are new; all else is the same.
        assert_eq!(step.unit.decisions.len(), next.decisions.len());
        assert_eq!(step.unit.last() + 1, machine.next_event());
    }
}

#[test]
fn h212_a_missing_unit_is_a_gap_at_the_event_that_is_missing() {
    let mut units = told(2);
    units.remove(2);
    let blocked = replay::<busy>(&units).unwrap_err();
    assert_eq!(blocked.code(), "H212");
    assert!(!blocked.is_unfit());
    insta::assert_snapshot!(blocked, @"
    run order-42 (busy) is blocked: its history cannot be read [H212 gap]

      event 9
          begun by artifact first, this is artifact this
          it is missing: event 10 comes next

    Nothing was changed. The run goes on after this:
      · keep a copy of the store before anything else, then restore a backup that has the record
    ");
}

#[test]
fn h212_a_unit_that_comes_twice_is_refused_as_well() {
    let mut units = told(2);
    let again = units[1].clone();
    units.insert(1, again);
    assert_eq!(replay::<busy>(&units).unwrap_err().code(), "H212");
}

#[test]
fn a_machine_that_was_blocked_says_the_same_again_whatever_it_is_fed() {
    let units = told(2);
    let mut machine = Story::untold::<busy>().into_machine();
    let blocked = machine.replay(units[1].clone()).unwrap_err();
    assert_eq!(machine.replay(units[0].clone()), Err(blocked.clone()));
    let observed = machine.observe(started::<busy>(1), BEGIN, BEGIN);
    assert_eq!(observed.unwrap_err(), blocked);
}

#[test]
fn o5_a_unit_whose_observation_was_exchanged_is_refused() {
    let units = told(2);
    let mut refused = 0;
    for at in 1..units.len() {
        let mut exchanged = units.clone();
        let other = &units[if at + 1 < units.len() { at + 1 } else { 1 }];
        exchanged[at].observation = other.observation.clone();
        refused += usize::from(replay::<busy>(&exchanged).is_err());
    }
    // One whose answer had led to nothing may be exchanged for another such.
    assert!(refused > units.len() / 2, "{refused} of {}", units.len());
}
