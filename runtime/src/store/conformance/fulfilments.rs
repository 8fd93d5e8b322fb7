//! Slots that fulfil what a run offers: what a commit does to the offers of other runs and of its own, and what it says
//! of that (S3, S25). The numbers are those of the acceptance cases, as far as a store sees them.

use perennial::history::{Observation, SlotResult};
use perennial::{FulfilFailure, OperationId, Receipt, RunEnd, RunKey};

use super::offers::{answer, offer, offered, open, says, waiting};
use super::scene::{Run, Scene, at, create, first_unit, key, key_in, no_changes, ok};
use super::{Factory, everything};
use crate::store::{
    Changes, Committed, Created, Keep, Loaded, OfferChange, OfferState, Queued, Slot, SlotEffect,
    Status, StoreError, slot_key,
};

/// A slot that fulfils an operation of the stub `review` at the time 9.
pub(super) fn gives(operation: u64, to: &RunKey, offered: u64, text: &str) -> Slot {
    let reference = OperationId {
        run: to.id.clone(),
        number: offered,
    };
    Slot {
        operation,
        at: at(9),
        effect: SlotEffect::Fulfil {
            reference,
            stub: "review".into(),
            value: says(text),
        },
    }
}

impl Run<'_> {
    /// Commits a unit with those slots.
    #[track_caller]
    fn give(&mut self, slots: Vec<Slot>) -> Committed {
        let unit = self.next_unit(slots.len());
        let last = unit.last();
        let changes = Changes {
            units: vec![unit],
            slots,
            ..no_changes()
        };
        let committed = ok(self.scene.hand_over(self.commit_of(changes)).wait());
        self.head.sequence = last;
        committed
    }

    fn offer_state(&self, operation: u64) -> OfferState {
        match ok(self.scene.store.offer(&self.key, operation)) {
            Some(offer) => offer.state,
            None => panic!("operation {operation} of {} is no offer", self.key),
        }
    }
}

fn reference(run: &Run<'_>, number: u64) -> OperationId {
    OperationId {
        run: run.key.id.clone(),
        number,
    }
}

fn given(number: u64, now: u64, duplicate: bool) -> SlotResult {
    SlotResult::Fulfilled(Receipt {
        number,
        at: at(now),
        duplicate,
    })
}

fn conflict(run: &Run<'_>, number: u64) -> SlotResult {
    SlotResult::NotFulfilled(FulfilFailure::Conflict {
        reference: reference(run, number),
        stub: "review".into(),
    })
}

fn row(arrival: u64, observation: Observation) -> Queued {
    Queued {
        arrival,
        at: at(9),
        observation,
    }
}

/// The value as the queue has it that a run has given.
fn arrived(giver: &Run<'_>, operation: u64, offered: u64, text: &str) -> Observation {
    Observation::StubFulfilled {
        operation: offered,
        value: says(text),
        key: Some(slot_key(&giver.key.id, giver.head.created, operation)),
    }
}

fn filled(operation: u64, result: SlotResult) -> Observation {
    Observation::SlotFilled { operation, result }
}

/// The results that a run's queue has for its slots.
fn results(loaded: &Loaded) -> Vec<(u64, SlotResult)> {
    let rows = loaded.queue.iter();
    let results = rows.filter_map(|row| match &row.observation {
        Observation::SlotFilled { operation, result } => Some((*operation, result.clone())),
        _ => None,
    });
    results.collect()
}

fn taken(arrival: u64, text: &str) -> OfferState {
    OfferState::Fulfilled {
        digest: says(text).digest(),
        at: at(9),
        arrival,
    }
}

/// The row of the other run, its offer, the row of the own one, and the answer tell the same.
pub fn what_is_given_and_what_that_came_to_are_one_write(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (mut other, mut run) = (scene.begin("order-42"), scene.begin("review-7"));
    offer(&mut other, &[1, 2]);
    let before = other.load().head;
    let committed = run.give(vec![gives(3, &other.key, 1, "yes")]);
    let there = row(1, arrived(&run, 3, 1, "yes"));
    let here = row(1, filled(3, given(1, 9, false)));
    assert_eq!(committed.rows, std::slice::from_ref(&here));
    assert_eq!(committed.told.len(), 1);
    let told = &committed.told[0];
    assert_eq!(
        (&told.run, &told.row, told.wakes),
        (&other.key, &there, true)
    );
    assert_eq!(run.load().queue, [here]);
    let loaded = other.load();
    assert_eq!(loaded.queue, [there]);
    assert_eq!((loaded.head.inbox.offers, loaded.head.stamp), (1, at(9)));
    assert_eq!(other.offer_state(1), taken(1, "yes"));
    assert_eq!(other.offer_state(2), OfferState::Open);
    assert_eq!(waiting(&scene), [("order-42".to_owned(), 2)]);
    // Who owns it and where it stands is as before.
    let after = loaded.head;
    assert_eq!(
        (after.owner, after.fence, after.sequence),
        (before.owner, before.fence, before.sequence)
    );
}

