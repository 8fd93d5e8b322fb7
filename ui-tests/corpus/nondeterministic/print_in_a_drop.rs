//! A value prints when it goes.
//! Found by: sandbox, strict

use perennial::prelude::*;

use crate::shop::{Order, charge};

struct Told(String);

impl Drop for Told {
    fn drop(&mut self) {
        println!("done with {}", self.0);
    }
}

#[workflow]
pub async fn print_in_a_drop(cx: &Cx, order: Order) -> Result<String, Error> {
    let _told = Told(order.id.clone());
    Ok(charge(cx, order.cents()).await?)
}
