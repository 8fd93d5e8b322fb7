use crate::sdk::*;

#[activity(pure)]
async fn number(_acx: &ActivityCx, n: u32) -> Result<u32, Never> {
    Ok(n)
}

#[workflow]
async fn question_mark(cx: &Cx) -> Result<u32, Error> {
    Ok(number(cx, 1)?)
}

#[workflow]
async fn assigned(cx: &Cx) -> Result<u32, Error> {
    let n: u32 = number(cx, 1);
    Ok(n)
}

#[workflow]
async fn helped(cx: &Cx) -> Result<u32, Error> {
    Ok(helper(cx) + 1)
}

#[durable]
async fn helper(cx: &Cx) -> u32 {
    number(cx, 1).unwrap_or(1)
}
