//! What a thread-local variable holds is what other runs left on the thread.

use std::cell::Cell;

use perennial::prelude::*;

// ANCHOR: code
thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

#[workflow]
async fn order(cx: &Cx) -> Result<u32, Error> {
    thread_local! {
        static COUNT: Cell<u32> = const { Cell::new(0) };
    }
    cx.sleep(seconds(1)).await?;
    Ok(DEPTH.with(Cell::get))
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
