//! `blocked`: which runs are blocked, and why.

use perennial::wire::RecordError;
use perennial_runtime::Builder;
use perennial_runtime::cli::BlockedRuns;
use perennial_runtime::store::sled::Tamper;
use perennial_runtime::store::{BlockedRecord, MemoryStore, Store};

use crate::shop::{order_1, order_3, order_4, refund, shop_1};
use crate::world::{Event, World, block, block_with, put, put_blocked, record};

/// Orders that two programs were blocked by, and runs that are not blocked.
fn fill(store: &dyn Store) {
    for (id, cents) in [
        ("order-1", "2500"),
        ("order-2", "2600"),
        ("shop/order-4", "2700"),
    ] {
        let history = record(order_1, id, "shop 1", &[Event::Done(1, cents)]);
        put(store, &history);
        block_with(order_3, store, &history, "shop 3");
        if id != "order-2" {
            block_with(order_4, store, &history, "shop 4");
        }
    }
    put(store, &record(order_1, "order-5", "shop 1", &[]));
    put(store, &record(refund, "refund-1", "shop 1", &[]));
    // Whatever records it has: it has ended.
    let all = [
        Event::Done(1, "1250"),
        Event::Fired(2),
        Event::Done(3, "null"),
    ];
    put(store, &record(order_1, "order-6", "shop 1", &all));
}

/// The command over such a store, in memory and in a folder.
fn over_both(more: fn(&dyn Store), arguments: &[&str]) -> [String; 2] {
    let fill = |store: &dyn Store| {
        fill(store);
        more(store);
    };
    let world = World::new();
    let memory = MemoryStore::new();
    fill(&memory);
    let called = |program: Builder, arguments: &[&str]| {
        let ran = world.call(program, &[&["blocked"], arguments].concat());
        assert_eq!(ran.code, 0, "{}", ran.all());
        ran.out
    };
    let store = world.store("data");
    fill(&store);
    store.close().unwrap();
    drop(store);
    [
        called(shop_1(memory), arguments),
        called(
            shop_1(MemoryStore::new()),
            &[&["--store", "@/data"], arguments].concat(),
        ),
    ]
}

const FOLDER: [&str; 2] = ["the store [folder]/data", "the store of this program"];

#[test]
fn s16_runs_with_the_same_error_in_the_same_program_are_one_entry() {
    let [memory, folder] = over_both(|_| {}, &["--ids", "2"]);
    assert_eq!(folder.replace(FOLDER[0], FOLDER[1]), memory);
    insta::assert_snapshot!(folder);
}

#[test]
fn s16_the_same_as_json_is_read_back() {
    let [memory, folder] = over_both(|_| {}, &["--json"]);
    assert_eq!(folder.replace(FOLDER[0], FOLDER[1]), memory);
    let blocked: BlockedRuns = serde_json::from_str(&folder).unwrap();
    assert_eq!(blocked.count, 3);
    assert!(blocked.coloured().contains("\u{1b}[31m"), "{blocked}");
    assert!(!blocked.to_string().contains('\u{1b}'));
    let errors = blocked.errors.iter().map(|error| {
        let runs: Vec<_> = error.runs.iter().map(String::as_str).collect();
        (&*error.code, &*error.artifact, error.unfit, runs)
    });
    let errors: Vec<_> = errors.collect();
    assert_eq!(
        errors,
        [
            (
                "H203",
                "shop 3",
                true,
                vec!["order-1", "order-2", "shop/order-4"]
            ),
            ("W101", "shop 4", false, vec!["order-1", "shop/order-4"]),
        ]
    );
}

#[test]
fn a_store_in_which_no_run_is_blocked_says_so() {
    let world = World::new();
    let ran = world.call(shop_1(MemoryStore::new()), &["blocked"]);
    assert_eq!(
        ran.all(),
        "exit code 0\nno run is blocked in the store of this program\n"
    );
}

/// There is an end to what is kept, and none to what is counted.
#[test]
fn more_different_errors_than_can_be_listed_are_counted() {
    let more = |store: &dyn Store| {
        for number in 0..1_010 {
            let (id, code) = (format!("many-{number}"), format!("X{number:04}"));
            put(store, &record(refund, &id, "shop 1", &[]));
            block(store, &id, "shop 3", &code);
        }
    };
    for out in over_both(more, &["--json"]) {
        let blocked: BlockedRuns = serde_json::from_str(&out).unwrap();
        assert_eq!(
            (blocked.count, blocked.errors.len(), blocked.more),
            (1_013, 1_000, 10 + 5)
        );
    }
}

#[test]
fn a_run_whose_record_cannot_be_read_is_listed_with_what_is_wrong_and_can_be_unblocked() {
    let world = World::new();
    let store = world.store("data");
    let history = record(order_1, "order-1", "shop 1", &[Event::Done(1, "2500")]);
    put(&store, &history);
    block_with(order_3, &store, &history, "shop 3");
    let run = history.run.clone();
    store.tamper(Tamper::FlipBlocked(&run, "shop 3")).unwrap();
    store.close().unwrap();
    drop(store);
    let program = || shop_1(MemoryStore::new());
    let listed = world.call(program(), &["blocked", "--store", "@/data"]);
    let unblocked = world.call(program(), &["unblock", "order-1", "--store", "@/data"]);
    insta::assert_snapshot!([listed.all(), unblocked.all()].join("\n"));

    // A store that keeps its records otherwise tells of its own like this.
    let store = MemoryStore::new();
    put(&store, &history);
    let problem = RecordError::Damaged {
        problem: "the checksum does not fit",
    };
    let unreadable = BlockedRecord::unreadable(&run, problem);
    put_blocked(&store, "order-1", unreadable);
    let memory = world.call(shop_1(store), &["blocked"]);
    assert_eq!(listed.out.replace(FOLDER[0], FOLDER[1]), memory.out);
}

#[test]
fn a_store_that_is_in_use_or_not_there_is_refused() {
    let world = World::new();
    let store = world.store("data");
    let of = |folder: &str| {
        let ran = world.call(shop_1(MemoryStore::new()), &["blocked", "--store", folder]);
        assert_eq!((ran.code, &*ran.out), (1, ""));
        ran.all()
    };
    let all = [of("@/data"), of("@/missing")].join("\n");
    let process = std::process::id().to_string();
    insta::assert_snapshot!(all.replace(&process, "[process]"));
    drop(store);
}
