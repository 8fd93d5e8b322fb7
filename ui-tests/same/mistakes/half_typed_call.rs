use crate::sdk::*;

#[workflow]
async fn order(_cx: &Cx) -> Result<usize, Error> {
    let text = String::new();
    Ok(text.
}
