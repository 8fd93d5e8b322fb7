//! Threads finish in another order each time, and locks wait for code that is not replayed.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx, parts: Vec<u64>) -> Result<u64, Error> {
    let (sender, receiver) = mpsc::channel();
    let sum = Arc::new(Mutex::new(0));
    for part in parts {
        let (sender, sum) = (sender.clone(), sum.clone());
        thread::spawn(move || {
            *sum.lock().unwrap() += part;
            sender.send(part)
        });
    }
    drop(sender);
    let first = receiver.recv().unwrap_or(0);
    cx.sleep(seconds(1)).await?;
    Ok(first)
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
