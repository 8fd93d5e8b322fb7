//! While it is being typed there is one error, the compiler's own. RW-43 point 1.

use perennial::prelude::*;

#[workflow]
async fn order(cx: &Cx) -> Result<(), Error> {
    let text = String::new();
    text.
}

fn main() {
    println!("{}", order::NAME);
}
