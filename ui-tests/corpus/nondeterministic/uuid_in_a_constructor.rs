//! `Parcel::new` gives itself an id.
//! Found by: perturbed run

use perennial::prelude::*;
use uuid::Uuid;

use crate::shop::{Order, ship};

struct Parcel {
    id: Uuid,
    sku: String,
}

impl Parcel {
    fn new(sku: String) -> Self {
        Self {
            id: Uuid::new_v4(),
            sku,
        }
    }
}

#[workflow]
pub async fn uuid_in_a_constructor(cx: &Cx, order: Order) -> Result<(), Error> {
    for line in order.lines {
        let parcel = Parcel::new(line.sku);
        ship(cx, format!("{}: {}", parcel.id, parcel.sku)).await?;
    }
    Ok(())
}
