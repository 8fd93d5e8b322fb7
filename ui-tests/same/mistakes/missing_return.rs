use crate::sdk::*;

#[workflow]
async fn nothing(_cx: &Cx) -> Result<u32, Error> {}

#[workflow]
async fn a_semicolon(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
}

#[activity(pure)]
async fn nothing_done(_acx: &ActivityCx) -> Result<u32, Never> {}

#[activity(pure, blocking)]
fn nothing_blocks(_acx: &ActivityCx) -> Result<u32, Never> {}

#[durable]
async fn helper(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
}
