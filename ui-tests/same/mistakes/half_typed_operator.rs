use crate::sdk::*;

#[workflow]
async fn nothing(cx: &Cx, n: u32) -> Result<u32, Error> {
    cx.sleep(seconds(1)).await?;
    let more = n +;
    Ok(n)
}
