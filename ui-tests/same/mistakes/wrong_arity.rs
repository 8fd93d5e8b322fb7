use crate::sdk::*;

#[activity(pure)]
async fn number(_acx: &ActivityCx, n: u32, text: String) -> Result<u32, Never> {
    Ok(n + text.len() as u32)
}

#[workflow]
async fn too_few(cx: &Cx) -> Result<u32, Error> {
    Ok(number(cx, 1).await?)
}

#[workflow]
async fn too_many(cx: &Cx) -> Result<u32, Error> {
    Ok(number(cx, 1, String::new(), 2).await?)
}

#[workflow]
async fn of_another_type(cx: &Cx) -> Result<u32, Error> {
    Ok(number(cx, 1, 2).await?)
}

#[workflow]
async fn in_another_order(cx: &Cx) -> Result<u32, Error> {
    Ok(number(cx, String::new(), 1).await?)
}

#[workflow]
async fn without_context(cx: &Cx) -> Result<u32, Error> {
    helper(cx, 1).await?;
    Ok(number(1, String::new()).await?)
}

#[durable]
async fn helper(cx: &Cx) -> Result<u32, Error> {
    Ok(number(cx, 1, String::new()).await?)
}
