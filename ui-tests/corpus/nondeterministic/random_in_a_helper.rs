//! A function of ours draws the number.
//! Found by: perturbed run

use perennial::prelude::*;

use crate::shop::{Order, ship};

fn parcel_number() -> u64 {
    rand::random()
}

#[workflow]
pub async fn random_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(ship(cx, format!("{}-{}", order.id, parcel_number())).await?)
}
