//! What is wrong in any function is reported as in any function. RW-45.

use perennial::prelude::*;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Plan {
    size: u32,
}

#[activity(pure)]
async fn ship(_acx: &ActivityCx, plan: Plan, n: u32) -> Result<u32, Failure> {
    let text: String = plan.size;
    Ok(n)
}

#[workflow]
async fn types(cx: &Cx, plan: Plan) -> Result<u32, Error> {
    let n: u32 = "x";
    let text: String = ship(cx, plan.clone(), 1).await?;
    ship(cx, 1, plan.clone()).await?;
    ship(cx, plan.clone()).await?;
    Ok(plan.sice)
}

#[workflow]
async fn no_value(_cx: &Cx) -> Result<u32, Error> {}

#[workflow]
async fn no_question_mark(cx: &Cx, plan: Plan) -> Result<u32, Error> {
    let n: u32 = ship(cx, plan, 1).await;
    Ok(n)
}

#[workflow]
async fn no_await(cx: &Cx, plan: Plan) -> Result<u32, Error> {
    Ok(ship(cx, plan, 1)?)
}

#[durable]
async fn helper(_cx: &Cx) -> u32 {
    "text"
}

fn main() {}
