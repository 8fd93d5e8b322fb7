//! Words like `open`, `read` and `lock` that are methods of data of ours.

use perennial::prelude::*;

use crate::shop::{Order, charge};

#[derive(Default)]
struct Till {
    drawers: Vec<u64>,
}

impl Till {
    fn open(&mut self, drawer: u64) -> &mut Self {
        self.drawers.push(drawer);
        self
    }

    fn read(&self) -> u64 {
        self.drawers.iter().sum()
    }

    fn lock(&mut self) {
        self.drawers.clear();
    }

    fn keys(&self) -> impl Iterator<Item = &u64> {
        self.drawers.iter()
    }
}

#[workflow]
pub async fn opened_by_name_alone(cx: &Cx, order: Order) -> Result<String, Error> {
    let mut till = Till::default();
    till.open(1).open(2);
    let mut cents = till.read() + order.cents();
    for key in till.keys() {
        cents += key;
    }
    till.lock();
    Ok(charge(cx, cents).await?)
}
