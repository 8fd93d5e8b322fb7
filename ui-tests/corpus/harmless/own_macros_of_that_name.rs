//! A macro of ours is called `println`, another `env`.

use perennial::prelude::*;

use crate::shop::{Order, mail};

macro_rules! println {
    ($text:expr) => {
        $text.len()
    };
}

macro_rules! doubled {
    ($n:expr) => {
        $n * 2
    };
}

#[workflow]
pub async fn own_macros_of_that_name(cx: &Cx, order: Order) -> Result<(), Error> {
    let length = println!(order.id);
    mail(cx, doubled!(length).to_string()).await?;
    Ok(())
}