/// B3, B4, M48: where the other run has the value, from outside or from the same operation of a giver that was put back
/// to an older state, the giver is told the number of then. Another value in its place is not taken.
pub fn b03_b04_m48_the_same_value_is_given_once(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (mut other, mut run) = (scene.begin("order-42"), scene.begin("review-7"));
    offer(&mut other, &[1, 2]);
    ok(scene.send(answer(&other.key, 1, "yes", at(4))));
    run.give(vec![gives(3, &other.key, 2, "yes")]);
    let before = other.load();
    let committed = run.give(vec![
        gives(3, &other.key, 2, "yes"),
        gives(4, &other.key, 1, "yes"),
        gives(5, &other.key, 1, "no"),
    ]);
    let expected = [
        (3, given(2, 9, false)),
        (3, given(2, 9, true)),
        (4, given(1, 4, true)),
        (5, conflict(&other, 1)),
    ];
    assert_eq!(results(&run.load()), expected);
    assert!(committed.told.is_empty(), "nobody has to be woken");
    assert_eq!(other.load(), before);
}

/// B11, B12, M52: each is a result like any other, the giver's units are there, and the other runs are as they were.
pub fn b11_b12_m52_what_cannot_be_given_is_no_failure_of_the_commit(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut other = scene.begin("order-42");
    offer(&mut other, &[1, 2, 3]);
    other.commit(Changes {
        units: vec![other.next_unit(0)],
        offers: vec![
            OfferChange::Close { operation: 1 },
            OfferChange::Limit {
                operation: 2,
                deadline: at(9),
            },
        ],
        next_operation: Some(8),
        ..no_changes()
    });
    let mut ended = scene.begin("ended");
    offer(&mut ended, &[1]);
    ended.end();
    let mut purged = scene.begin("purged");
    offer(&mut purged, &[1]);
    purged.end();
    purged.purge(Keep::Head);
    let mut elsewhere = scene.begin_in("shop", "order-43");
    offer(&mut elsewhere, &[1]);
    let before = [&other, &ended, &elsewhere].map(Run::load);
    let mut run = scene.begin("review-7");
    let mut injects = gives(4, &other.key, 3, "yes");
    if let SlotEffect::Fulfil { stub, .. } = &mut injects.effect {
        *stub = "inject".into();
    }
    let committed = run.give(vec![
        gives(1, &key("nobody"), 1, "yes"),
        gives(2, &other.key, 8, "yes"),
        gives(3, &other.key, 7, "yes"),
        injects,
        gives(5, &other.key, 1, "yes"),
        gives(6, &other.key, 2, "yes"),
        gives(7, &ended.key, 1, "yes"),
        gives(8, &purged.key, 1, "yes"),
        gives(9, &elsewhere.key, 1, "yes"),
    ]);
    assert_eq!((committed.rows.len(), committed.told.len()), (9, 0));
    let closed = |run: &Run<'_>, number, at, end| FulfilFailure::Closed {
        reference: reference(run, number),
        stub: "review".into(),
        at,
        end,
    };
    let OfferState::Closed { at: dropped, .. } = other.offer_state(1) else {
        panic!("it was dropped");
    };
    let OfferState::Closed { at: end, .. } = ended.offer_state(1) else {
        panic!("its run has ended");
    };
    let nobody = |name: &str| FulfilFailure::RunNotFound {
        reference: OperationId {
            run: key(name).id,
            number: 1,
        },
    };
    let failures = [
        nobody("nobody"),
        FulfilFailure::NoSuchOperation {
            reference: reference(&other, 8),
        },
        FulfilFailure::NotAStub {
            reference: reference(&other, 7),
        },
        FulfilFailure::OtherStub {
            reference: reference(&other, 3),
            is: "review".into(),
            given: "inject".into(),
        },
        closed(&other, 1, dropped, None),
        closed(&other, 2, at(9), None),
        closed(&ended, 1, end, Some(RunEnd::Completed)),
        FulfilFailure::Purged {
            reference: reference(&purged, 1),
        },
        nobody("order-43"),
    ];
    let expected: Vec<_> = (1..).zip(failures.map(SlotResult::NotFulfilled)).collect();
    assert_eq!(results(&run.load()), expected);
    assert_eq!([&other, &ended, &elsewhere].map(Run::load), before);
}

