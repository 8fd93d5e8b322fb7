//! A workflow takes what has come through a channel.
//! Found by: macro D104

use perennial::prelude::*;
use tokio::sync::mpsc;

use crate::shop::{Order, mail};

#[workflow]
pub async fn tokio_channel(cx: &Cx, order: Order) -> Result<(), Error> {
    let (sender, mut receiver) = mpsc::channel(1);
    let _ = sender.try_send(order.id);
    while let Ok(id) = receiver.try_recv() {
        mail(cx, id).await?;
    }
    Ok(())
}
