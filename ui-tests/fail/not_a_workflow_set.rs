//! Several workflows are a tuple of their names.

use perennial::prelude::*;

fn check<M>(_: impl perennial::WorkflowSet<M>) {}

#[workflow]
async fn order(cx: &Cx) -> Result<(), Error> {
    let _ = cx;
    Ok(())
}

fn plain() {}

fn main() {
    check(order);
    check((order, (order,)));
    check(plain);
    check((order, plain));
    check([order]);
}
