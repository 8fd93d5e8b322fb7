//! Runs that are moved: blocked ones, waiting ones, ones that never began.

use std::sync::atomic::{AtomicBool, Ordering};

use perennial::history::Observation;
use perennial::prelude::*;
use perennial_runtime::store::{AttemptOutcome, AttemptRecord, Status};
use perennial_runtime::{RunError, RunState};

use crate::shop::{
    Order, OrderV2, World, an_order, blocked, each_place, move_it, next, order, order_v2, pack,
    packing, to_v2,
};

#[tokio::test]
async fn s38_a_run_that_does_not_fit_is_moved_and_finishes_as_a_new_one() {
    each_place(async |place| {
        let world = World::new();
        let runtime = blocked(&place, &world).await;
        let client = runtime.client();
        let old = client.run(next::order, "order-42").unwrap();

        let new = move_it(&client).await;
        assert_eq!(new.result().await.unwrap(), "nothing for 12");
        assert_eq!(
            world.charged.load(Ordering::SeqCst),
            1,
            "what was charged is not charged again"
        );

        // Each refers to the other.
        let info = old.status().await.unwrap();
        assert_eq!(info.state, RunState::Migrated);
        assert_eq!(info.migrated_to.as_ref(), Some(new.id()));
        let history = new.history().await.unwrap().history;
        let Observation::Started(started) = &history.units[0].observation else {
            panic!("it has begun")
        };
        assert_eq!(started.migrated_from.as_ref(), Some(old.id()));
        assert_eq!(started.version, Some(2));
        let text = old.history().await.unwrap().history.text();
        insta::assert_snapshot!("a_moved_history", text);
        assert_eq!(
            old.result().await.unwrap_err(),
            RunError::Migrated {
                run: info.run.clone(),
                to: history.run.clone()
            }
        );
        insta::assert_snapshot!("result_of_a_moved_run", old.result().await.unwrap_err());
        let listed = client.list().status(Status::Migrated).page().await.unwrap();
        assert_eq!(listed.runs.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn s38_what_was_kept_comes_to_its_result_under_the_old_run() {
    each_place(async |place| {
        let world = World::new();
        let runtime = packing(&place, &world).await;
        let client = runtime.client();
        world.pack_begins().await;
        let new = move_it(&client).await;
        new.result().await.unwrap();
        let id = "order-42".parse().unwrap();
        // It has not ended, so the old run is not purged.
        client.purge(&id).await.unwrap_err();
        drop(runtime);

        // Another process goes on with it, as with any activity.
        let runtime = place.second(&world).await;
        world.pack_begins().await;
        world.let_pack();
        let client = runtime.client();
        let packed = async || {
            let attempts = client.history(&id).await.unwrap().attempts;
            let mut packed = attempts
                .into_iter()
                .filter(|attempt| attempt.operation == 2);
            packed.find_map(|attempt| match attempt.outcome {
                AttemptOutcome::Late { result } => Some(result),
                _ => None,
            })
        };
        let late = loop {
            match packed().await {
                Some(result) => break result,
                None => tokio::task::yield_now().await,
            }
        };
        assert_eq!(late.decode::<String>().unwrap(), "A-1 in a box");
        client.purge(&id).await.unwrap();
        // The head alone is left, and knows where the run went.
        let old = client.run(next::order, "order-42").unwrap();
        assert!(matches!(old.result().await, Err(RunError::Migrated { .. })));
        assert_eq!(new.id().as_str(), "order-42-v2");
    })
    .await;
}

#[tokio::test]
async fn s16_what_arrived_while_the_run_was_blocked_is_seen_by_the_migration() {
    each_place(async |place| {
        let world = World::new();
        let runtime = packing(&place, &world).await;
        let client = runtime.client();
        world.pack_begins().await;
        world.let_pack();
        // Where the result has not arrived yet the migration keeps the activity; so it waits for that.
        #[migration(from = next::order, to = next::order_v2)]
        fn once_packed(old: &OldRun) -> Result<OrderV2, Refuse> {
            match old.last_result(pack)? {
                Some(_) => to_v2::run(old),
                None => Err(Refuse::because("it is not packed yet")),
            }
        }
        let new = loop {
            match client.migrate("order-42", once_packed, "order-42-v2").await {
                Ok(new) => break new,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        assert_eq!(new.result().await.unwrap(), "A-1 in a box for 12");
        let id = "order-42".parse().unwrap();
        let told = client.history(&id).await.unwrap();
        let text = told.history.text();
        assert!(
            text.contains("migrated     to order_v2 by once_packed"),
            "{text}"
        );
        // It is in its operation's record too (S11).
        let late = |attempt: &AttemptRecord| {
            attempt.operation == 2 && matches!(attempt.outcome, AttemptOutcome::Late { .. })
        };
        assert_eq!(
            told.attempts.iter().filter(|attempt| late(attempt)).count(),
            1
        );
        client.purge(&id).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn s38_a_run_that_waits_is_moved_and_who_waits_for_it_is_told() {
    each_place(async |place| {
        let world = World::new();
        let runtime = place.both(&world).start().await.unwrap();
        let client = runtime.client();
        let old = client.start(order, "order-42", an_order()).await.unwrap();
        world.pack_begins().await;
        let waiting = tokio::spawn({
            let old = old.clone();
            async move { old.result().await }
        });
        let new = move_it(&client).await;
        let Err(RunError::Migrated { to, .. }) = waiting.await.unwrap() else {
            panic!("it was moved")
        };
        assert_eq!(&to.id, new.id());
        assert_eq!(new.result().await.unwrap(), "nothing for 12");
        // Its attempts are at work all the while, and record what they come to.
        world.let_pack();
        world.labels.add_permits(1);
        let purged = async || client.purge(old.id()).await.is_ok();
        while !purged().await {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

static STARTS: AtomicBool = AtomicBool::new(false);

/// Cannot begin, as long as it does not.
#[workflow]
async fn faulty(cx: &Cx, order: Order) -> Result<u64, Error> {
    #[allow_nondeterminism(statics, reason = "a program that is repaired")]
    assert!(STARTS.load(Ordering::SeqCst), "a fault of the code");
    cx.sleep(days(1)).await?;
    Ok(order.cents)
}

#[migration(from = faulty, to = next::order_v2)]
fn repaired(old: &OldRun) -> Result<OrderV2, Refuse> {
    if old.blocked().len() != 1 || old.blocked()[0].code != "W101" {
        return Err(Refuse::because("it is not blocked by a panic"));
    }
    Ok(OrderV2 {
        order: old.input()?,
        receipt: None,
        packed: None,
    })
}

#[tokio::test]
async fn s38_a_run_that_no_program_could_begin_is_moved_with_its_input() {
    each_place(async |place| {
        let world = World::new();
        let builder = place
            .program(&world, "both")
            .workflow(faulty)
            .workflow(order_v2);
        let runtime = builder.start().await.unwrap();
        let client = runtime.client();
        let old = client.start(faulty, "order-42", an_order()).await.unwrap();
        assert!(matches!(old.result().await, Err(RunError::Blocked { .. })));
        let new = client
            .migrate("order-42", repaired, "order-42-v2")
            .await
            .unwrap();
        assert_eq!(new.result().await.unwrap(), "nothing for 12");
        let history = old.history().await.unwrap().history;
        assert_eq!(history.length(), 1);
        insta::assert_snapshot!("a_moved_history_that_had_not_begun", history.text());
    })
    .await;
}

#[tokio::test]
async fn s38_a_repeated_migration_is_answered_with_the_run_that_it_made() {
    each_place(async |place| {
        let world = World::new();
        let runtime = packing(&place, &world).await;
        let client = runtime.client();
        // At the same time, too.
        let both = tokio::join!(
            client.migrate("order-42", to_v2, "order-42-v2"),
            client.migrate("order-42", to_v2, "order-42-v2"),
        );
        let (one, other) = (both.0.unwrap(), both.1.unwrap());
        assert_eq!(one.id(), other.id());
        one.result().await.unwrap();
        drop(runtime);
        let runtime = place.second(&world).await;
        let client = runtime.client();
        let again = move_it(&client).await;
        assert_eq!(again.result().await.unwrap(), "nothing for 12");
        let named = client.migrate_named(
            "order-42".parse().unwrap(),
            "to_v2",
            "order-42-v2".parse().unwrap(),
        );
        assert_eq!(named.await.unwrap().id.as_str(), "order-42-v2");
        let history = again.history().await.unwrap().history;
        let begun = history.text().matches("started").count();
        assert_eq!(begun, 1);
    })
    .await;
}

#[tokio::test]
async fn s38_a_run_of_another_process_is_taken_over_to_be_moved() {
    // The program that has the runs is gone, and this one never tried them: they are unfit for it, by a record.
    each_place(async |place| {
        let world = World::new();
        drop(blocked(&place, &world).await);
        let runtime = place.second(&world).await;
        let client = runtime.client();
        let new = move_it(&client).await;
        assert_eq!(new.result().await.unwrap(), "nothing for 12");
    })
    .await;
}

#[tokio::test]
async fn s26_a_moved_run_is_purged_when_its_time_is_over() {
    each_place(async |place| {
        let world = World::new();
        let builder = place.both(&world);
        let runtime = builder
            .retention(std::time::Duration::ZERO)
            .start()
            .await
            .unwrap();
        let client = runtime.client();
        let old = client.start(order, "order-42", an_order()).await.unwrap();
        world.pack_begins().await;
        world.let_pack();
        world.labels.add_permits(1);
        let text = async || old.history().await.unwrap().history.text();
        while text().await.matches("completed").count() < 3 {
            tokio::task::yield_now().await;
        }
        move_it(&client).await;
        while old.status().await.unwrap().purged.is_none() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(old.result().await, Err(RunError::Migrated { .. })));
    })
    .await;
}
