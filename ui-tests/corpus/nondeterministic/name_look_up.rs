//! A name is looked up, by a method of all that is an address.
//! Found by: macro D108

use std::net::ToSocketAddrs;

use perennial::prelude::*;

use crate::shop::{Order, ship};

#[workflow]
pub async fn name_look_up(cx: &Cx, order: Order) -> Result<String, Error> {
    let depot = "localhost:80".to_socket_addrs()?.next();
    Ok(ship(cx, format!("{} to {depot:?}", order.id)).await?)
}
