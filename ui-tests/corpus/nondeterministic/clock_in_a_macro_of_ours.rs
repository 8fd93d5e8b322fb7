//! A macro of ours hides the clock.
//! Found by: clippy D101

use perennial::prelude::*;

use crate::shop::{Order, mail};

macro_rules! stamped {
    ($text:expr) => {
        format!("{} {:?}", $text, std::time::SystemTime::now())
    };
}

#[workflow]
pub async fn clock_in_a_macro_of_ours(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, stamped!(order.id)).await?;
    Ok(())
}
