//! A process whose runs tell and give each other something, killed again and again: what a run has sent is taken once,
//! in its order, by the run to which it was sent, what it has given is what the other one waited for, and what came of
//! either is what it is told next (M47, M48, M53, S25, RW-29).

use std::path::{Path, PathBuf};

use perennial::history::{Decision, Observation, SlotResult, Unit};
use perennial::prelude::*;
use perennial_runtime::Runtime;
use perennial_runtime::store::{SledStore, Store};

use crate::support::process::{Role, tell};
use crate::support::seeded::Seeded;
use crate::support::{folder_for_sync, rounds, seed};
use crate::{run_key, units};

const FOLDER: &str = "PERENNIAL_TEST_SLOTS_FOLDER";
const PAIRS: u64 = 4;
/// How many messages each sender sends.
const SENT: u64 = 30;

const ITEM: Message<u64> = Message::new("item");
const SEEN: Message<u64> = Message::new("seen");

/// Says how far its run is, so that the process can be killed there.
#[activity(idempotent)]
async fn touch(acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    tell(format!("step {} {n}", acx.run().id));
    Ok(n)
}

/// Sends items, some of them two at once, and is told of each that it was seen. Gives back the numbers that they got.
#[workflow]
async fn sends(cx: &Cx, to: RunId, count: u64) -> Result<Vec<u64>, Error> {
    let mut numbers = Vec::new();
    for n in (0..count).step_by(2) {
        if n % 6 == 0 {
            touch(cx, n).await?;
        }
        let (first, second) = (n, n + 1);
        if n % 4 == 0 {
            let (one, two) = join!(cx.send(&to, ITEM, &first), cx.send(&to, ITEM, &second));
            numbers.extend([one?.number, two?.number]);
        } else {
            numbers.push(cx.send(&to, ITEM, &first).await?.number);
            numbers.push(cx.send(&to, ITEM, &second).await?.number);
        }
        for _ in 0..2 {
            cx.receive(SEEN).await?;
        }
    }
    Ok(numbers)
}

/// Takes them, and tells the sender of each.
#[workflow]
async fn takes(cx: &Cx, from: RunId, count: u64) -> Result<Vec<u64>, Error> {
    let mut all = Vec::new();
    for _ in 0..count {
        let n = cx.receive(ITEM).await?;
        if n % 5 == 1 {
            touch(cx, n).await?;
        }
        all.push(n);
        cx.send(&from, SEEN, &n).await?;
    }
    Ok(all)
}

const QUESTION: Message<OperationId> = Message::new("question");

#[stub]
async fn reply(cx: &Cx, question: u64) -> u64;

/// Has its questions answered by another run.
#[workflow]
async fn asks(cx: &Cx, whom: RunId, count: u64) -> Result<Vec<u64>, Error> {
    let mut all = Vec::new();
    for n in 0..count {
        let offer = reply(cx, n).open()?;
        cx.send(&whom, QUESTION, &offer.reference()).await?;
        if n % 7 == 3 {
            touch(cx, n).await?;
        }
        all.push(offer.await?);
    }
    Ok(all)
}

/// Answers them.
#[workflow]
async fn answers(cx: &Cx, count: u64) -> Result<(), Error> {
    for n in 0..count {
        let asked = cx.receive(QUESTION).await?;
        if n % 5 == 2 {
            touch(cx, n).await?;
        }
        cx.fulfil(&asked, reply, &n).await?;
    }
    Ok(())
}

fn name(kind: &str, pair: u64) -> RunId {
    RunId::new(format!("{kind}-{pair}")).unwrap()
}

/// The process that is killed.
#[test]
#[ignore = "only makes sense as another process"]
fn child() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(2)
        .build()
        .unwrap();
    tokio.block_on(async {
        let store = SledStore::open(folder.join("store")).unwrap();
        let builder = Runtime::builder(store)
            .workflow(sends)
            .workflow(takes)
            .workflow(asks)
            .workflow(answers)
            .activity(touch);
        let runtime = builder.artifact("kill").shards(2).start().await.unwrap();
        let client = runtime.client();
        let mut runs = Vec::new();
        for pair in 0..PAIRS {
            let (sender, taker) = (name("sends", pair), name("takes", pair));
            // A run that is not there yet is a result, not a message, so the taker is there first.
            let takes = client.start(takes, taker.clone(), (sender.clone(), SENT));
            let takes = takes.await.unwrap();
            let sends = client.start(sends, sender, (taker, SENT));
            runs.push((takes, sends.await.unwrap()));
        }
        let answers = client.start(answers, name("answers", 0), SENT);
        let answers = answers.await.unwrap();
        let asks = client.start(asks, name("asks", 0), (name("answers", 0), SENT));
        let asks = asks.await.unwrap();
        let expected: Vec<u64> = (0..SENT).collect();
        assert_eq!(asks.result().await.unwrap(), expected);
        answers.result().await.unwrap();
        for (takes, sends) in runs {
            let expected: Vec<u64> = (0..SENT).collect();
            assert_eq!(takes.result().await.unwrap(), expected);
            let numbers = sends.result().await.unwrap();
            assert_eq!(numbers.len() as u64, SENT);
            assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        }
        tell("finished");
    });
}

