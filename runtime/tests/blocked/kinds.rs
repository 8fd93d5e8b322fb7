//! Every kind of incompatibility blocks its run and no other, and the program before goes on with all of them.

use std::sync::Arc;

use perennial::prelude::*;
use perennial_runtime::store::Store;
use perennial_runtime::{Builder, Runtime};

use super::place::{Place, World, bytes, code, loaded, program, until};

/// What is in production.
mod released {
    use super::super::place::{add, charge, checked};
    use super::*;

    #[activity(pure)]
    pub(crate) async fn grade(acx: &ActivityCx) -> Result<u64, Failure> {
        let _ = acx;
        Ok(2)
    }

    /// What most of them do.
    #[durable]
    async fn order(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let fee = add(cx, amount, 5).await?;
        let paid = charge(cx, fee).await?;
        Ok(paid + checked(cx).await?)
    }

    #[workflow]
    pub(crate) async fn changed(cx: &Cx, amount: u64) -> Result<u64, Error> {
        order(cx, amount).await
    }

    #[workflow]
    pub(crate) async fn input(cx: &Cx, amount: u64) -> Result<u64, Error> {
        order(cx, amount).await
    }

    #[workflow]
    pub(crate) async fn inserted(cx: &Cx, amount: u64) -> Result<u64, Error> {
        order(cx, amount).await
    }

    #[workflow]
    pub(crate) async fn removed(cx: &Cx, amount: u64) -> Result<u64, Error> {
        order(cx, amount).await
    }

    #[workflow]
    pub(crate) async fn reordered(cx: &Cx, amount: u64) -> Result<u64, Error> {
        order(cx, amount).await
    }

    #[workflow]
    pub(crate) async fn left_over(cx: &Cx, amount: u64) -> Result<u64, Error> {
        order(cx, amount).await
    }

    #[workflow]
    pub(crate) async fn gone(cx: &Cx, amount: u64) -> Result<u64, Error> {
        order(cx, amount).await
    }

    #[workflow]
    pub(crate) async fn panics(cx: &Cx, amount: u64) -> Result<u64, Error> {
        order(cx, amount).await
    }

    #[workflow]
    pub(crate) async fn runs_away(cx: &Cx, amount: u64) -> Result<u64, Error> {
        order(cx, amount).await
    }

    #[workflow]
    pub(crate) async fn fine(cx: &Cx, amount: u64) -> Result<u64, Error> {
        order(cx, amount).await
    }

    #[workflow]
    pub(crate) async fn undecodable(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let grade = grade(cx).await?;
        Ok(amount + grade + checked(cx).await?)
    }

    #[workflow]
    pub(crate) async fn unmarked(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let amount = if cx.patched("rounding") {
            add(cx, amount, 1).await?
        } else {
            amount
        };
        Ok(amount + checked(cx).await?)
    }

    #[workflow]
    pub(crate) async fn unsupported(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let amount = match cx.version("rounding", 0..=2) {
            0 => amount,
            1 => add(cx, amount, 1).await?,
            2 => add(cx, amount, 2).await?,
        };
        Ok(amount + checked(cx).await?)
    }
}

/// What is deployed in its place.
mod next {
    use super::super::place::{add, charge, checked, refund};
    use super::*;

    #[activity(pure)]
    pub(crate) async fn grade(acx: &ActivityCx) -> Result<String, Failure> {
        let _ = acx;
        Ok("good".into())
    }

    #[workflow]
    pub(crate) async fn changed(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let fee = add(cx, amount, 5).await?;
        let paid = refund(cx, fee).await?;
        Ok(paid + checked(cx).await?)
    }

    #[workflow]
    pub(crate) async fn input(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let fee = add(cx, amount, 5).await?;
        let paid = charge(cx, fee + 1).await?;
        Ok(paid + checked(cx).await?)
    }

    #[workflow]
    pub(crate) async fn inserted(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let fee = add(cx, amount, 5).await?;
        let fee = refund(cx, fee).await?;
        let paid = charge(cx, fee).await?;
        Ok(paid + checked(cx).await?)
    }

    #[workflow]
    pub(crate) async fn removed(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let fee = add(cx, amount, 5).await?;
        Ok(fee + checked(cx).await?)
    }

    #[workflow]
    pub(crate) async fn reordered(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let paid = charge(cx, amount).await?;
        let fee = add(cx, paid, 5).await?;
        Ok(fee + checked(cx).await?)
    }

    #[workflow]
    pub(crate) async fn left_over(cx: &Cx, amount: u64) -> Result<u64, Error> {
        Ok(add(cx, amount, 5).await?)
    }

    #[workflow]
    pub(crate) async fn panics(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let fee = add(cx, amount, 5).await?;
        assert!(fee > 1_000, "a fault of the code");
        checked(cx).await
    }

    #[workflow]
    pub(crate) async fn runs_away(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let fee = add(cx, amount, 5).await?;
        for _ in 0..fee * 1_000 {
            cx.log("not enough");
        }
        checked(cx).await
    }

