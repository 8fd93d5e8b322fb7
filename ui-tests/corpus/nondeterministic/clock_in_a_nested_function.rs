//! A function inside of the body reads the clock.
//! Found by: macro D101

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn clock_in_a_nested_function(cx: &Cx, order: Order) -> Result<(), Error> {
    fn now() -> std::time::SystemTime {
        std::time::SystemTime::now()
    }
    mail(cx, format!("{} {:?}", order.id, now())).await?;
    Ok(())
}
