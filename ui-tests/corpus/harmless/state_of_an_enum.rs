//! A machine of states, as an enum.

use perennial::prelude::*;

use crate::shop::{Order, charge, mail, ship};

enum State {
    New(Order),
    Charged { order: Order, receipt: String },
    Shipped(String),
    Clock { now: u32 },
}

#[workflow]
pub async fn state_of_an_enum(cx: &Cx, order: Order) -> Result<String, Error> {
    let mut state = State::New(order);
    loop {
        state = match state {
            State::New(order) => {
                let receipt = charge(cx, order.cents()).await?;
                State::Charged { order, receipt }
            }
            State::Charged { order, receipt } if receipt.is_empty() => State::Clock {
                now: order.lines[0].count,
            },
            State::Charged { order, .. } => State::Shipped(ship(cx, order.id).await?),
            State::Clock { now } => State::Shipped(now.to_string()),
            State::Shipped(parcel) => {
                mail(cx, parcel.clone()).await?;
                return Ok(parcel);
            }
        };
    }
}