    #[workflow]
    pub(crate) async fn undecodable(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let grade = grade(cx).await?;
        Ok(amount + grade.len() as u64 + checked(cx).await?)
    }

    #[workflow]
    pub(crate) async fn unmarked(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let amount = add(cx, amount, 1).await?;
        Ok(amount + checked(cx).await?)
    }

    #[workflow]
    pub(crate) async fn unsupported(cx: &Cx, amount: u64) -> Result<u64, Error> {
        let amount = match cx.version("rounding", 0..=1) {
            0 => amount,
            1 => add(cx, amount, 1).await?,
        };
        Ok(amount + checked(cx).await?)
    }
}

fn released(store: &Arc<dyn Store>, world: &Arc<World>) -> Builder {
    use released as r;
    program(store, world, "monday")
        .activity(r::grade)
        .workflow(r::changed)
        .workflow(r::input)
        .workflow(r::inserted)
        .workflow(r::removed)
        .workflow(r::reordered)
        .workflow(r::left_over)
        .workflow(r::gone)
        .workflow(r::panics)
        .workflow(r::runs_away)
        .workflow(r::undecodable)
        .workflow(r::unmarked)
        .workflow(r::unsupported)
        .workflow(r::fine)
}

fn next(store: &Arc<dyn Store>, world: &Arc<World>) -> Builder {
    program(store, world, "tuesday")
        .activity(next::grade)
        .workflow(next::changed)
        .workflow(next::input)
        .workflow(next::inserted)
        .workflow(next::removed)
        .workflow(next::reordered)
        .workflow(next::left_over)
        .workflow(next::panics)
        .workflow(next::runs_away)
        .workflow(next::undecodable)
        .workflow(next::unmarked)
        .workflow(next::unsupported)
        .workflow(released::fine)
}

/// Each run with the code that it is blocked with, and what it returns in the end.
const RUNS: &[(&str, &str, u64)] = &[
    ("changed", "H201", 17 + 5),
    ("input", "H202", 17 + 5),
    ("inserted", "H203", 17 + 5),
    ("removed", "H204", 17 + 5),
    ("reordered", "H205", 17 + 5),
    ("left_over", "H206", 17 + 5),
    ("unsupported", "H207", 17 + 2),
    ("unmarked", "H208", 17 + 1),
    ("gone", "H209", 17 + 5),
    ("undecodable", "H210", 17 + 2),
    ("panics", "W101", 17 + 5),
    ("runs_away", "W102", 17 + 5),
];

async fn start_all(runtime: &Runtime) {
    let client = runtime.client();
    for name in RUNS.iter().map(|(name, ..)| *name).chain(["fine"]) {
        let (id, input) = (
            name.parse().unwrap(),
            perennial::value::Value::encode(&10).unwrap(),
        );
        client.start_named(name, id, input).await.unwrap();
    }
}

/// Over both stores: nothing of a history changes by a byte, and nothing is executed twice but the attempts that
/// were lost with the first program.
#[tokio::test]
async fn o51_each_kind_blocks_its_run_alone_and_the_program_before_goes_on_with_all() {
    for place in Place::both() {
        let world = World::new();
        let store = place.store();
        let runtime = released(&store, &world).start().await.unwrap();
        start_all(&runtime).await;
        let waiting = u32::try_from(RUNS.len() + 1).unwrap();
        world.began.acquire_many(waiting).await.unwrap().forget();
        drop(runtime);
        drop(store);
        world.clock.at(4_000);
        let histories: Vec<_> =
            place.look(|store| RUNS.iter().map(|(id, ..)| bytes(store, id)).collect());

        let store = place.store();
        let runtime = next(&store, &world).start().await.unwrap();
        let client = runtime.client();
        for (id, expected, _) in RUNS {
            let run = client.run(released::fine, *id).unwrap();
            let code = code(run.result().await);
            assert_eq!(code, *expected, "{id}");
        }
        // What was under way goes on, and what it brings waits.
        world.began.acquire_many(waiting).await.unwrap().forget();
        world.gate.add_permits(100);
        let fine = client.run(released::fine, "fine").unwrap();
        assert_eq!(fine.result().await.unwrap(), 22);
        for (id, ..) in RUNS {
            until(|| loaded(&*store, id).queue.len() == 1).await;
        }
        drop(runtime);
        drop(store);
        let kept: Vec<_> =
            place.look(|store| RUNS.iter().map(|(id, ..)| bytes(store, id)).collect());
        assert!(kept == histories, "a history has changed");
        let executed = world.executed.lock().unwrap().clone();

        let store = place.store();
        let runtime = released(&store, &world).start().await.unwrap();
        for (id, _, result) in RUNS {
            let run = runtime.client().run(released::fine, *id).unwrap();
            assert_eq!(run.result().await.unwrap(), *result, "{id}");
            assert!(loaded(&*store, id).blocked.is_empty(), "{id}");
        }
        assert_eq!(*world.executed.lock().unwrap(), executed);
        assert_eq!(world.executions("refund"), 0);
    }
}
