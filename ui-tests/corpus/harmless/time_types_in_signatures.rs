//! The types stand in structs, signatures and bounds, and nothing of them is called.

use std::fs::File;
use std::net::TcpStream;
use std::process::Command;
use std::time::{Instant, SystemTime};

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[derive(Default)]
struct Open {
    file: Option<File>,
    stream: Option<TcpStream>,
    command: Option<Command>,
    since: Option<Instant>,
}

fn later(at: SystemTime) -> SystemTime {
    at + hours(1)
}

#[workflow]
pub async fn time_types_in_signatures(cx: &Cx, order: Order) -> Result<String, Error> {
    let open = Open::default();
    let none: Option<Instant> = open.since;
    let nothing = open.file.is_none() && open.stream.is_none() && open.command.is_none();
    let later = later(SystemTime::from(order.placed)) > SystemTime::from(order.placed);
    Ok(charge(
        cx,
        u64::from(nothing) + u64::from(later) + u64::from(none.is_none()),
    )
    .await?)
}
