//! Each replay would talk to the network again.

use std::net::{TcpStream, ToSocketAddrs};

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<bool, Error> {
    let reachable = TcpStream::connect("shop.example:443").is_ok();
    let known = ("shop.example", 443).to_socket_addrs().is_ok();
    cx.log(format_args!("{reachable} {known}"));
    Ok(reachable && known)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
