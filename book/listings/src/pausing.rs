//! *Pausing and forking*.

// ANCHOR: imports
use perennial::prelude::*;
use perennial_runtime::{Client, ForkError, PauseError, RunHandle};
// ANCHOR_END: imports

pub const DECISION: Message<bool> = Message::new("decision");

#[activity(idempotent, attempt = "30s")]
pub async fn charge(_acx: &ActivityCx, cents: u64) -> Result<u64, Failure> {
    Ok(cents)
}

/// Charges, and waits until somebody has decided what becomes of it.
#[workflow]
pub async fn order(cx: &Cx, cents: u64) -> Result<String, Error> {
    let charged = charge(cx, cents).await?;
    Ok(match cx.receive(DECISION).timeout(days(7)).await? {
        Some(true) => format!("shipped for {charged}"),
        Some(false) => "taken back".to_owned(),
        None => "given up".to_owned(),
    })
}

// ANCHOR: pause
pub async fn look_into(client: &Client, run: &RunId) -> Result<(), PauseError> {
    let paused = client.pause(run).await?;
    println!("nothing is told to it since {}", paused.at);
    // Whatever is to be looked into.
    client.resume(run).await?;
    Ok(())
}
// ANCHOR_END: pause

// ANCHOR: fork
pub async fn once_more(run: &RunHandle<order>) -> Result<RunHandle<order>, ForkError> {
    // Event 4 is the wait for the decision: the card was charged before.
    run.fork(4, "order-42-again").await
}
// ANCHOR_END: fork
