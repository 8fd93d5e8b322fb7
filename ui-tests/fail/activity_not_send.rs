//! An activity may run on any thread.

use std::rc::Rc;

use perennial::prelude::*;

#[activity(pure)]
async fn held_over_an_await(_acx: &ActivityCx) -> Result<u32, Failure> {
    let shared = Rc::new(1);
    std::future::ready(()).await;
    Ok(*shared)
}

fn main() {}
