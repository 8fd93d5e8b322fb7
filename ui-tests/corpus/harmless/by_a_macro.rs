//! A workflow that a macro of ours writes.

use perennial::prelude::*;

use crate::shop::{Order, charge};

macro_rules! charging {
    ($name:ident, $percent:expr) => {
        #[workflow]
        pub async fn $name(cx: &Cx, order: Order) -> Result<String, Error> {
            let cents = order.cents() * $percent / 100;
            Ok(charge(cx, cents).await?)
        }
    };
}

charging!(by_a_macro, 90);
