//! A set of work that grows and shrinks.

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn at_most_three_at_once(cx: &Cx, order: Order) -> Result<Vec<String>, Error> {
    let (mut set, mut parcels) = (JoinSet::new(cx), Vec::new());
    for line in order.lines {
        if set.len() == 3
            && let Some(parcel) = set.next().await
        {
            parcels.push(parcel?);
        }
        set.submit(ship(cx, line.sku));
    }
    while let Some(parcel) = set.next().await {
        parcels.push(parcel?);
    }
    Ok(parcels)
}
