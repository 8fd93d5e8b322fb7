//! Functions, types, constants and `use`s inside of the body.

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[workflow]
pub async fn items_inside(cx: &Cx, order: Order) -> Result<(), Error> {
    use std::collections::BTreeMap as Map;

    #[derive(Default)]
    struct Count {
        of: Map<u32, u32>,
    }

    impl Count {
        fn add(&mut self, n: u32) {
            *self.of.entry(n).or_default() += 1;
        }
    }

    fn plural(n: u32) -> &'static str {
        if n == 1 { "line" } else { "lines" }
    }

    let mut count = Count::default();
    order.lines.iter().for_each(|line| count.add(line.count));
    for (pieces, lines) in count.of {
        mail(cx, format!("{lines} {} of {pieces}", plural(lines))).await?;
    }
    Ok(())
}
