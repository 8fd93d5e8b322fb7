//! A coin is thrown.
//! Found by: macro D102

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

#[workflow]
pub async fn rand_random(cx: &Cx, order: Order) -> Result<(), Error> {
    if rand::random::<bool>() {
        mail(cx, "you have won".to_owned()).await?;
    } else {
        charge(cx, order.cents()).await?;
    }
    Ok(())
}
