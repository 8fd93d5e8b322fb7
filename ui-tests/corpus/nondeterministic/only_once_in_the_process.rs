//! The first run of the process sends a mail.
//! Found by: perturbed run

use std::sync::atomic::{AtomicBool, Ordering};

use perennial::prelude::*;

use crate::shop::{Order, charge, mail};

fn is_first() -> bool {
    static SEEN: AtomicBool = AtomicBool::new(false);
    !SEEN.swap(true, Ordering::Relaxed)
}

#[workflow]
pub async fn only_once_in_the_process(cx: &Cx, order: Order) -> Result<String, Error> {
    if is_first() {
        mail(cx, "the shop has opened".to_owned()).await?;
    }
    Ok(charge(cx, order.cents()).await?)
}
