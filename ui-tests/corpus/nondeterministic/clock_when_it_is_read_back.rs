//! The result of an activity gets the time when it is read out of the history.
//! Found by: perturbed run

use std::time::SystemTime;

use perennial::prelude::*;
use perennial::testing::TestRun;

use crate::shop::{Order, mail};

pub fn allow(t: &mut TestRun) {
    t.allow(rate);
}

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Rate {
    percent: u64,
    #[serde(skip, default = "SystemTime::now")]
    known_since: SystemTime,
}

#[activity(pure)]
async fn rate(_acx: &ActivityCx) -> Result<Rate, Failure> {
    Ok(Rate {
        percent: 19,
        known_since: SystemTime::now(),
    })
}

#[workflow]
pub async fn clock_when_it_is_read_back(cx: &Cx, order: Order) -> Result<(), Error> {
    let rate = rate(cx).await?;
    mail(
        cx,
        format!(
            "{}: {} since {:?}",
            order.id, rate.percent, rate.known_since
        ),
    )
    .await?;
    Ok(())
}
