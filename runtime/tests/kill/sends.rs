//! A process that sends messages and takes them, killed again and again right after a send has returned: what was
//! acknowledged is taken once, in its order, and what was not read is still there (M5, M53, RW-07). Each that is taken
//! is given out in a stream, once, and what an observer has seen of that is there afterwards (B14).

use std::path::{Path, PathBuf};

use perennial::prelude::*;
use perennial_runtime::store::{SledStore, Store};
use perennial_runtime::{Client, MessageState, Runtime};
use tokio::task::JoinSet as Tasks;

use crate::run_key;
use crate::support::process::{Role, tell};
use crate::support::seeded::Seeded;
use crate::support::{folder_for_sync, rounds, seed};

const FOLDER: &str = "PERENNIAL_TEST_SENDS_FOLDER";
/// How many messages each run has acknowledged, separated by commas.
const SENT: &str = "PERENNIAL_TEST_SENDS_SENT";
const RUNS: usize = 3;
/// How many messages a run takes.
const TAKEN: u64 = 40;

const ITEM: Message<u64> = Message::new("item");
const TAKEN_ITEMS: Stream<u64> = Stream::new("taken");
/// Nobody waits for these.
const NOTE: Message<u64> = Message::new("note");

#[activity(idempotent)]
async fn touch(_acx: &ActivityCx, n: u64) -> Result<u64, Failure> {
    Ok(n)
}

/// In a helper, so that nobody knows all that the workflow waits for, and it is sent what it does not.
#[durable]
async fn take(cx: &Cx) -> Result<u64, ReceiveError> {
    cx.receive(ITEM).await
}

/// Is busy now and then, so that messages come before their waits too.
#[workflow]
async fn takes(cx: &Cx, count: u64) -> Result<Vec<u64>, Error> {
    let mut all = Vec::new();
    for n in 0..count {
        if n % 4 == 1 {
            touch(cx, n).await?;
        }
        let item = take(cx).await?;
        cx.emit(TAKEN_ITEMS, item);
        all.push(item);
    }
    Ok(all)
}

/// The process that is killed: sends each run what it has not acknowledged, and tells what it has.
#[test]
#[ignore = "only makes sense as another process"]
fn child() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let sent = std::env::var(SENT).unwrap();
    let sent: Vec<u64> = sent.split(',').map(|sent| sent.parse().unwrap()).collect();
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(2)
        .build()
        .unwrap();
    tokio.block_on(async {
        let store = SledStore::open(folder.join("store")).unwrap();
        let builder = Runtime::builder(store).workflow(takes).activity(touch);
        let runtime = builder.artifact("kill").start().await.unwrap();
        let mut senders = Tasks::new();
        for (run, sent) in sent.into_iter().enumerate() {
            senders.spawn(sends(runtime.client(), run, sent));
        }
        while let Some(ended) = senders.join_next().await {
            ended.unwrap();
        }
        tell("finished");
    });
}

async fn sends(client: Client, run: usize, sent: u64) {
    let handle = client.start(takes, format!("takes-{run}"), TAKEN);
    let handle = handle.await.unwrap();
    let mut items = handle.stream(TAKEN_ITEMS);
    tokio::spawn(async move {
        while let Some(Ok(item)) = items.next().await {
            assert_eq!(item.value + 1, item.number);
            tell(format!("seen {run} {}", item.number));
        }
    });
    for n in sent..TAKEN {
        // The life before may have been killed between the store's answer and ours.
        handle
            .send(NOTE, &n)
            .idempotency_key(format!("note-{n}"))
            .await
            .unwrap();
        handle
            .send(ITEM, &n)
            .idempotency_key(format!("item-{n}"))
            .await
            .unwrap();
        tell(format!("sent {run} {n}"));
    }
    let taken = handle.result().await.unwrap();
    let expected: Vec<u64> = (0..TAKEN).collect();
    assert_eq!(taken, expected, "run {run}");
    let mut items = handle.stream(TAKEN_ITEMS);
    let mut given = Vec::new();
    while let Some(item) = items.next().await {
        given.push(item.unwrap().value);
    }
    assert_eq!(given, expected, "run {run}");
    let notes = handle.list_messages().named("note").page().await.unwrap();
    let notes = notes.messages.into_iter();
    let unread = notes.map(|note| (note.payload.decode::<u64>().unwrap(), note.state));
    let expected = (0..TAKEN).map(|n| (n, MessageState::Unread));
    assert!(unread.eq(expected), "run {run}");
}

