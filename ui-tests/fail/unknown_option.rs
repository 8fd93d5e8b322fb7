//! An unknown option is named at its place, with what was meant.

use perennial::prelude::*;

#[workflow(nane = "order")]
async fn order(_cx: &Cx) -> Result<(), Error> {
    Ok(())
}

#[workflow(retries = 3)]
async fn second(_cx: &Cx) -> Result<(), Error> {
    Ok(())
}

#[activity(idempotant, attempts = 3)]
async fn charge(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[activity(pure, retry(attempt = 3))]
async fn ship(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[durable(name = "helper")]
async fn helper(_cx: &Cx) {}

fn main() {}
