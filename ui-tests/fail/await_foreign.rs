//! A workflow waits only for what its history records.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use perennial::prelude::*;

mod http {
    pub async fn get(_: &str) -> Result<String, std::io::Error> {
        Ok(String::new())
    }
}

async fn helper(n: u32) -> u32 {
    n
}

#[workflow]
async fn order(cx: &Cx) -> Result<u32, Error> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let page = http::get("https://example.com").await?;
    let n = helper(3).await;
    let (_sender, mut receiver) = tokio::sync::mpsc::channel::<u32>(1);
    let got = receiver.recv().await.unwrap_or(0);
    let boxed: Pin<Box<dyn Future<Output = u32>>> = Box::pin(helper(1));
    let m = boxed.await;
    let block = async { helper(5).await };
    let (a, _) = join!(helper(4), cx.sleep(Duration::ZERO));
    let b = select! {
        c = helper(6) => c,
        _ = cx.sleep(Duration::ZERO) => 2,
    };
    let all = join_all([helper(1), helper(2)]).await;
    let mut set = JoinSet::new(cx);
    set.submit(helper(7));
    Ok(page.len() as u32 + n + got + m + block.await + a + b + all[0])
}

#[durable]
async fn also_in_a_helper(_cx: &Cx) -> u32 {
    helper(1).await
}

fn main() {}
