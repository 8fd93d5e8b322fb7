//! The words stand in texts and comments only.

use perennial::prelude::*;

use crate::shop::{Order, mail};

/// Not by `SystemTime::now()` or `rand::random()`.
#[workflow]
pub async fn words_in_texts(cx: &Cx, order: Order) -> Result<(), Error> {
    // std::thread::spawn(|| println!("no"));
    let text = "call std::time::SystemTime::now() and {:p}";
    mail(cx, format!("{}: {text} {{:p}}", order.id)).await?;
    mail(
        cx,
        String::from(r#"for k in map.keys() { println!("{k}") }"#),
    )
    .await?;
    Ok(())
}
