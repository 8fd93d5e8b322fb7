//! Modules of ours are called `rand`, `fs` and `thread`.

use perennial::prelude::*;

use self::fs::read_to_string;
use crate::shop::{Order, charge};

mod rand {
    pub(super) fn random() -> u64 {
        4
    }
}

mod fs {
    pub(super) fn read_to_string(name: &str) -> String {
        name.to_owned()
    }
}

mod thread {
    pub(super) fn spawn(n: u64) -> u64 {
        n
    }
}

#[workflow]
pub async fn own_modules_of_that_name(cx: &Cx, order: Order) -> Result<String, Error> {
    let name = read_to_string("orders") + &fs::read_to_string(&order.id);
    Ok(charge(cx, rand::random() + thread::spawn(1) + name.len() as u64).await?)
}
