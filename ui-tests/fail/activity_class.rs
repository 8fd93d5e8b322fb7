//! An activity says what happens when it runs twice.

use perennial::prelude::*;

#[activity]
async fn silent(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[activity(attempt = "30s")]
async fn beside_the_point(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[activity(pure, idempotent)]
async fn both(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[activity(once)]
async fn at_most_once(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[activity(lookup = find_it, attempt = "1m")]
async fn looked_up(_acx: &ActivityCx) -> Result<(), Failure> {
    Ok(())
}

#[workflow]
async fn calls_them(cx: &Cx) -> Result<(), Error> {
    silent(cx).await?;
    both(cx).await?;
    at_most_once(cx).await?;
    Ok(())
}

fn main() {}
