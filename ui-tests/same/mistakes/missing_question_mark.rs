use crate::sdk::*;

#[activity(pure)]
async fn number(_acx: &ActivityCx, n: u32) -> Result<u32, Never> {
    Ok(n)
}

#[workflow]
async fn added(cx: &Cx) -> Result<u32, Error> {
    let n = number(cx, 1).await;
    Ok(n + 1)
}

#[workflow]
async fn assigned(cx: &Cx) -> Result<u32, Error> {
    let n: u32 = number(cx, 1).await;
    Ok(n)
}

#[workflow]
async fn passed_on(cx: &Cx) -> Result<u32, Error> {
    Ok(number(cx, number(cx, 1).await).await?)
}
