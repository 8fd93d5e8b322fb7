//! Without a `self` the attribute looks into the file to see where it stands.

use perennial::prelude::*;

struct Shop;

impl Shop {
    #[workflow]
    async fn open(cx: &Cx) -> Result<(), Error> {
        let _ = cx;
        Ok(())
    }
}

trait Warehouse {
    #[activity(pure)]
    async fn count(acx: &ActivityCx) -> Result<u32, Failure> {
        let _ = acx;
        Ok(1)
    }
}

impl Warehouse for Shop {}

fn main() {
    let _ = (Shop::open, Shop::count);
}
