//! What is printed looks at the clock while it is printed.
//! Found by: perturbed run

use std::fmt;
use std::time::SystemTime;

use perennial::prelude::*;

use crate::shop::{Order, mail};

struct Stamp;

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", SystemTime::now())
    }
}

#[workflow]
pub async fn clock_in_a_display(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, format!("{} {Stamp}", order.id)).await?;
    Ok(())
}
