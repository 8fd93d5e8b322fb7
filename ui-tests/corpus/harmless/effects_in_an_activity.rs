//! An activity may do all of it.

use std::collections::HashMap;
use std::time::SystemTime;

use perennial::prelude::*;
use perennial::testing::TestRun;

use crate::shop::Order;

pub fn allow(t: &mut TestRun) {
    t.allow(report);
}

#[activity(idempotent)]
async fn report(acx: &ActivityCx, id: String) -> Result<String, Failure> {
    let folder = std::env::temp_dir();
    let map: HashMap<u8, u8> = HashMap::from([(1, 2), (3, 4)]);
    for (key, value) in &map {
        println!("{key} {value} {id}");
    }
    tokio::task::yield_now().await;
    Ok(format!(
        "{:?} {:?} {} {}",
        SystemTime::now(),
        folder,
        acx.attempt(),
        rand::random::<u8>()
    ))
}

#[workflow]
pub async fn effects_in_an_activity(cx: &Cx, order: Order) -> Result<(), Error> {
    report(cx, order.id).await?;
    Ok(())
}
