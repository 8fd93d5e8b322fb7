//! The `join!` of another crate.
//! Found by: macro D115

use perennial::prelude::*;

use crate::shop::{Order, charge, ship};

#[workflow]
pub async fn tokio_join(cx: &Cx, order: Order) -> Result<(), Error> {
    let (charged, shipped) = tokio::join!(
        charge(cx, order.cents()).into_future(),
        ship(cx, order.id).into_future()
    );
    charged?;
    shipped?;
    Ok(())
}
