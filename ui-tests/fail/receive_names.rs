//! Names of messages and signals that are none.

use perennial::prelude::*;

const APPROVAL: Message<bool> = Message::new("approval of a purchase");
static NOTHING: Message<bool> = Message::new("");
const BELL: Signal<()> = Signal::new("bell!");

#[workflow]
async fn purchase(cx: &Cx) -> Result<bool, Error> {
    cx.wait_for(BELL).await?;
    cx.receive(NOTHING).await?;
    Ok(cx.receive(APPROVAL).await?)
}

fn main() {}
