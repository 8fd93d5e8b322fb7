use crate::sdk::*;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Plan {
    size: u32,
}

#[workflow]
async fn field(_cx: &Cx, plan: Plan) -> Result<u32, Error> {
    Ok(plan.sice)
}

#[workflow]
async fn method(cx: &Cx, plan: Plan) -> Result<u32, Error> {
    cx.slep(seconds(1)).await?;
    Ok(plan.get())
}

#[activity(pure)]
async fn in_an_activity(acx: &ActivityCx, plan: Plan) -> Result<u32, Never> {
    acx.nothing();
    Ok(plan.sice)
}

#[durable]
async fn helper(_cx: &Cx, plan: &Plan) -> u32 {
    plan.sice
}
