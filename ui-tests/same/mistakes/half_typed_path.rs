use crate::sdk::*;

#[workflow]
async fn nothing(cx: &Cx) -> Result<(), Error> {
    cx.sleep(seconds(1)).await?;
    let text = String::
}
