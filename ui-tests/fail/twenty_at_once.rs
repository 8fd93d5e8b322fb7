//! Twenty mistakes in one function: one compile shows all of them, each on its own tokens.

use std::collections::HashMap;
use std::time::{Instant, SystemTime};
use std::{env, fs, process, thread};

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
async fn order(cx: &Cx, map: HashMap<String, u64>) -> Result<u64, Error> {
    let begun = Instant::now();
    let today = SystemTime::now();
    println!("{today:?}");
    let shop = env::var("SHOP").unwrap_or_default();
    let file = fs::read(&shop).unwrap_or_default();
    fs::write("copy", &file).ok();
    thread::sleep(begun.elapsed());
    thread::spawn(|| eprintln!("there"));
    tokio::spawn(async { 1 });
    tokio::time::sleep(std::time::Duration::ZERO).await;
    let reached = std::net::TcpStream::connect(&shop).is_ok();
    let listed = process::Command::new("ls").status().is_ok();
    let mut sum = u64::from(process::id());
    for n in map.values() {
        sum += n;
    }
    for (_, n) in map {
        sum += n;
    }
    let text = format!("{:p}", &sum);
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let (_, _) = tokio::join!(cx.sleep(seconds(1)), cx.sleep(seconds(2)));
    let late = async |n: u64| n;
    drop(late);
    Ok(sum + u64::from(reached && listed && text.is_empty()))
}
// ANCHOR_END: code

fn main() {
    println!("{}", order::NAME);
}
