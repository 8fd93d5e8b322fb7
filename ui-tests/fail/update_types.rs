//! What an update asks, answers and is refused with is stored, or goes over a wire.

use perennial::prelude::*;

pub struct Opaque;

const ASKS: Update<Opaque, u64, String> = Update::new("asks");
const ANSWERS: Update<u64, Opaque, String> = Update::new("answers");
const REFUSES: Update<u64, u64, Opaque> = Update::new("refuses");

#[workflow]
pub async fn handles(cx: &Cx) -> Result<(), Error> {
    cx.handle(ASKS, |_| Ok(()), |_| 1);
    cx.handle(ANSWERS, |_| Ok(()), |_| Opaque);
    cx.handle(REFUSES, |_| Err(Opaque), |n| n);
    Ok(())
}

fn main() {}
