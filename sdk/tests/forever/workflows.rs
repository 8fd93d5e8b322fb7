//! The workflows of the histories. Each is released: never change one, add another.

use perennial::WorkflowDefinition;
use perennial::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) cents: u64,
    pub(crate) note: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Declined {
    pub(crate) why: String,
}

#[activity(idempotent)]
async fn charge(_acx: &ActivityCx, order: Order) -> Result<String, Failure<Declined>> {
    Ok(order.id)
}

#[activity(idempotent)]
async fn ship(_acx: &ActivityCx, number: u64) -> Result<u64, Failure<Declined>> {
    Ok(number)
}

/// Each way in which an activity can end, a draw of each kind, timers, drops, a marker in both forms, and activities
/// that are left open.
#[workflow]
async fn everything(cx: &Cx, order: Order) -> Result<(String, u64), Error> {
    let receipt = charge(cx, order.clone()).await?;
    let jitter = cx.random_range(0..1_000);
    let id = cx.uuid();
    let limit: u64 = cx.record("limit \"of the day\"", || 5);
    if cx.patched("wait-first") {
        cx.sleep(millis(jitter)).await?;
    }
    let ends = join_all((0..limit).map(|number| ship(cx, number))).await;
    let failed = ends.iter().filter(|end| end.is_err()).count() as u64;
    select! {
        shipped = ship(cx, 100) => drop(shipped?),
        _ = cx.sleep(hours(1)) => {},
    }
    for _ in 0..2 {
        if cx.patched_each("each-time") {
            cx.sleep(minutes(1)).await?;
        }
    }
    let _left = cx.spawn(ship(cx, 7));
    let _also = cx.spawn(charge(
        cx,
        Order {
            id: id.to_string(),
            ..order
        },
    ));
    Ok((receipt, failed))
}

/// Returns its error, and leaves something open.
#[workflow]
async fn refuses(cx: &Cx, number: u64) -> Result<u64, Declined> {
    let _left = cx.spawn(ship(cx, number));
    match ship(cx, number).await {
        Ok(number) => Ok(number),
        Err(ActivityError::Rejected(why)) => Err(why),
        Err(other) => Err(Declined {
            why: other.to_string(),
        }),
    }
}

impl std::fmt::Display for Declined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

/// Waits for an activity and a timer, for a run that is moved elsewhere meanwhile.
#[workflow]
async fn waits(cx: &Cx) -> Result<u64, Error> {
    let (shipped, slept) = join!(ship(cx, 1), cx.sleep(days(30)));
    slept?;
    shipped.map_err(Error::from)
}

pub(crate) fn all() -> Vec<WorkflowDefinition> {
    vec![
        WorkflowDefinition::of::<everything>(),
        WorkflowDefinition::of::<refuses>(),
        WorkflowDefinition::of::<waits>(),
    ]
}
