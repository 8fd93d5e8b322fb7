//! An activity talks to the network, and is tried again when it fails.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use perennial::prelude::*;

// ANCHOR: code
#[activity(idempotent, attempt = "10s")]
async fn is_reachable(_acx: &ActivityCx, address: SocketAddr) -> Result<bool, Failure> {
    Ok(std::net::TcpStream::connect(address).is_ok())
}

#[workflow]
async fn order(cx: &Cx, host: IpAddr) -> Result<bool, Error> {
    // Addresses are data.
    let address = SocketAddr::new(host, 443);
    let is_local = host == IpAddr::V4(Ipv4Addr::LOCALHOST);
    Ok(is_local || is_reachable(cx, address).await?)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
