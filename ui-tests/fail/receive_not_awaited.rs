//! Waits that nobody awaits, and results that nobody looks at.

#![deny(unused_must_use)]

use perennial::prelude::*;

const APPROVAL: Message<bool> = Message::new("approval");
const BELL: Signal<u64> = Signal::new("bell");

#[workflow]
async fn forgotten(cx: &Cx) -> Result<(), Error> {
    cx.receive(APPROVAL);
    cx.wait_for(BELL).timeout(days(1));
    cx.receive(APPROVAL).await;
    Ok(())
}

fn main() {}
