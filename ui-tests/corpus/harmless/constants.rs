//! Constants of the file, of the body and of a type.

use std::time::Duration;

use perennial::prelude::*;

use crate::shop::{Order, mail};

const GRACE: Duration = Duration::from_secs(3 * 86_400);

struct Shop;

impl Shop {
    const NAME: &'static str = "The Shop";
}

#[workflow]
pub async fn constants(cx: &Cx, order: Order) -> Result<(), Error> {
    const GREETING: &str = "Dear";
    cx.sleep(GRACE).await?;
    mail(cx, format!("{GREETING} {}, {}", order.customer, Shop::NAME)).await?;
    Ok(())
}