/// The commit that makes an offer may fulfil it too. The value is in the run's queue before what that came to.
pub fn a_run_may_fulfil_what_it_offers_itself(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let unit = offered(&run, &[1]);
    let (number, last) = (unit.number, unit.last());
    let changes = Changes {
        units: vec![unit],
        offers: vec![open(number, 1)],
        slots: vec![
            gives(2, &run.key, 1, "yes"),
            gives(3, &run.key, 1, "yes"),
            gives(4, &run.key, 1, "no"),
        ],
        next_operation: Some(5),
        ..no_changes()
    };
    let committed = ok(scene.hand_over(run.commit_of(changes)).wait());
    run.head.sequence = last;
    let rows = [
        row(1, arrived(&run, 2, 1, "yes")),
        row(2, filled(2, given(1, 9, false))),
        row(3, filled(3, given(1, 9, true))),
        row(4, filled(4, conflict(&run, 1))),
    ];
    assert_eq!((&committed.rows[..], committed.told.len()), (&rows[..], 0));
    let loaded = run.load();
    assert_eq!(
        (&loaded.queue[..], loaded.head.inbox.offers),
        (&rows[..], 0)
    );
    assert_eq!(run.offer_state(1), taken(1, "yes"));
    assert!(waiting(&scene).is_empty());
}

/// What the write itself makes of the run's offers comes first: what it drops, and what its end closes.
pub fn an_offer_that_the_same_write_closes_takes_nothing(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[1, 2]);
    let unit = run.next_unit(0);
    let changes = Changes {
        units: vec![unit.clone()],
        offers: vec![OfferChange::Close { operation: 1 }],
        slots: vec![gives(3, &run.key, 1, "yes")],
        ..no_changes()
    };
    ok(scene.hand_over(run.commit_of(changes)).wait());
    run.head.sequence = unit.last();
    let found = results(&run.load());
    assert!(
        matches!(
            &found[..],
            [(
                3,
                SlotResult::NotFulfilled(FulfilFailure::Closed { end: None, .. })
            )]
        ),
        "{found:?}"
    );
    let changes = Changes {
        units: vec![run.next_unit(0)],
        status: Some(Status::Completed),
        slots: vec![gives(4, &run.key, 2, "yes")],
        ..no_changes()
    };
    let committed = ok(scene.hand_over(run.commit_of(changes)).wait());
    // Nobody is left to be told (S11).
    assert_eq!((committed.rows.len(), committed.told.len()), (0, 0));
    assert!(matches!(run.offer_state(2), OfferState::Closed { .. }));
}

/// Several of one run, of different ones, and what a run is told beside: each finds what the ones before it have left.
pub fn what_one_commit_gives_stands_each_for_itself(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (mut one, mut two) = (scene.begin("one"), scene.begin("two"));
    offer(&mut one, &[1, 2]);
    offer(&mut two, &[1]);
    let mut run = scene.begin("review-7");
    let message = || super::inbox::message("reserved");
    let committed = run.give(vec![
        gives(1, &one.key, 1, "yes"),
        super::slots::slot(2, &one.key, message(), 9),
        gives(3, &two.key, 1, "yes"),
        gives(4, &one.key, 1, "yes"),
        gives(5, &one.key, 2, "no"),
        gives(6, &one.key, 2, "yes"),
    ]);
    let sent = SlotResult::Sent(Receipt {
        number: 2,
        at: at(9),
        duplicate: false,
    });
    let expected = [
        (1, given(1, 9, false)),
        (2, sent),
        (3, given(1, 9, false)),
        (4, given(1, 9, true)),
        (5, given(3, 9, false)),
        (6, conflict(&one, 2)),
    ];
    assert_eq!(results(&run.load()), expected);
    let of = |run: &Run<'_>| {
        let told = committed.told.iter().filter(|told| told.run == run.key);
        told.map(|told| told.row.clone()).collect::<Vec<_>>()
    };
    assert_eq!((of(&one), of(&two)), (one.load().queue, two.load().queue));
    let inbox = one.load().head.inbox;
    assert_eq!((inbox.messages, inbox.offers), (1, 0));
}

