//! A loop over a map in a value whose type is declared elsewhere.
//! Found by: clippy D111

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn map_in_a_struct_of_another_file(cx: &Cx, order: Order) -> Result<(), Error> {
    let shelves = order.shelves();
    for (shelf, skus) in shelves.of {
        ship(cx, format!("{shelf}: {}", skus.join(" "))).await?;
    }
    Ok(())
}
