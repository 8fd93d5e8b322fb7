//! An address of the net is parsed and compared; nothing is connected.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn addresses_of_the_net(cx: &Cx, order: Order) -> Result<(), Error> {
    let bank: IpAddr = "10.0.0.7".parse()?;
    let depot = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 80);
    if bank != depot.ip() && !bank.is_loopback() {
        mail(cx, format!("{} goes to {depot}", order.id)).await?;
    }
    Ok(())
}
