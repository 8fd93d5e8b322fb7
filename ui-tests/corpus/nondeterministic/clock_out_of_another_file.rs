//! A glob brings the clock out of another file, under another name.
//! Found by: clippy D101

use perennial::prelude::*;

use crate::shop::everyday::*;
use crate::shop::{Order, mail};

#[workflow]
pub async fn clock_out_of_another_file(cx: &Cx, order: Order) -> Result<(), Error> {
    let late = Timestamp::from(Moment::now()).since(order.placed) > days(2);
    mail(cx, format!("late: {late}")).await?;
    Ok(())
}
