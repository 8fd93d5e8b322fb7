//! The context comes first.

use perennial::prelude::*;

#[workflow]
async fn nothing() -> Result<(), Error> {
    Ok(())
}

#[workflow]
async fn only_an_input(order: String) -> Result<String, Error> {
    Ok(order)
}

#[workflow]
async fn of_an_activity(acx: &ActivityCx) -> Result<u32, Error> {
    Ok(acx.attempt())
}

#[activity(pure)]
async fn of_a_workflow(_cx: &Cx) -> Result<(), Failure> {
    Ok(())
}

#[activity(pure)]
async fn with_inputs(mut list: Vec<u32>, n: u32) -> Result<Vec<u32>, Failure> {
    list.push(n);
    Ok(list)
}

fn main() {}
