//! Slots that meet damage, and exports of runs that have told each other something (S3, S5).

use perennial::history::{Observation, SlotResult, Told};
use perennial::value::Value;
use perennial::{FulfilFailure, OperationId, RunKey, SendFailure, Timestamp};
use perennial_runtime::store::export::{self, PartialRuns, Reader, import};
use perennial_runtime::store::sled::Tamper;
use perennial_runtime::store::{
    Changes, Commit, Keep, OfferChange, Progress, Purge, SledStore, Slot, SlotEffect, Status,
    Store, slot_key,
};

use crate::world::{World, begin, commit_of, run, unit, wait};

/// A commit that sends a message to another run.
fn sends(from: &RunKey, to: &RunKey, number: u64) -> Commit {
    let told = Told {
        number: 0,
        name: "approval".into(),
        payload: Value::null(),
        key: None,
    };
    let slot = Slot {
        operation: number,
        at: Timestamp::from_millis(number),
        effect: SlotEffect::Send {
            run: to.id.clone(),
            observation: Observation::MessageArrived(told),
        },
    };
    let commit = commit_of(from, unit(number));
    Commit {
        changes: Changes {
            slots: vec![slot],
            ..commit.changes
        },
        ..commit
    }
}

/// What came of the send of that operation.
fn result(store: &SledStore, from: &RunKey, number: u64) -> SlotResult {
    let queue = store.load(from).unwrap().unwrap().queue;
    let mut results = queue.into_iter().filter_map(|row| match row.observation {
        Observation::SlotFilled { operation, result } if operation == number => Some(result),
        _ => None,
    });
    results.next().unwrap()
}

/// Its sender goes on, and so does whoever is whole.
#[test]
fn a_run_that_cannot_be_read_is_a_result_and_stops_nobody() {
    let world = World::new();
    let store = world.open();
    let [desk, damaged, whole] = ["desk", "damaged", "whole"].map(run);
    for run in [&desk, &damaged, &whole] {
        begin(&store, run);
    }
    store.tamper(Tamper::FlipHead(&damaged)).unwrap();
    wait(|ack| store.commit(sends(&desk, &damaged, 1), ack)).unwrap();
    let SlotResult::NotSent(SendFailure::Unreadable { run, problem }) = result(&store, &desk, 1)
    else {
        panic!("it was sent");
    };
    assert_eq!(run, damaged.id);
    assert!(problem.contains("the head of run damaged"), "{problem}");
    wait(|ack| store.commit(sends(&desk, &whole, 2), ack)).unwrap();
    assert!(matches!(result(&store, &desk, 2), SlotResult::Sent(_)));
    // What is damaged is as it was.
    assert!(store.load(&damaged).is_err());
}

/// A key that cannot be read may be that of this very send.
#[test]
fn a_key_that_cannot_be_read_is_a_result_too() {
    let world = World::new();
    let store = world.open();
    let [desk, order] = ["desk", "order-42"].map(run);
    begin(&store, &desk);
    begin(&store, &order);
    wait(|ack| store.commit(sends(&desk, &order, 1), ack)).unwrap();
    let created = store.head(&desk).unwrap().unwrap().created;
    let key = slot_key(&desk.id, created, 1);
    store.tamper(Tamper::FlipKey(&order, &key)).unwrap();
    let queue = store.load(&order).unwrap().unwrap().queue;
    wait(|ack| store.commit(sends(&desk, &order, 2), ack)).unwrap();
    assert!(matches!(
        result(&store, &desk, 2),
        SlotResult::NotSent(SendFailure::Unreadable { .. })
    ));
    assert_eq!(store.load(&order).unwrap().unwrap().queue, queue);
}

/// An offer that cannot be read is a result of who fulfils it; the other offers of that run are given what they wait for.
#[test]
fn an_offer_that_cannot_be_read_is_a_result_too() {
    let world = World::new();
    let store = world.open();
    let [desk, order] = ["desk", "order-42"].map(run);
    begin(&store, &desk);
    begin(&store, &order);
    let mut offers = commit_of(&order, unit(1));
    let open = |operation| OfferChange::Open {
        operation,
        unit: 1,
        name: "review".into(),
        at: Timestamp::from_millis(1),
    };
    offers.changes.offers = vec![open(1), open(2)];
    offers.changes.next_operation = Some(3);
    wait(|ack| store.commit(offers, ack)).unwrap();
    store.tamper(Tamper::FlipOffer(&order, 1)).unwrap();
    let gives = |number: u64| Slot {
        operation: number,
        at: Timestamp::from_millis(9),
        effect: SlotEffect::Fulfil {
            reference: OperationId {
                run: order.id.clone(),
                number,
            },
            stub: "review".into(),
            value: Value::null(),
        },
    };
    let mut commit = commit_of(&desk, unit(1));
    commit.changes.slots = vec![gives(1), gives(2)];
    wait(|ack| store.commit(commit, ack)).unwrap();
    let SlotResult::NotFulfilled(FulfilFailure::Unreadable { reference, problem }) =
        result(&store, &desk, 1)
    else {
        panic!("it was given");
    };
    assert_eq!(reference.to_string(), "order-42~1");
    assert!(
        problem.contains("the offer of operation 1 of run order-42"),
        "{problem}"
    );
    assert!(matches!(result(&store, &desk, 2), SlotResult::Fulfilled(_)));
}

/// A sender that is put back as an export has it, which was made before it had sent, sends nothing twice (M48).
#[test]
fn m48_a_sender_that_was_restored_to_an_older_state_finds_that_it_has_sent() {
    let world = World::new();
    let store = world.open();
    let [desk, order] = ["desk", "order-42"].map(run);
    begin(&store, &desk);
    let mut backup = Vec::new();
    export::export(&store, &mut backup, Timestamp::default()).unwrap();
    begin(&store, &order);
    wait(|ack| store.commit(sends(&desk, &order, 1), ack)).unwrap();
    // Of the sender all is lost, and the other one is as it is.
    let mut end = commit_of(&desk, unit(2));
    end.changes.status = Some(Status::Completed);
    wait(|ack| store.commit(end, ack)).unwrap();
    let purge = Purge {
        run: desk.clone(),
        generation: 1,
        sequence: 2,
        keep: Keep::Nothing,
        at: Timestamp::from_millis(9),
        limit: 99,
    };
    while wait(|ack| store.purge(purge.clone(), ack)).unwrap() == Progress::More {}
    let mut reader = Reader::new(&backup[..], "the backup").unwrap();
    import(&mut reader, &store, PartialRuns::Refuse).unwrap();

    wait(|ack| store.commit(sends(&desk, &order, 1), ack)).unwrap();
    let SlotResult::Sent(receipt) = result(&store, &desk, 1) else {
        panic!("it is a duplicate");
    };
    assert_eq!((receipt.number, receipt.duplicate), (1, true));
    assert_eq!(store.load(&order).unwrap().unwrap().queue.len(), 1);
}
