//! A macro of another crate is known by its import too.

use perennial::prelude::*;
use tokio::{join, select as choose};

mod inner {
    use perennial::prelude::*;
    use tokio::select;

    #[workflow]
    async fn order(cx: &Cx) -> Result<u32, Error> {
        let n = select! {
            _ = cx.sleep(seconds(1)) => 1,
            _ = cx.sleep(seconds(2)) => 2,
        };
        Ok(n)
    }
}

#[durable]
async fn helper(cx: &Cx) {
    let _ = join!(cx.sleep(seconds(1)), cx.sleep(seconds(2)));
    choose! { _ = async { cx.sleep(seconds(1)).await } => {} }
}

fn main() {}
