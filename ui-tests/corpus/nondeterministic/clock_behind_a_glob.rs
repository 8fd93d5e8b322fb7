//! The clock comes under another name out of a module of ours, by a glob.
//! Found by: macro D101

use perennial::prelude::*;

use self::prelude::*;
use crate::shop::{Order, mail};

mod prelude {
    pub use std::time::SystemTime as Moment;
}

#[workflow]
pub async fn clock_behind_a_glob(cx: &Cx, order: Order) -> Result<(), Error> {
    let late = Timestamp::from(Moment::now()).since(order.placed) > days(2);
    mail(cx, format!("late: {late}")).await?;
    Ok(())
}
