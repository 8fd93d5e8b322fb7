//! Inputs and results can be read and written by serde. RW-45 point 3.

use perennial::prelude::*;

#[derive(Clone)]
pub struct NotData {
    pub n: u32,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Silent;

#[workflow]
async fn input(_cx: &Cx, input: NotData) -> Result<u32, Error> {
    Ok(input.n)
}

#[workflow]
async fn second_input(_cx: &Cx, n: u32, input: NotData) -> Result<u32, Error> {
    Ok(input.n + n)
}

#[workflow]
async fn output(_cx: &Cx) -> Result<NotData, Error> {
    Ok(NotData { n: 1 })
}

#[workflow]
async fn error(_cx: &Cx) -> Result<(), Silent> {
    Err(Silent)
}

#[activity(pure)]
async fn of_an_activity(_acx: &ActivityCx, input: NotData) -> Result<u32, Failure> {
    Ok(input.n)
}

#[activity(pure)]
async fn result_of_an_activity(_acx: &ActivityCx) -> Result<NotData, Failure> {
    Ok(NotData { n: 1 })
}

#[activity(pure)]
async fn rejection_of_an_activity(_acx: &ActivityCx) -> Result<u32, Failure<NotData>> {
    Ok(1)
}

fn main() {}