/// What the processes so far have said of each run.
#[derive(Default)]
struct Told {
    /// How many messages were acknowledged.
    sent: [u64; RUNS],
    /// How many items an observer has seen.
    seen: [u64; RUNS],
}

impl Told {
    /// Whether the line says that a message was acknowledged.
    fn hear(&mut self, line: &str) -> bool {
        let (said, run, n) = match line.split(' ').collect::<Vec<_>>()[..] {
            [said @ ("sent" | "seen"), run, n] => (said, run, n),
            _ => return false,
        };
        let (run, n): (usize, u64) = (run.parse().unwrap(), n.parse().unwrap());
        if said == "sent" {
            self.sent[run] = n + 1;
        } else {
            self.seen[run] = self.seen[run].max(n);
        }
        said == "sent"
    }
}

/// One process: killed once it has acknowledged so many messages. Says whether it came to its end before.
fn live(folder: &Path, told: &mut Told, kill_after: u64) -> bool {
    let list: Vec<String> = told.sent.iter().map(u64::to_string).collect();
    let process = Role::new("sends::child")
        .with(FOLDER, folder)
        .with(SENT, list.join(","))
        .start();
    let mut left = kill_after;
    while let Some(line) = process.line() {
        if line == "finished" {
            assert!(process.ended().status.success());
            return true;
        }
        if told.hear(&line) {
            left -= 1;
            if left == 0 {
                for line in process.killed().lines {
                    told.hear(&line);
                }
                return false;
            }
        }
    }
    let ended = process.ended();
    panic!("it has ended early: {}", ended.last_words());
}

/// The messages of a run that the store has: those that the run was told, and those in its queue.
fn stored(store: &SledStore, run: usize) -> u64 {
    let head = store.head(&run_key(&format!("takes-{run}"))).unwrap();
    // A known key takes no number, so all numbers are of messages.
    head.map_or(0, |head| head.arrivals)
}

#[test]
fn b14_m05_m53_a_message_is_taken_and_given_out_once_whenever_the_process_is_killed() {
    let (seed, most) = (seed(), rounds("PERENNIAL_SEND_KILLS", 30));
    let folder = folder_for_sync("sends");
    let (mut told, mut kills) = (Told::default(), 0);
    loop {
        let mut chance = Seeded::nth(seed, kills);
        let kill_after = match kills < most {
            true => chance.within(1..16),
            false => u64::MAX,
        };
        if live(&folder, &mut told, kill_after) {
            break;
        }
        kills += 1;
        let store = SledStore::open(folder.join("store")).unwrap();
        for (run, &sent) in told.sent.iter().enumerate() {
            let stored = stored(&store, run);
            assert!(
                (2 * sent..=2 * sent + 2).contains(&stored),
                "run {run} was sent {sent} of each name, and has {stored}"
            );
            let key = run_key(&format!("takes-{run}"));
            let items = store.stream(&key, "taken", 0, usize::MAX).unwrap();
            let there: Vec<_> = items.iter().map(|item| item.number).collect();
            assert_eq!(there, (1..=there.len() as u64).collect::<Vec<_>>());
            let seen = told.seen[run];
            assert!(
                there.len() as u64 >= seen,
                "of run {run} {seen} items were seen, and {there:?} are there"
            );
        }
    }
    assert!(kills > 3, "{kills} kills");
    let store = SledStore::open(folder.join("store")).unwrap();
    assert_eq!(store.verify().unwrap().problems, []);
    println!("{kills} kills with seed {seed}");
    drop(store);
    std::fs::remove_dir_all(folder).unwrap();
}
