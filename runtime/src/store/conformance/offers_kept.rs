//! What is kept of offers: lists of them, generations, purges, restores and bounds.

use super::Factory;
use super::inbox::refused;
use super::offers::{answer, fulfilled, is_open, offer, offered, waiting};
use super::scene::{Run, Scene, at, key, key_in, no_changes, ok, value};
use crate::store::{
    Changes, Deliver, Keep, MAX_NAME_BYTES, Offer, OfferChange, Progress, Refusal, Restore,
    StoreError, Waiting,
};

/// In the order of the runs' ids and of the operations, in each namespace by itself.
pub fn open_offers_of_all_runs_come_in_pages(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut names: Vec<String> = (0..40).map(|number| format!("run-{number:02}")).collect();
    names.extend(["run".to_owned(), "run.1".to_owned()]);
    for name in &names {
        let mut run = scene.begin(name);
        offer(&mut run, &(1..=30).collect::<Vec<_>>());
        ok(scene.send(answer(&run.key, 7, "yes", at(7))));
    }
    let mut other = scene.begin_in("other", "run");
    offer(&mut other, &[1]);
    scene.begin("without").grow(1);
    let mut ended = scene.begin("ended");
    offer(&mut ended, &[1]);
    ended.end();
    names.sort();
    let expected = names.iter().flat_map(|name| {
        let operations = (1..=30).filter(|operation| *operation != 7);
        operations.map(|operation| (name.clone(), operation))
    });
    let expected: Vec<_> = expected.collect();
    assert_eq!(waiting(&scene), expected);
    let namespace = Default::default();
    for limit in [1_usize, 29, 1_000, 2_000] {
        let (mut found, mut after): (Vec<_>, Option<Waiting>) = (Vec::new(), None);
        // To the end of a large page, or a few small ones.
        for _ in 0..3 {
            let after_one = after.as_ref().map(|last| (&last.run, last.offer.operation));
            let page = ok(scene.store.waiting(&namespace, after_one, limit));
            let names = page.iter();
            found.extend(names.map(|waiting| (waiting.run.to_string(), waiting.offer.operation)));
            after = page.into_iter().next_back().or(after);
        }
        let until = expected.len().min(3 * limit);
        assert_eq!(found, expected[..until]);
    }
    let others = ok(scene
        .store
        .waiting(&key_in("other", "x").namespace, None, 9));
    assert_eq!(others.len(), 1);
    assert_eq!(ok(scene.store.waiting(&namespace, None, 0)), []);
}

/// In the order of their operations, however many, whatever has become of them.
pub fn offers_of_a_run_come_in_pages(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &(1..=1_200).collect::<Vec<_>>());
    for operation in [3, 500] {
        ok(scene.send(answer(&run.key, operation, "yes", at(7))));
    }
    let page = |after, limit| -> Vec<u64> {
        let page = ok(scene.store.offers(&run.key, after, limit));
        page.into_iter().map(|offer| offer.operation).collect()
    };
    let numbers = |from: u64, to: u64| (from..=to).collect::<Vec<_>>();
    assert_eq!(page(0, usize::MAX), numbers(1, 1_200));
    assert_eq!(page(0, 10), numbers(1, 10));
    assert_eq!(page(10, 1_100), numbers(11, 1_110));
    assert_eq!(page(1_199, 5), [1_200]);
    for (after, limit) in [(1_200, 5), (0, 0), (u64::MAX, 5)] {
        assert!(page(after, limit).is_empty());
    }
    assert_eq!(ok(scene.store.offers(&key("nobody"), 0, 5)), []);
    assert_eq!(ok(scene.store.offer(&key("nobody"), 1)), None);
}

/// The generation that follows has offers of its own; those before are known as long as their histories are kept.
pub fn offers_are_kept_with_their_generation(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    offer(&mut run, &[1, 2]);
    ok(scene.send(answer(&run.key, 1, "yes", at(7))));
    run.end();
    run.begin_anew();
    offer(&mut run, &[3]);
    let generations = |run: &Run<'_>| -> Vec<(u64, u64)> {
        let offers = ok(run.scene.store.offers(&run.key, 0, 9));
        let offers = offers.into_iter();
        offers
            .map(|offer| (offer.operation, offer.generation))
            .collect()
    };
    assert_eq!(generations(&run), [(1, 1), (2, 1), (3, 2)]);
    assert!(ok(scene.send(answer(&run.key, 1, "yes", at(8)))).duplicate);
    assert_eq!(run.load().head.inbox.offers, 1);
    run.end();
    run.purge(Keep::Head);
    assert_eq!(generations(&run), []);
    let finished = Refusal::Finished {
        run: run.key.clone(),
    };
    assert_eq!(
        scene.send(answer(&run.key, 1, "yes", at(8))),
        refused(finished)
    );
    run.begin_anew();
    let not = Refusal::NotAnOffer {
        run: run.key.clone(),
        operation: 1,
    };
    assert_eq!(scene.send(answer(&run.key, 1, "yes", at(8))), refused(not));
    offer(&mut run, &[4]);
    assert_eq!(generations(&run), [(4, 3)]);
}

