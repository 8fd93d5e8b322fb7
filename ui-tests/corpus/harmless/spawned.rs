//! Work of the run beside its own line.

use perennial::prelude::*;

use crate::shop::{Order, charge, mail, ship};

#[workflow]
pub async fn spawned(cx: &Cx, order: Order) -> Result<String, Error> {
    let parcel = cx.spawn(ship(cx, order.id.clone()));
    let reminder = cx.spawn(async move {
        cx.sleep(days(1)).await?;
        mail(cx, "tomorrow".to_owned()).await?;
        Ok::<_, Error>(())
    });
    charge(cx, order.cents()).await?;
    reminder.await?;
    Ok(parcel.await?)
}