/// One process: killed after so many steps. Says whether it came to its end before.
fn live(folder: &Path, kill_after: u64) -> bool {
    let process = Role::new("slots::child").with(FOLDER, folder).start();
    let mut left = kill_after;
    while let Some(line) = process.line() {
        match line.split(' ').next() {
            Some("step") => {
                left -= 1;
                if left == 0 {
                    process.killed();
                    return false;
                }
            }
            Some("finished") => {
                assert!(process.ended().status.success());
                return true;
            }
            _ => {}
        }
    }
    let ended = process.ended();
    panic!("it has ended early: {}", ended.last_words());
}

/// What a history has sent, with the numbers that it got, where it has been told.
fn sent(units: &[Unit]) -> Vec<(u64, Option<u64>)> {
    let number = |operation: u64| {
        units.iter().find_map(|unit| match &unit.observation {
            Observation::SlotFilled {
                operation: filled,
                result: SlotResult::Sent(receipt),
            } if *filled == operation => {
                assert!(!receipt.duplicate, "~{operation} was sent twice");
                Some(receipt.number)
            }
            _ => None,
        })
    };
    let decisions = units.iter().flat_map(|unit| &unit.decisions);
    let sends = decisions.filter_map(|decision| match decision {
        Decision::SendRequested { operation, .. } => Some((*operation, number(*operation))),
        _ => None,
    });
    sends.collect()
}

/// What a run has decided to send is in the other one's queue or history, and nothing else is.
fn check(store: &SledStore, from: &RunId, to: &RunId) {
    let (from, to) = (run_key(from.as_str()), run_key(to.as_str()));
    let sent = sent(&units(store, &from));
    let known = store.keys(&to, 0, usize::MAX).unwrap();
    let operations = known.iter().map(|known| {
        let (sender, rest) = known.key.split_once('~').unwrap();
        assert_eq!(sender, from.id.as_str());
        rest.split_once('@').unwrap().0.parse::<u64>().unwrap()
    });
    assert!(
        operations.eq(sent.iter().map(|(operation, _)| *operation)),
        "{from} has sent {sent:?}, and {to} knows {known:?}"
    );
    for ((operation, number), known) in sent.into_iter().zip(known) {
        assert!(
            number.is_none_or(|number| number == known.arrival),
            "~{operation}"
        );
    }
}

/// What a run has decided to give is what the other one has, and nothing else is.
fn check_given(store: &SledStore, from: &RunId, to: &RunId) {
    let units = units(store, &run_key(from.as_str()));
    let decisions = units.iter().flat_map(|unit| &unit.decisions);
    let given = decisions.filter_map(|decision| match decision {
        Decision::FulfilRequested { reference, .. } => Some(reference.number),
        _ => None,
    });
    let offers = store.offers(&run_key(to.as_str()), 0, usize::MAX).unwrap();
    let fulfilled = offers.iter().filter(|offer| !offer.is_open());
    let fulfilled: Vec<_> = fulfilled.map(|offer| offer.operation).collect();
    assert!(
        given.eq(fulfilled.iter().copied()),
        "{to} has {fulfilled:?}"
    );
    for unit in &units {
        if let Observation::SlotFilled { result, .. } = &unit.observation {
            assert!(
                matches!(result, SlotResult::Fulfilled(receipt) if !receipt.duplicate),
                "{result:?}"
            );
        }
    }
}

#[test]
fn m47_m48_m53_what_runs_send_is_taken_once_whenever_the_process_is_killed() {
    let (seed, most) = (seed(), rounds("PERENNIAL_SLOT_KILLS", 20));
    let folder = folder_for_sync("slots");
    let mut kills = 0;
    loop {
        let mut chance = Seeded::nth(seed, kills);
        let kill_after = match kills < most {
            true => chance.within(1..5),
            false => u64::MAX,
        };
        if live(&folder, kill_after) {
            break;
        }
        kills += 1;
        let store = SledStore::open(folder.join("store")).unwrap();
        for pair in 0..PAIRS {
            let (sender, taker) = (name("sends", pair), name("takes", pair));
            check(&store, &sender, &taker);
            check(&store, &taker, &sender);
        }
        let (asks, answers) = (name("asks", 0), name("answers", 0));
        if store.head(&run_key(asks.as_str())).unwrap().is_some() {
            check(&store, &asks, &answers);
            check_given(&store, &answers, &asks);
        }
    }
    assert!(kills > 3, "{kills} kills");
    let store = SledStore::open(folder.join("store")).unwrap();
    assert_eq!(store.verify().unwrap().problems, []);
    println!("{kills} kills with seed {seed}");
    drop(store);
    std::fs::remove_dir_all(folder).unwrap();
}
