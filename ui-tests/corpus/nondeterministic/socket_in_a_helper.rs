//! A helper tells somebody over the network.
//! Found by: sandbox, strict

use std::net::UdpSocket;

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn count(name: &str) {
    if let Ok(socket) = UdpSocket::bind("127.0.0.1:0") {
        let _ = socket.send_to(name.as_bytes(), "127.0.0.1:9");
    }
}

#[workflow]
pub async fn socket_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    count("charges");
    Ok(charge(cx, order.cents()).await?)
}
