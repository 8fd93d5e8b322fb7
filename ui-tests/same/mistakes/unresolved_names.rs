use crate::sdk::*;

#[workflow]
async fn variable(_cx: &Cx, plan: u32) -> Result<u32, Error> {
    Ok(pln)
}

#[workflow]
async fn function(cx: &Cx, plan: u32) -> Result<u32, Error> {
    Ok(charge(cx, plan).await?)
}

#[activity(pure)]
async fn ty(_acx: &ActivityCx, plan: u32) -> Result<u32, Never> {
    let other: Plam = plan;
    Ok(other)
}
