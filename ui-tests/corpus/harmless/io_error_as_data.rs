//! An `io::Error` is made and matched on.

use std::io;

use perennial::prelude::*;

use crate::shop::{Order, mail};

fn checked(order: &Order) -> Result<u64, io::Error> {
    match order.cents() {
        0 => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "nothing to pay",
        )),
        cents => Ok(cents),
    }
}

#[workflow]
pub async fn io_error_as_data(cx: &Cx, order: Order) -> Result<u64, Error> {
    match checked(&order) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            mail(cx, error.to_string()).await?;
            Ok(0)
        }
        other => Ok(other?),
    }
}