/// What it has decided with its last unit is done, and nobody is left to be told what that came to (S11). The first unit
/// of a run has slots like any other.
pub fn a_run_may_begin_and_end_with_what_it_gives(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut other = scene.begin("order-42");
    offer(&mut other, &[1, 2]);
    let run = key("review-7");
    let begin = || Changes {
        units: vec![first_unit(&run, 1)],
        slots: vec![gives(1, &other.key, 1, "yes")],
        ..no_changes()
    };
    let Created::New(head, committed) = ok(scene.create(create(&run, scene.owner, begin()))) else {
        panic!("it is new");
    };
    assert_eq!((committed.rows.len(), committed.told.len()), (1, 1));
    let loaded = scene.load(&run);
    assert_eq!((&loaded.head, &loaded.queue), (&head, &committed.rows));
    // Begun once, it gives once.
    let again = ok(scene.create(create(&run, scene.owner, begin())));
    assert!(matches!(again, Created::Exists(_)));
    let last = scene.begin("last");
    let changes = Changes {
        units: vec![last.next_unit(0)],
        status: Some(Status::Completed),
        slots: vec![gives(1, &other.key, 2, "yes")],
        ..no_changes()
    };
    let committed = ok(scene.hand_over(last.commit_of(changes)).wait());
    assert_eq!((committed.rows.len(), committed.told.len()), (0, 1));
    assert_eq!(other.load().queue.len(), 2);
}

/// Whatever guard it is that does not hold.
pub fn a_refused_commit_gives_nothing(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (mut other, run) = (scene.begin("order-42"), scene.begin("review-7"));
    offer(&mut other, &[1]);
    let before = [&other, &run].map(Run::load);
    let gives = || Changes {
        slots: vec![gives(1, &other.key, 1, "yes")],
        ..no_changes()
    };
    let mut moved = run.commit_of(gives());
    moved.sequence += 1;
    let mut fenced = run.commit_of(gives());
    fenced.fence.0 += 1;
    for commit in [moved, fenced] {
        let answer = scene.hand_over(commit).wait();
        assert!(matches!(answer, Err(StoreError::Refused(_))), "{answer:?}");
    }
    assert_eq!([&other, &run].map(Run::load), before);
    assert_eq!(other.offer_state(1), OfferState::Open);
}

/// Both rows and the offer; and what was given stays so when the other run begins anew.
pub fn what_was_given_is_there_after_reopening(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let (mut other, mut run) = (scene.begin("order-42"), scene.begin("review-7"));
    offer(&mut other, &[1, 2]);
    run.give(vec![
        gives(1, &other.key, 1, "yes"),
        gives(2, &key_in("default", "nobody"), 1, "yes"),
    ]);
    let names = [other.key.clone(), run.key.clone()];
    let told = names.clone().map(|run| everything::told(&scene, &run));
    let offers = ok(scene.store.offers(&names[0], 0, 9));
    if let Some(scene) = scene.reopen() {
        assert_eq!(
            names.clone().map(|run| everything::told(&scene, &run)),
            told
        );
        assert_eq!(ok(scene.store.offers(&names[0], 0, 9)), offers);
        assert_eq!(waiting(&scene), [("order-42".to_owned(), 2)]);
        let again = ok(scene.send(answer(&names[0], 1, "yes", at(10))));
        assert_eq!((again.arrival, again.duplicate), (1, true));
    }
}

/// The largest values, and more runs than are mostly told at once.
pub fn large_and_many_values_are_one_write(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut others: Vec<_> = (0..30)
        .map(|number| scene.begin(&format!("order-{number:02}")))
        .collect();
    for other in &mut others {
        offer(other, &[1, 2]);
    }
    let mut run = scene.begin("review-7");
    let large = "x".repeat(100_000);
    let mut slots = Vec::new();
    for (place, other) in (0..).zip(&others) {
        slots.push(gives(2 * place + 1, &other.key, 1, &large));
        slots.push(gives(2 * place + 2, &other.key, 2, "yes"));
    }
    let committed = run.give(slots);
    assert_eq!((committed.rows.len(), committed.told.len()), (60, 60));
    assert!(
        run.load().queue == committed.rows,
        "a result is another one"
    );
    for other in &others {
        let there = other.load().queue.into_iter();
        let values: Vec<_> = there
            .filter_map(|row| match row.observation {
                Observation::StubFulfilled {
                    operation, value, ..
                } => Some((operation, value)),
                _ => None,
            })
            .collect();
        assert!(
            values == [(1, says(&large)), (2, says("yes"))],
            "a row is another one"
        );
    }
    assert!(waiting(&scene).is_empty());
}
