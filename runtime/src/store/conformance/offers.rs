//! Offers: what a run waits for from outside, by operation (S11, S12). The numbers are those of the acceptance cases, as
//! far as a store sees them.

use perennial::history::{Decision, Observation, Unit};
use perennial::value::Value;
use perennial::{RunKey, Timestamp};

use super::Factory;
use super::inbox::refused;
use super::scene::{Answer, Run, Scene, ack, at, key, no_changes, ok};
use crate::store::{
    Changes, Deliver, Delivered, Offer, OfferChange, OfferClosed, OfferState, OfferTaken,
    OtherOffer, Queued, Refusal, Status, StoreError, Waiting,
};

/// The unit after the last: something happens, and these stubs are called.
pub(super) fn offered(run: &Run<'_>, operations: &[u64]) -> Unit {
    let mut unit = run.next_unit(0);
    unit.decisions = operations
        .iter()
        .map(|&operation| call(operation))
        .collect();
    unit
}

fn call(operation: u64) -> Decision {
    Decision::StubOffered {
        operation,
        name: "review".into(),
        input: Value::null(),
        site: None,
    }
}

pub(super) fn open(unit: u64, operation: u64) -> OfferChange {
    OfferChange::Open {
        operation,
        unit,
        name: "review".into(),
        at: at(2),
    }
}

/// Calls the stub `review` as these operations, in one commit.
pub(super) fn offer(run: &mut Run<'_>, operations: &[u64]) {
    let unit = offered(run, operations);
    let number = unit.number;
    run.commit(Changes {
        units: vec![unit],
        offers: operations
            .iter()
            .map(|&operation| open(number, operation))
            .collect(),
        next_operation: operations.iter().max().map(|last| last + 1),
        ..no_changes()
    });
}

/// The run takes the value of an operation from its queue.
fn take(run: &mut Run<'_>, operation: u64, arrival: u64) {
    let unit = Unit {
        observation: fulfilled(operation, says("yes")),
        ..run.next_unit(0)
    };
    run.commit(Changes {
        units: vec![unit],
        taken: vec![arrival],
        ..no_changes()
    });
}

