//! An await in a macro that the attribute does not know.
//! Found by: macro D116

use perennial::prelude::*;

use crate::shop::{Order, charge};

macro_rules! or_zero {
    ($tried:expr) => {
        match $tried {
            Ok(value) => value,
            Err(_) => String::new(),
        }
    };
}

#[workflow]
pub async fn await_in_a_macro_of_ours(cx: &Cx, order: Order) -> Result<String, Error> {
    Ok(or_zero!(charge(cx, order.cents()).await))
}
