//! Without a `self` the attribute cannot know where it stands; rustc does.

use perennial::prelude::*;

struct Shop;

impl Shop {
    #[workflow]
    async fn open(cx: &Cx) -> Result<(), Error> {
        let _ = cx;
        Ok(())
    }
}

fn main() {}
