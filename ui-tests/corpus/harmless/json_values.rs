//! Values of `serde_json`, whose objects are sorted.

use perennial::prelude::*;
use serde_json::{Value, json};

use crate::shop::{Order, mail};

#[workflow]
pub async fn json_values(cx: &Cx, order: Order) -> Result<Value, Error> {
    let value = json!({ "id": order.id, "cents": order.cents(), "tags": order.tags });
    if let Some(tags) = value["tags"].as_object() {
        for (tag, weight) in tags {
            mail(cx, format!("{tag}: {weight}")).await?;
        }
    }
    let parsed: Value = serde_json::from_str(r#"{"b": 1, "a": 2}"#)?;
    mail(cx, parsed.to_string()).await?;
    Ok(value)
}
