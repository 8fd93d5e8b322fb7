//! A counter of the thread on which the run happens to be.
//! Found by: macro D114

use std::cell::Cell;

use perennial::prelude::*;

use crate::shop::{Order, ship};

thread_local! {
    static PARCELS: Cell<u64> = const { Cell::new(0) };
}

#[workflow]
pub async fn thread_local_of_the_file(cx: &Cx, order: Order) -> Result<String, Error> {
    let number = PARCELS.with(|parcels| parcels.replace(parcels.get() + 1));
    Ok(ship(cx, format!("{}-{number}", order.id)).await?)
}
