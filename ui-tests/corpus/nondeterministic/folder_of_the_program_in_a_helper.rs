//! A helper asks in which folder the program works.
//! Found by: sandbox, strict

use perennial::prelude::*;

use crate::shop::{Order, mail};

fn signature() -> String {
    std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.display().to_string())
}

#[workflow]
pub async fn folder_of_the_program_in_a_helper(cx: &Cx, order: Order) -> Result<(), Error> {
    mail(cx, format!("{}, {}", order.id, signature())).await?;
    Ok(())
}
