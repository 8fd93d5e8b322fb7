//! `env!`, `option_env!`, `include_str!`, `file!`, `line!` and `cfg!`.

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn known_when_compiled(cx: &Cx, order: Order) -> Result<(), Error> {
    let text = include_str!("known_when_compiled.rs");
    let version = option_env!("CARGO_PKG_VERSION").unwrap_or("none");
    let name = concat!(env!("CARGO_PKG_NAME"), " ", module_path!());
    if cfg!(target_pointer_width = "64") || line!() > 0 {
        mail(
            cx,
            format!(
                "{} {name} {version} {} {}",
                order.id,
                file!().len(),
                text.len()
            ),
        )
        .await?;
    }
    Ok(())
}
