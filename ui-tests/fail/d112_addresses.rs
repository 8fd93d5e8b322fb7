//! Things lie elsewhere in the next process.

use std::thread;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx, name: String) -> Result<String, Error> {
    let id = name.as_ptr() as usize;
    let thread = thread::current().id();
    cx.log(format_args!("{id} {thread:?}"));
    let name = &name;
    Ok(format!("{:p}", &id) + &format!("{name:p}"))
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
