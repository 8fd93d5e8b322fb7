use crate::sdk::*;

#[workflow]
async fn argument(cx: &Cx, list: Vec<u32>, n: u32) -> Result<usize, Error> {
    n += 1;
    list.push(n);
    cx.sleep(seconds(1)).await?;
    Ok(list.len())
}

#[activity(pure)]
async fn in_an_activity(_acx: &ActivityCx, list: Vec<u32>) -> Result<usize, Never> {
    list.push(1);
    Ok(list.len())
}

#[durable]
async fn helper(_cx: &Cx, n: u32) -> u32 {
    n += 1;
    n
}
