//! Workflows and activities are free functions. The method stays, so what calls it finds it.

use perennial::prelude::*;

struct Shop;

impl Shop {
    #[workflow]
    async fn open(&self, cx: &Cx) -> Result<(), Error> {
        let _ = (self, cx);
        Ok(())
    }

    #[activity(pure)]
    async fn close(&self, acx: &ActivityCx) -> Result<(), Failure> {
        let _ = (self, acx);
        Ok(())
    }
}

fn main() {
    let _ = (Shop::open, Shop::close);
}
