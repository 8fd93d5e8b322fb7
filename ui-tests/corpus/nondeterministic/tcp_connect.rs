//! A server is asked, right in the workflow.
//! Found by: macro D108

use std::net::TcpStream;

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

#[workflow]
pub async fn tcp_connect(cx: &Cx, order: Order) -> Result<(), Error> {
    match TcpStream::connect("127.0.0.1:9") {
        Ok(_) => drop(charge(cx, order.cents()).await?),
        Err(_) => mail(cx, "the bank is closed".to_owned()).await?,
    }
    Ok(())
}
