//! The crate gets another name in the body.
//! Found by: macro D102

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn rand_renamed_inside(cx: &Cx, order: Order) -> Result<String, Error> {
    use rand as dice;
    let eyes = dice::random_range(1..=6);
    Ok(charge(cx, order.cents() / eyes).await?)
}
