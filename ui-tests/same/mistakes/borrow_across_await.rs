use crate::sdk::*;

#[workflow]
async fn twice(cx: &Cx, mut list: Vec<u32>) -> Result<usize, Error> {
    let first = &mut list;
    cx.sleep(seconds(1)).await?;
    list.push(1);
    first.push(2);
    Ok(list.len())
}

#[workflow]
async fn dropped(cx: &Cx) -> Result<usize, Error> {
    let name;
    {
        let text = String::new();
        name = &text;
    }
    cx.sleep(seconds(1)).await?;
    Ok(name.len())
}

#[activity(pure)]
async fn in_an_activity(_acx: &ActivityCx, mut list: Vec<u32>) -> Result<usize, Never> {
    let first = &mut list;
    std::future::ready(()).await;
    list.push(1);
    first.push(2);
    Ok(list.len())
}

#[durable]
async fn helper(cx: &Cx, list: &mut Vec<u32>) -> Result<usize, Error> {
    let first = &mut *list;
    cx.sleep(seconds(1)).await?;
    list.push(1);
    first.push(2);
    Ok(list.len())
}
