//! A type that does not exist is reported once, however often the generated code names it.

use perennial::prelude::*;

#[workflow]
async fn order(_cx: &Cx, order: Missing) -> Result<Absent, Error> {
    Ok(order)
}

#[activity(pure)]
async fn ship(_acx: &ActivityCx, order: Missing) -> Result<Absent, Failure> {
    Ok(order)
}

fn main() {}
