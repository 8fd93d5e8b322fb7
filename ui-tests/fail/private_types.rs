//! The types of a workflow or an activity are at least as visible as it is.

mod inner {
    use perennial::prelude::*;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Order {
        id: u32,
    }

    #[activity(pure)]
    pub async fn ship(_acx: &ActivityCx, n: u32, order: Order) -> Result<u32, Failure> {
        Ok(order.id + n)
    }

    #[workflow]
    pub async fn fulfil(_cx: &Cx) -> Result<Order, Error> {
        Ok(Order { id: 1 })
    }
}

fn main() {}
