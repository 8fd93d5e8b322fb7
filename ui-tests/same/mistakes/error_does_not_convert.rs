use crate::sdk::*;

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub enum Own {
    No,
}

impl std::fmt::Display for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no")
    }
}

#[workflow]
async fn sleeps(cx: &Cx) -> Result<u32, Own> {
    cx.sleep(seconds(1)).await?;
    Err(Own::No)
}

#[workflow]
async fn parses(_cx: &Cx, text: String) -> Result<u32, Own> {
    Ok(text.parse()?)
}

#[durable]
async fn helper(cx: &Cx) -> Result<u32, Own> {
    cx.sleep(seconds(1)).await?;
    Err(Own::No)
}