/// From the first slice on none is known, nor when the run begins anew half-way through.
pub fn offers_are_purged_in_slices(factory: Factory<'_>) {
    for stop_after in [1, 4, usize::MAX] {
        let scene = Scene::new(factory);
        let mut run = scene.begin("order-42");
        offer(&mut run, &(1..=12).collect::<Vec<_>>());
        run.end();
        let mut slices = 1;
        while ok(scene.purge(run.purge_of(2))) == Progress::More && slices < stop_after {
            slices += 1;
            assert_eq!(ok(scene.store.offers(&run.key, 0, 99)), []);
            assert_eq!(ok(scene.store.offer(&run.key, 1)), None);
        }
        assert!(slices >= stop_after.min(5), "{slices}");
        run.begin_anew();
        assert_eq!(ok(scene.store.offers(&run.key, 0, 99)), []);
        offer(&mut run, &[13]);
        assert_eq!(waiting(&scene), [("order-42".to_owned(), 13)]);
        run.end();
        assert!(!is_open(&scene, &run.key, 13));
        run.purge(Keep::Nothing);
        assert_eq!(ok(scene.store.offers(&run.key, 0, 99)), []);
    }
}

/// They are put back with the run, as many open ones as its head says.
pub fn a_restored_run_has_its_offers(factory: Factory<'_>) {
    let original = Scene::new(factory);
    let mut run = original.begin("order-42");
    offer(&mut run, &[1, 2, 3]);
    ok(original.send(answer(&run.key, 1, "yes", at(7))));
    let (key, loaded) = (run.key.clone(), run.load());
    let all = ok(original.store.offers(&key, 0, 99));
    let restored = Scene::new(factory);
    let put = |offers: &[Offer]| {
        restored.restore(Restore::Offers {
            run: key.clone(),
            offers: offers.to_vec(),
        })
    };
    let rest = |loaded: &crate::store::Loaded| {
        restored.restore(Restore::Run {
            run: key.clone(),
            loaded: Box::new(loaded.clone()),
        })
    };
    let inconsistent = |answer: Result<Progress, StoreError>| match answer {
        Err(StoreError::Refused(Refusal::Inconsistent { problem, .. })) => problem,
        answer => panic!("{answer:?}"),
    };
    ok(put(&all[..2]));
    let order = "offers that are not in the order of their operations";
    assert_eq!(inconsistent(put(&all[1..])), order);
    assert_eq!(ok(restored.store.offers(&key, 0, 99)), []);
    ok(restored.restore(Restore::History {
        run: key.clone(),
        generation: 1,
        units: original.units(&key, 1),
        attempts: Vec::new(),
        end: None,
    }));
    let number = "another number of open offers than its head says";
    assert_eq!(inconsistent(rest(&loaded)), number);
    ok(put(&all[2..]));
    let own = "offers that are not its own";
    for change in 0..2 {
        let mut other = loaded.clone();
        match change {
            0 => other.head.next_operation = 3,
            _ => {
                other.head.arrivals = 0;
                other.queue.clear();
            }
        }
        assert_eq!(inconsistent(rest(&other)), own);
    }
    ok(rest(&loaded));
    assert_eq!(ok(restored.store.offers(&key, 0, 99)), all);
    assert_eq!(waiting(&restored), waiting(&original));
    assert!(ok(restored.send(answer(&key, 1, "yes", at(8)))).duplicate);
    assert!(!ok(restored.send(answer(&key, 2, "yes", at(8)))).duplicate);

    // Given up, nothing of them is left.
    let other = super::scene::key("other");
    ok(restored.restore(Restore::Offers {
        run: other.clone(),
        offers: all,
    }));
    let give_up = Restore::GiveUp { run: other.clone() };
    while ok(restored.restore(give_up.clone())) == Progress::More {}
    restored.begin("other");
    assert_eq!(ok(restored.store.offers(&other, 0, 99)), []);
}

/// S15: names have a bound, and a value one that any row has.
pub fn what_is_offered_has_bounds(factory: Factory<'_>) {
    let scene = Scene::new(factory);
    let mut run = scene.begin("order-42");
    let named = |run: &Run<'_>, bytes: usize| {
        let unit = offered(run, &[1]);
        let number = unit.number;
        Changes {
            units: vec![unit],
            offers: vec![OfferChange::Open {
                operation: 1,
                unit: number,
                name: "n".repeat(bytes),
                at: at(2),
            }],
            next_operation: Some(2),
            ..no_changes()
        }
    };
    let before = run.load();
    assert!(matches!(
        run.try_commit(named(&run, MAX_NAME_BYTES + 1)),
        Err(StoreError::TooLarge { .. })
    ));
    assert_eq!(run.load(), before);
    run.commit(named(&run, MAX_NAME_BYTES));
    let large = Deliver {
        observation: fulfilled(1, value(1 << 20)),
        stub: None,
        ..answer(&run.key, 1, "", at(7))
    };
    ok(scene.send(large.clone()));
    assert!(ok(scene.send(large)).duplicate);
}
