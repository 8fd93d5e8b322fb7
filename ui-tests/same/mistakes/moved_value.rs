use crate::sdk::*;

#[activity(pure)]
async fn count(_acx: &ActivityCx, list: Vec<u32>) -> Result<usize, Never> {
    drop(list);
    Ok(list.len())
}

#[workflow]
async fn moved(cx: &Cx, list: Vec<u32>) -> Result<usize, Error> {
    let one = count(cx, list).await?;
    let two = count(cx, list).await?;
    Ok(one + two)
}

#[workflow]
async fn in_a_loop(cx: &Cx, list: Vec<u32>) -> Result<usize, Error> {
    let mut all = 0;
    for _ in 0..2 {
        all += count(cx, list).await?;
    }
    Ok(all)
}

#[durable]
async fn helper(cx: &Cx, list: Vec<u32>) -> Result<usize, Error> {
    let one = count(cx, list).await?;
    Ok(one + list.len())
}
