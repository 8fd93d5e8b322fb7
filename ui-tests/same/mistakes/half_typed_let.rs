use crate::sdk::*;

#[activity(pure)]
async fn a_pattern(_acx: &ActivityCx, x: u32) -> Result<u32, Never> {
    let  Ok(x)
}
