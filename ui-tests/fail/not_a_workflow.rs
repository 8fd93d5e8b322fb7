//! Only functions with the attribute can be given to a runtime.

use perennial::prelude::*;

fn register<M, F: perennial::WorkflowFn<M>>(_: F) {}
fn register_activity<M, F: perennial::ActivityFn<M>>(_: F) {}

async fn plain(_cx: &Cx, n: u32) -> Result<u32, Error> {
    Ok(n)
}

fn main() {
    register(plain);
    register_activity(plain);
}
