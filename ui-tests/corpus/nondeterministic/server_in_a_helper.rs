//! A helper asks whether a server is there.
//! Found by: sandbox, strict

use std::net::{SocketAddr, TcpStream};

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

fn is_open(bank: &SocketAddr) -> bool {
    TcpStream::connect_timeout(bank, millis(10)).is_ok()
}

#[workflow]
pub async fn server_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    if is_open(&SocketAddr::from(([127, 0, 0, 1], 9))) {
        charge(cx, order.cents()).await?;
    } else {
        mail(cx, "the bank is closed".to_owned()).await?;
    }
    Ok(())
}
