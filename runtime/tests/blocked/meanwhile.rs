//! What happens while a run is blocked waits for it.

use std::sync::Arc;

use perennial::history::Observation;
use perennial::prelude::*;
use perennial_runtime::store::{AttemptOutcome, Store};
use perennial_runtime::{Builder, RunState, StartError};

use super::place::{Place, World, add, bytes, charge, check, code, key, loaded, program, until};

#[workflow]
pub(crate) async fn order(cx: &Cx, amount: u64) -> Result<u64, Error> {
    let fee = add(cx, amount, 5).await?;
    let nap = async {
        cx.sleep(hours(1)).await?;
        charge(cx, fee).await.map_err(Error::from)
    };
    let (paid, checked) = try_join!(nap, async { check(cx).await.map_err(Error::from) })?;
    Ok(paid + checked)
}

mod next {
    use super::super::place::{add, check};
    use super::*;

    #[workflow(name = "order")]
    pub(crate) async fn changed(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let fee = add(cx, amount, 6).await?;
        Ok(fee + check(cx).await?)
    }
}

/// A run whose timer rings, and which tells that by its end.
#[workflow]
pub(crate) async fn naps(cx: &Cx, milliseconds: u64) -> Result<u64, Error> {
    cx.sleep(millis(milliseconds)).await?;
    Ok(milliseconds)
}

pub(crate) fn released(store: &Arc<dyn Store>, world: &Arc<World>) -> Builder {
    let program = program(store, world, "monday");
    program.workflow(order).workflow(naps)
}

pub(crate) fn bad(store: &Arc<dyn Store>, world: &Arc<World>, artifact: &str) -> Builder {
    let program = program(store, world, artifact);
    program.workflow(next::changed).workflow(naps)
}

/// Starts `order` and leaves it in the middle: an activity of it is open, and its timer is due after that.
pub(crate) async fn leave_in_the_middle(place: &Place, world: &Arc<World>, ids: &[&str]) {
    let store = place.store();
    let runtime = released(&store, world).start().await.unwrap();
    for id in ids {
        runtime.client().start(order, *id, 10).await.unwrap();
        world.began.acquire().await.unwrap().forget();
    }
    drop(runtime);
    world.clock.at(4_000);
}

#[tokio::test]
async fn s16_a_due_timer_a_retry_and_a_completion_wait_for_a_program_that_fits() {
    for place in Place::both() {
        let world = World::new();
        leave_in_the_middle(&place, &world, &["order-42"]).await;
        let history = place.look(|store| bytes(store, "order-42"));

        let store = place.store();
        let runtime = bad(&store, &world, "tuesday").start().await.unwrap();
        let run = runtime.client().run(order, "order-42").unwrap();
        assert_eq!(code(run.result().await), "H202");
        world.gate.add_permits(2);
        until(|| loaded(&*store, "order-42").queue.len() == 1).await;
        // Its timer has rung by now: one that was started after it has.
        let nap = runtime.client().start(naps, "nap", 1).await.unwrap();
        nap.result().await.unwrap();
        drop(runtime);
        drop(store);
        let (kept, attempts) = place.look(|store| {
            let attempts = store.attempts(&key("order-42"), 1).unwrap();
            (loaded(store, "order-42"), attempts)
        });
        assert_eq!((kept.timers.len(), kept.tasks.len()), (1, 0));
        let Observation::ActivityCompleted { .. } = kept.queue[0].observation else {
            panic!("{:?}", kept.queue[0])
        };
        let outcomes: Vec<_> = attempts.iter().map(|attempt| &attempt.outcome).collect();
        let [AttemptOutcome::Lost, AttemptOutcome::Failed { error }] = &outcomes[..] else {
            panic!("{outcomes:?}")
        };
        assert!(error.contains("not yet"), "{error}");
        assert_eq!(place.look(|store| bytes(store, "order-42")), history);

        let store = place.store();
        let runtime = released(&store, &world).start().await.unwrap();
        let run = runtime.client().run(order, "order-42").unwrap();
        assert_eq!(run.result().await.unwrap(), 22);
        let ended = run.history().await.unwrap().history;
        assert_eq!(bytes(&*store, "order-42")[..history.len()], history[..]);
        // The timer was due before the completion came (S2).
        let told: Vec<_> = ended.units[history.len()..]
            .iter()
            .map(|unit| std::mem::discriminant(&unit.observation))
            .collect();
        let timer = std::mem::discriminant(&Observation::TimerFired { operation: 0 });
        assert_eq!(told[0], timer);
        let stamps: Vec<_> = ended.units.iter().map(|unit| unit.at).collect();
        assert!(stamps.is_sorted());
        for (activity, times) in [("add", 1), ("charge", 1), ("let through", 2)] {
            assert_eq!(world.executions(activity), times, "{activity}");
        }
    }
}

