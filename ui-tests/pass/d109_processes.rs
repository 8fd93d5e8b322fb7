//! An activity starts processes; a workflow ends by returning.

#![deny(warnings)]
#![allow(dead_code, clippy::all)]

use perennial::prelude::*;

// ANCHOR: code
#[activity(idempotent)]
async fn print(acx: &ActivityCx) -> Result<(), Failure<String>> {
    let key = acx.idempotency_key().to_string();
    match std::process::Command::new("lpr").arg(key).status() {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::reject(error.to_string())),
    }
}

#[workflow]
async fn order(cx: &Cx) -> Result<String, String> {
    if print(cx).await.is_err() {
        return Err("not printed".to_owned());
    }
    Ok(cx.run_id().to_string())
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
