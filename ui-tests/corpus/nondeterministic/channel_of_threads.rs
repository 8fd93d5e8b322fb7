//! What comes first through a channel is shipped first.
//! Found by: macro D103

use std::sync::mpsc;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn channel_of_threads(cx: &Cx, order: Order) -> Result<(), Error> {
    let (sender, receiver) = mpsc::channel();
    for line in order.lines {
        let sender = sender.clone();
        std::thread::spawn(move || sender.send(line.sku));
    }
    drop(sender);
    for sku in receiver {
        ship(cx, sku).await?;
    }
    Ok(())
}
