//! The attributes go on functions. The item stays.

use perennial::prelude::*;

#[workflow]
#[derive(Default)]
struct Order;

#[activity(pure)]
enum State {
    Open,
}

#[durable]
impl Order {
    fn open(&self) -> State {
        State::Open
    }
}

fn main() {
    let _ = Order.open();
}
