//! Asks again and again, with a pause that grows.

use perennial::prelude::*;

use crate::shop::{Order, mail, price};

#[workflow]
pub async fn polling_loop(cx: &Cx, order: Order) -> Result<u64, Error> {
    let mut pause = seconds(1);
    let mut asked = 0;
    let cents = loop {
        let cents = price(cx, format!("{}{}", order.id, "x".repeat(asked))).await?;
        if cents > 1_100 || asked == 5 {
            break cents;
        }
        asked += 1;
        cx.sleep(pause).await?;
        pause *= 2;
    };
    mail(cx, format!("asked {asked} times")).await?;
    Ok(cents)
}
