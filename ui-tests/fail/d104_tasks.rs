//! Tasks run beside the workflow, where no history records when they finish.

use tokio::sync::oneshot;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx) -> Result<u32, Error> {
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async move { sender.send(1) });
    let handle = tokio::task::spawn(async { 2 });
    let answer = tokio::runtime::Handle::current().block_on(receiver);
    let two = handle.await.unwrap_or(0);
    cx.sleep(seconds(1)).await?;
    Ok(answer.unwrap_or(0) + two)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
