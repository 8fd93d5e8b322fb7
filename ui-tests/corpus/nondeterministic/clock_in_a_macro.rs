//! The clock is read among the arguments of `format!` and `vec!`.
//! Found by: macro D101

use std::time::{Instant, SystemTime};

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn clock_in_a_macro(cx: &Cx, order: Order) -> Result<usize, Error> {
    let instants = vec![Instant::now(), Instant::now()];
    mail(cx, format!("{} at {:?}", order.id, SystemTime::now())).await?;
    Ok(instants.len())
}
