//! A random id is the key of a parcel.
//! Found by: macro D102

use perennial::prelude::*;
use uuid::Uuid;

use crate::shop::{Order, ship};

#[workflow]
pub async fn uuid_v4(cx: &Cx, order: Order) -> Result<String, Error> {
    let parcel = Uuid::new_v4();
    Ok(ship(cx, format!("{}-{parcel}", order.id)).await?)
}
