use crate::sdk::*;

#[activity(pure)]
async fn number(_acx: &ActivityCx, n: u32) -> Result<Option<u32>, Never> {
    match n {
        0 => Ok(None),
    }
}

#[workflow]
async fn over_an_await(cx: &Cx) -> Result<u32, Error> {
    match number(cx, 1).await? {
        Some(n) => Ok(n),
    }
}

#[durable]
async fn helper(cx: &Cx, n: Option<u32>) -> Result<u32, Error> {
    cx.sleep(seconds(1)).await?;
    let Some(n) = n;
    Ok(n)
}
