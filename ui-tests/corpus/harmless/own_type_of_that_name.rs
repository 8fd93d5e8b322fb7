//! Types of ours are called `Instant` and `SystemTime`.

use perennial::prelude::*;

use crate::shop::{Order, mail};

#[derive(Clone, Copy)]
struct Instant(u64);

impl Instant {
    fn now() -> Self {
        Self(4)
    }

    fn elapsed(self) -> u64 {
        self.0
    }
}

mod history {
    pub(super) struct SystemTime;

    impl SystemTime {
        pub(super) fn now() -> u64 {
            3
        }
    }
}

#[workflow]
pub async fn own_type_of_that_name(cx: &Cx, order: Order) -> Result<(), Error> {
    use history::SystemTime;
    let step = Instant::now();
    mail(
        cx,
        format!("{} {} {}", order.id, step.elapsed(), SystemTime::now()),
    )
    .await?;
    Ok(())
}
