//! The same of what only the borrow checker sees.

use perennial::prelude::*;

#[workflow]
async fn moved(cx: &Cx, list: Vec<u32>) -> Result<usize, Error> {
    drop(list);
    cx.sleep(seconds(1)).await?;
    Ok(list.len())
}

#[activity(pure)]
async fn not_mut(_acx: &ActivityCx, list: Vec<u32>) -> Result<usize, Failure> {
    list.push(1);
    Ok(list.len())
}

#[durable]
async fn twice(cx: &Cx, mut n: u32) -> Result<u32, Error> {
    let one = &mut n;
    let two = &mut n;
    cx.sleep(seconds(1)).await?;
    *one += 1;
    *two += 1;
    Ok(n)
}

fn main() {}
