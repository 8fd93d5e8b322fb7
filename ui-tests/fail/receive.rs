//! Waits for messages and signals: types that cannot be stored, and names of the wrong kind.

use perennial::prelude::*;

struct NotStored(u64);

const APPROVAL: Message<bool> = Message::new("approval");
const RAW: Message<NotStored> = Message::new("raw");
const BELL: Signal<u64> = Signal::new("bell");
const TEXT: &str = "approval";

#[workflow]
async fn not_stored(cx: &Cx) -> Result<u64, Error> {
    Ok(cx.receive(RAW).await?.0)
}

#[workflow]
async fn of_the_wrong_kind(cx: &Cx) -> Result<(), Error> {
    cx.receive(BELL).await?;
    cx.wait_for(APPROVAL).await?;
    cx.receive(TEXT).await?;
    cx.receive("approval").await?;
    cx.receive(APROVAL).await?;
    cx.receive(APPROVAL).timeout(7).await?;
    Ok(())
}

#[workflow]
async fn of_another_type(cx: &Cx) -> Result<u64, Error> {
    Ok(cx.receive(APPROVAL).await?)
}

fn main() {}
