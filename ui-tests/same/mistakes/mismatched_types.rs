use crate::sdk::*;

#[workflow]
async fn in_a_workflow(_cx: &Cx, n: u32) -> Result<u32, Error> {
    let text: String = n;
    let number: u32 = "x";
    Ok(text.len() as u32 + number)
}

#[workflow]
async fn returned(cx: &Cx) -> Result<u32, Error> {
    cx.sleep(seconds(1)).await?;
    return Ok("text");
}

#[workflow]
async fn at_the_end(_cx: &Cx) -> Result<u32, Error> {
    Ok("text")
}

#[workflow]
async fn awaited(cx: &Cx) -> Result<u32, Error> {
    let text: String = cx.sleep(seconds(1)).await;
    let text: String = number(cx, 1).await?;
    Ok(text.len() as u32)
}

#[activity(pure)]
async fn number(_acx: &ActivityCx, n: u32) -> Result<u32, Never> {
    let text: String = n;
    Ok(n)
}

#[activity(pure)]
async fn text(_acx: &ActivityCx, n: u32) -> Result<String, Never> {
    if n == 1 { n } else { Ok(String::new()) }
}

#[durable]
async fn helper(_cx: &Cx) -> u32 {
    "text"
}
