//! A line is printed while somebody looks for a mistake, with an opt-out.

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[workflow]
pub async fn opt_out_of_output(cx: &Cx, order: Order) -> Result<String, Error> {
    #[allow_nondeterminism(
        output,
        reason = "to be seen at each replay while the totals are looked into"
    )]
    {
        eprintln!("{}: {}", order.id, order.cents());
    }
    Ok(charge(cx, order.cents()).await?)
}
