use crate::sdk::*;

#[workflow]
async fn at_the_end(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
    let text = String::new();
    text.
}

#[workflow]
async fn after_the_context(cx: &Cx) -> Result<(), Error> {
    cx.
}

#[activity(pure)]
async fn in_a_block(acx: &ActivityCx, n: u32) -> Result<u32, Never> {
    if n > 1 {
        acx.
    }
    Ok(n)
}

#[durable]
async fn before_a_semicolon(cx: &Cx) -> Result<u32, Error> {
    let n = cx.;
    Ok(1)
}