#[tokio::test]
async fn s04_a_start_of_a_blocked_run_answers_with_that_run() {
    for place in Place::both() {
        let world = World::new();
        leave_in_the_middle(&place, &world, &["order-42"]).await;
        let store = place.store();
        let runtime = bad(&store, &world, "tuesday").start().await.unwrap();
        let client = runtime.client();
        let run = client.start(next::changed, "order-42", 10).await.unwrap();
        assert_eq!(code(run.result().await), "H202");
        let again = client.start(next::changed, "order-42", 10).await.unwrap();
        assert_eq!(code(again.result().await), "H202");
        let other = client
            .start(next::changed, "order-42", 11)
            .await
            .unwrap_err();
        assert!(matches!(other, StartError::Conflict { .. }), "{other}");
        drop(runtime);
        drop(store);

        // And where the program does not even load it.
        let store = place.store();
        let runtime = bad(&store, &world, "tuesday").start().await.unwrap();
        let run = runtime.client().start(next::changed, "order-42", 10);
        let run = run.await.unwrap();
        assert_eq!(code(run.result().await), "H202");
        let RunState::Blocked { errors } = run.status().await.unwrap().state else {
            panic!("it is blocked")
        };
        assert_eq!(errors.len(), 1);
    }
}

#[tokio::test]
async fn s16_programs_that_alternate_do_what_each_of_them_can() {
    for place in Place::both() {
        let world = World::new();
        leave_in_the_middle(&place, &world, &["order-42"]).await;
        for artifact in ["tuesday", "wednesday"] {
            let store = place.store();
            let runtime = bad(&store, &world, artifact).start().await.unwrap();
            let run = runtime.client().run(order, "order-42").unwrap();
            assert_eq!(code(run.result().await), "H202");
            drop(runtime);
        }
        let records = place.look(|store| loaded(store, "order-42").blocked);
        let artifacts: Vec<_> = records.iter().map(|record| &record.artifact[..]).collect();
        assert_eq!(artifacts, ["tuesday", "wednesday"]);

        // One that fits goes on, which clears the records of all.
        let store = place.store();
        let runtime = released(&store, &world).start().await.unwrap();
        until(|| !loaded(&*store, "order-42").head.blocked).await;
        until(|| world.executions("charge") == 1).await;
        // What it brought is stored.
        until(|| loaded(&*store, "order-42").tasks.len() == 1).await;
        assert!(loaded(&*store, "order-42").blocked.is_empty());
        drop(runtime);
        drop(store);

        // One that does not fit finds out once more, when there is something to tell.
        let store = place.store();
        let runtime = bad(&store, &world, "tuesday").start().await.unwrap();
        world.gate.add_permits(2);
        let run = runtime.client().run(order, "order-42").unwrap();
        assert_eq!(code(run.result().await), "H202");
        drop(runtime);
        drop(store);

        let store = place.store();
        let runtime = released(&store, &world).start().await.unwrap();
        let run = runtime.client().run(order, "order-42").unwrap();
        assert_eq!(run.result().await.unwrap(), 22);
        assert_eq!(
            (world.executions("add"), world.executions("charge")),
            (1, 1)
        );
    }
}
