//! Two things at once, by `join!` and `try_join!`.

use perennial::prelude::*;

use crate::shop::{Order, charge, mail, ship};

#[workflow]
pub async fn joined(cx: &Cx, order: Order) -> Result<String, Error> {
    let (receipt, parcel) = join!(charge(cx, order.cents()), async {
        cx.sleep(minutes(5)).await?;
        Ok::<_, Error>(ship(cx, order.id.clone()).await?)
    });
    let (_, _) = try_join!(mail(cx, receipt?), mail(cx, order.customer.clone()))?;
    parcel
}
