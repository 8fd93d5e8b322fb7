//! A helper lists a folder.
//! Found by: sandbox, strict

use perennial::prelude::*;

use crate::shop::{Order, mail};

fn templates() -> usize {
    std::fs::read_dir("/usr/share").map_or(0, Iterator::count)
}

#[workflow]
pub async fn folder_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, format!("{}: template {}", order.id, templates())).await?;
    Ok(())
}
