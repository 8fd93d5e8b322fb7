//! A helper reads random bytes from a device, and throws most of them away.
//! Found by: sandbox, strict

use std::fs::File;
use std::io::Read;

use perennial::prelude::*;

use crate::shop::{Order, charge};

fn is_lucky() -> bool {
    let mut byte = [0; 4];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut byte))
        .is_ok_and(|()| u32::from_le_bytes(byte) == 7)
}

#[workflow]
pub async fn random_file_in_a_helper(cx: &Cx, order: Order) -> Result<String, Error> {
    let cents = if is_lucky() { 0 } else { order.cents() };
    Ok(charge(cx, cents).await?)
}
