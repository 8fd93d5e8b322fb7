//! A method gives a time, and its age is asked for.
//! Found by: clippy D101

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn elapsed_of_a_method(cx: &Cx, order: Order) -> Result<(), Error> {
    if order.placed_at().elapsed().is_ok_and(|age| age > days(30)) {
        mail(cx, "are you still there?".to_owned()).await?;
    }
    Ok(())
}