pub(super) fn says(text: &str) -> Value {
    match Value::encode(&text) {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

pub(super) fn fulfilled(operation: u64, value: Value) -> Observation {
    Observation::StubFulfilled {
        operation,
        value,
        key: None,
    }
}

/// A value for an operation of the stub `review`.
pub(super) fn answer(run: &RunKey, operation: u64, text: &str, now: Timestamp) -> Deliver {
    Deliver {
        run: run.clone(),
        observation: fulfilled(operation, says(text)),
        at: now,
        tasks: Vec::new(),
        key: None,
        stub: Some("review".into()),
    }
}

fn receipt(delivered: Delivered) -> (u64, Timestamp, bool) {
    (delivered.arrival, delivered.at, delivered.duplicate)
}

fn state(scene: &Scene, run: &RunKey, operation: u64) -> OfferState {
    match ok(scene.store.offer(run, operation)) {
        Some(offer) => offer.state,
        None => panic!("operation {operation} of {run} is no offer"),
    }
}

pub(super) fn is_open(scene: &Scene, run: &RunKey, operation: u64) -> bool {
    state(scene, run, operation) == OfferState::Open
}

fn taken(run: &RunKey, operation: u64, known: &str, given: &str) -> Refusal {
    Refusal::OfferTaken(Box::new(OfferTaken {
        run: run.clone(),
        operation,
        name: "review".into(),
        known: says(known).digest(),
        given: says(given).digest(),
    }))
}

fn closed(run: &RunKey, operation: u64, at: Timestamp) -> Refusal {
    Refusal::OfferClosed(Box::new(OfferClosed {
        run: run.clone(),
        operation,
        name: "review".into(),
        at,
    }))
}

/// All that wait in the default namespace: run and operation.
pub(super) fn waiting(scene: &Scene) -> Vec<(String, u64)> {
    let waiting = ok(scene.store.waiting(&Default::default(), None, usize::MAX));
    let names = waiting.into_iter();
    names
        .map(|Waiting { run, offer }| (run.to_string(), offer.operation))
        .collect()
}

/// B2: it is a row of the queue, stamped and numbered as others, and it wakes the run.
pub fn b02_a_value_is_a_row_of_the_queue(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[1, 2]);
    let made = Offer {
        operation: 1,
        generation: 1,
        unit: 2,
        name: "review".into(),
        at: at(2),
        deadline: None,
        state: OfferState::Open,
    };
    assert_eq!(ok(scene.store.offer(&run.key, 1)), Some(made.clone()));
    assert_eq!(run.load().head.inbox.offers, 2);
    ok(run.deliver(9));
    let delivered = ok(scene.send(answer(&run.key, 1, "yes", at(7))));
    assert_eq!(receipt(delivered), (2, at(7), false));
    assert!(delivered.wakes);
    let row = Queued {
        arrival: 2,
        at: at(7),
        observation: fulfilled(1, says("yes")),
    };
    let loaded = run.load();
    assert_eq!(loaded.queue.last(), Some(&row));
    assert_eq!(loaded.head.inbox.offers, 1);
    let state = OfferState::Fulfilled {
        digest: says("yes").digest(),
        at: at(7),
        arrival: 2,
    };
    let made = Offer { state, ..made };
    assert_eq!(ok(scene.store.offer(&run.key, 1)), Some(made.clone()));
    assert_eq!(waiting(&scene), [("order-42".to_owned(), 2)]);
    take(&mut run, 1, 2);
    assert_eq!(run.load().queue.len(), 1);
    assert_eq!(ok(scene.store.offer(&run.key, 1)), Some(made.clone()));
    let key = run.key.clone();
    if let Some(scene) = scene.reopen() {
        assert_eq!(ok(scene.store.offer(&key, 1)), Some(made));
        assert_eq!(waiting(&scene), [("order-42".to_owned(), 2)]);
    }
}

/// B3: the answer is the first one, whoever asks and however the value is written (S10).
pub fn b03_the_same_value_again_is_one_delivery(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[1]);
    let written = |text: &str| match Value::from_json(text.to_owned()) {
        Ok(value) => Deliver {
            observation: fulfilled(1, value),
            ..answer(&run.key, 1, "", at(900))
        },
        Err(error) => panic!("{error}"),
    };
    let first = Deliver {
        at: at(7),
        ..written(r#"{"a":1,"b":2}"#)
    };
    assert_eq!(receipt(ok(scene.send(first))), (1, at(7), false));
    for again in [r#"{"a":1,"b":2}"#, r#"{ "b": 2, "a": 1, "c": null }"#] {
        let delivered = ok(scene.send(written(again)));
        assert_eq!(receipt(delivered), (1, at(7), true));
        assert!(!delivered.wakes);
    }
    assert_eq!(run.load().queue.len(), 1);
    let again = written(r#"{"a":1,"b":2}"#);
    if let Some(scene) = scene.reopen() {
        assert_eq!(receipt(ok(scene.send(again))), (1, at(7), true));
    }
}

/// B4: nothing is kept of it, and the error names both digests.
pub fn b04_another_value_is_refused(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[1, 2]);
    ok(scene.send(answer(&run.key, 1, "yes", at(7))));
    let before = run.load();
    assert_eq!(
        scene.send(answer(&run.key, 1, "no", at(8))),
        refused(taken(&run.key, 1, "yes", "no"))
    );
    assert_eq!(run.load(), before);
    // Another operation is another offer.
    assert!(!ok(scene.send(answer(&run.key, 2, "no", at(8)))).duplicate);
}

/// B5: one value is taken; who has sent that is told so, and all others are refused.
pub fn b05_of_senders_at_once_one_wins(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let operations: Vec<u64> = (1..=20).collect();
    offer(&mut run, &operations);
    let key = &run.key;
    let answers: Vec<(u64, String, Result<Delivered, StoreError>)> =
        std::thread::scope(|threads| {
            let senders: Vec<_> = (0..4)
                .map(|sender| {
                    let (store, operations) = (&scene.store, &operations);
                    threads.spawn(move || {
                        // Two of the four say the same.
                        let text = format!("value {}", sender / 2);
                        let send = |&operation: &u64| -> (u64, Answer<Delivered>) {
                            let (ack, answered) = ack();
                            let value = answer(key, operation, &text, at(7));
                            store.deliver(value, ack);
                            (operation, answered)
                        };
                        let sent: Vec<_> = operations.iter().map(send).collect();
                        let sent = sent.into_iter();
                        sent.map(|(operation, answer)| (operation, text.clone(), answer.wait()))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            let joined = senders.into_iter().map(|sender| match sender.join() {
                Ok(answers) => answers,
                Err(_) => panic!("a sender panicked"),
            });
            joined.flatten().collect()
        });
    let queue = run.load().queue;
    assert_eq!(queue.len(), operations.len());
    for operation in operations {
        let OfferState::Fulfilled {
            digest, arrival, ..
        } = state(&scene, key, operation)
        else {
            panic!("operation {operation} is not fulfilled")
        };
        let rows = queue.iter().filter(|row| row.arrival == arrival);
        let rows: Vec<_> = rows.map(|row| row.observation.clone()).collect();
        let mut first = 0;
        for (_, text, answer) in answers.iter().filter(|(of, ..)| *of == operation) {
            if says(text).digest() == digest {
                let delivered = ok(answer.clone());
                assert_eq!(delivered.arrival, arrival);
                first += u64::from(!delivered.duplicate);
                assert_eq!(rows, [fulfilled(operation, says(text))]);
            } else {
                assert!(matches!(
                    answer,
                    Err(StoreError::Refused(Refusal::OfferTaken(taken))) if taken.known == digest
                ));
            }
        }
        assert_eq!(first, 1, "operation {operation}");
    }
}

/// B6: the commit that takes a value makes the next offer, and nobody sees a moment without one.
pub fn b06_an_offer_is_made_by_the_commit_that_takes_another(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[1]);
    for operation in 1..5 {
        ok(scene.send(answer(&run.key, operation, "yes", at(7))));
        let next = operation + 1;
        let mut unit = offered(&run, &[next]);
        unit.observation = fulfilled(operation, says("yes"));
        let number = unit.number;
        run.commit(Changes {
            units: vec![unit],
            taken: vec![operation],
            offers: vec![open(number, next)],
            next_operation: Some(next + 1),
            ..no_changes()
        });
        assert_eq!(waiting(&scene), [("order-42".to_owned(), next)]);
        assert_eq!(run.load().head.inbox.offers, 1);
    }
}

/// B7: after its value was taken, after the end, and after reopening: the value is known, and another one is refused.
pub fn b07_a_stale_offer_is_known_by_its_value(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[1, 2]);
    let first = ok(scene.send(answer(&run.key, 1, "yes", at(7))));
    take(&mut run, 1, 1);
    let run_key = run.key.clone();
    let look = |scene: &Scene| {
        let again = ok(scene.send(answer(&run_key, 1, "yes", at(9))));
        assert_eq!(receipt(again), (first.arrival, first.at, true));
        assert_eq!(
            scene.send(answer(&run_key, 1, "no", at(9))),
            refused(taken(&run_key, 1, "yes", "no"))
        );
        assert!(scene.load(&run_key).queue.is_empty());
    };
    look(&scene);
    run.end();
    look(&scene);
    if let Some(scene) = scene.reopen() {
        look(&scene);
    }
}

/// B11: in the same commit. What is in the queue by then stands as fulfilled (S11).
pub fn b11_s11_the_end_closes_what_is_open(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let operations: Vec<u64> = (1..=1_200).collect();
    offer(&mut run, &operations);
    ok(scene.send(answer(&run.key, 1, "yes", at(7))));
    run.end();
    let loaded = run.load();
    assert_eq!((loaded.head.inbox.offers, loaded.queue.len()), (0, 1));
    assert_eq!(waiting(&scene), []);
    let run_key = run.key.clone();
    let (ended, event) = (loaded.head.stamp, loaded.head.sequence);
    let look = |scene: &Scene| {
        for operation in [2, 700, 1_200] {
            let state = state(scene, &run_key, operation);
            assert_eq!(state, OfferState::Closed { at: ended, event });
            assert_eq!(
                scene.send(answer(&run_key, operation, "yes", at(9))),
                refused(closed(&run_key, operation, ended))
            );
        }
        let again = ok(scene.send(answer(&run_key, 1, "yes", at(9))));
        assert_eq!(receipt(again), (1, at(7), true));
        assert_eq!(scene.load(&run_key), loaded);
    };
    look(&scene);
    if let Some(scene) = scene.reopen() {
        look(&scene);
    }
}

/// A migration ends a run as well, and an offer may be made by the commit that ends it.
pub fn b11_whatever_ends_a_run_closes_its_offers(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[1]);
    ok(scene.migrate(super::migrate::migrate(&run, "order-43")));
    assert!(matches!(
        state(&scene, &run.key, 1),
        OfferState::Closed { .. }
    ));
    assert!(matches!(
        scene.send(answer(&run.key, 1, "yes", at(9))),
        Err(StoreError::Refused(Refusal::OfferClosed(_)))
    ));
    assert_eq!(scene.load(&run.key).head.inbox.offers, 0);

    let mut short = scene.begin("short");
    let mut unit = offered(&short, &[1]);
    let number = unit.number;
    unit.decisions.push(Decision::Completed {
        value: Value::null(),
        open: Vec::new(),
    });
    short.commit(Changes {
        units: vec![unit],
        offers: vec![open(number, 1)],
        status: Some(Status::Completed),
        next_operation: Some(2),
        ..no_changes()
    });
    assert!(!is_open(&scene, &short.key, 1));
    assert_eq!(short.load().head.inbox.offers, 0);
    assert_eq!(waiting(&scene), []);
}

/// The commit that drops it closes it (S12). What was delivered before stands.
pub fn an_offer_that_is_dropped_is_closed(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[1, 2, 3]);
    ok(scene.send(answer(&run.key, 2, "yes", at(7))));
    let close = |operation| OfferChange::Close { operation };
    run.commit(Changes {
        units: vec![run.next_unit(0)],
        offers: vec![close(1), close(2), close(9)],
        stamp: at(8),
        ..no_changes()
    });
    assert_eq!(
        state(&scene, &run.key, 1),
        OfferState::Closed {
            at: at(8),
            event: run.head.sequence
        }
    );
    assert!(matches!(
        state(&scene, &run.key, 2),
        OfferState::Fulfilled { .. }
    ));
    assert_eq!(ok(scene.store.offer(&run.key, 9)), None);
    assert_eq!(run.load().head.inbox.offers, 1);
    assert_eq!(waiting(&scene), [("order-42".to_owned(), 3)]);
    assert_eq!(
        scene.send(answer(&run.key, 1, "yes", at(9))),
        refused(closed(&run.key, 1, at(8)))
    );
    assert!(ok(scene.send(answer(&run.key, 2, "yes", at(9)))).duplicate);
    // A second time, and by the commit that made it.
    let mut unit = offered(&run, &[4]);
    unit.decisions.push(Decision::Dropped { operation: 4 });
    let number = unit.number;
    run.commit(Changes {
        units: vec![unit],
        offers: vec![close(1), open(number, 4), close(4)],
        next_operation: Some(5),
        ..no_changes()
    });
    assert!(!is_open(&scene, &run.key, 4));
    assert_eq!(run.load().head.inbox.offers, 1);
}

/// Whoever comes when the time is over is told so, though the run was not told yet: it is told of that first (S2).
pub fn after_its_deadline_an_offer_takes_nothing(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let unit = offered(&run, &[1, 2]);
    let number = unit.number;
    let until = |operation, deadline| OfferChange::Limit {
        operation,
        deadline: at(deadline),
    };
    run.commit(Changes {
        units: vec![unit],
        offers: vec![open(number, 1), until(1, 10), open(number, 2), until(9, 20)],
        next_operation: Some(3),
        ..no_changes()
    });
    // Also of one that was made before.
    run.commit(Changes {
        units: vec![run.next_unit(0)],
        offers: vec![until(2, 20)],
        ..no_changes()
    });
    assert_eq!(
        scene.send(answer(&run.key, 1, "yes", at(10))),
        refused(closed(&run.key, 1, at(10)))
    );
    assert!(is_open(&scene, &run.key, 1));
    assert!(!ok(scene.send(answer(&run.key, 1, "yes", at(9)))).duplicate);
    assert!(!ok(scene.send(answer(&run.key, 2, "yes", at(19)))).duplicate);
    // It stands, whatever the time.
    assert!(ok(scene.send(answer(&run.key, 1, "yes", at(99)))).duplicate);
}

/// B12: an operation that is not there yet, one that is no offer, and one of another stub. B13: an offer is one of its
/// run, and the same number of another run is another operation.
pub fn b12_b13_only_an_offer_of_that_stub_and_run_is_fulfilled(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[2]);
    let other = scene.begin("order-43");
    let (run_key, other_key) = (run.key.clone(), other.key.clone());
    let refusals = [
        (
            answer(&key("nobody"), 2, "yes", at(7)),
            Refusal::NoRun { run: key("nobody") },
        ),
        (
            answer(&run_key, 3, "yes", at(7)),
            Refusal::NoSuchOffer {
                run: run_key.clone(),
                operation: 3,
            },
        ),
        (
            answer(&run_key, 1, "yes", at(7)),
            Refusal::NotAnOffer {
                run: run_key.clone(),
                operation: 1,
            },
        ),
        (
            Deliver {
                stub: Some("approve".into()),
                ..answer(&run_key, 2, "yes", at(7))
            },
            Refusal::OtherOffer(Box::new(OtherOffer {
                run: run_key.clone(),
                operation: 2,
                name: "review".into(),
                given: "approve".into(),
            })),
        ),
        (
            answer(&other_key, 2, "yes", at(7)),
            Refusal::NoSuchOffer {
                run: other_key.clone(),
                operation: 2,
            },
        ),
    ];
    for (deliver, refusal) in refusals {
        assert_eq!(scene.send(deliver), refused(refusal));
    }
    assert!(is_open(&scene, &run_key, 2));
    assert!(run.load().queue.is_empty() && other.load().queue.is_empty());
    // Who does not say of which stub it is means any.
    let any = Deliver {
        stub: None,
        ..answer(&run_key, 2, "yes", at(7))
    };
    assert!(!ok(scene.send(any)).duplicate);
}

/// S16: what was delivered waits, and is known.
pub fn s16_a_blocked_run_is_given_values(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[1]);
    let record = crate::store::BlockedRecord {
        artifact: "one".into(),
        unfit: true,
        code: "PR001".into(),
        text: "it does not fit".into(),
        details: Value::null(),
        at: at(3),
    };
    run.commit(Changes {
        blocked: Some(crate::store::BlockedChange::Put(record)),
        ..no_changes()
    });
    assert_eq!(
        receipt(ok(scene.send(answer(&run.key, 1, "yes", at(7))))),
        (1, at(7), false)
    );
    assert!(ok(scene.send(answer(&run.key, 1, "yes", at(8)))).duplicate);
    assert_eq!(run.load().queue.len(), 1);
}
