//! What they return is a `Result`.

use perennial::prelude::*;

#[workflow]
async fn nothing(cx: &Cx) {
    let _ = cx.sleep(seconds(1)).await;
}

#[workflow]
async fn a_number(cx: &Cx) -> u32 {
    let _ = cx;
    1
}

#[activity(pure)]
async fn no_result(acx: &ActivityCx) {
    let _ = acx;
}

#[activity(pure)]
async fn a_text(acx: &ActivityCx) -> String {
    acx.idempotency_key()
}

fn main() {}
