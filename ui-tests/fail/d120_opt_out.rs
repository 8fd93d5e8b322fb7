//! Opt-outs that say too little, or stand where they cannot.

use std::time::SystemTime;

use perennial::prelude::*;

// ANCHOR: code
#[workflow]
#[allow_nondeterminism(clock, reason = "of the whole function")]
async fn order(
    cx: &Cx,
    #[allow_nondeterminism(clock, reason = "of a parameter")] n: u32,
) -> Result<(), Error> {
    #[allow_nondeterminism(clock)]
    let a = SystemTime::now();
    #[allow_nondeterminism(clock, reason = " ")]
    let b = SystemTime::now();
    #[allow_nondeterminism(clok, reason = "only for a log line")]
    cx.log("c");
    #[allow_nondeterminism(time, reason = "only for a log line")]
    cx.log("d");
    #[allow_nondeterminism]
    cx.log("e");
    #[allow_nondeterminism(reason = "only for a log line")]
    cx.log("f");
    #[allow_nondeterminism(clock reason = "only for a log line")]
    let g = SystemTime::now();
    #[allow_nondeterminism(clock, clock, reason = "only for a log line")]
    let h = SystemTime::now();
    #[allow_nondeterminism(clock, reason = "of an item")]
    fn inside() {}
    cx.log(format_args!("{n} {a:?} {b:?} {g:?} {h:?}"));
    inside();
    Ok(())
}

#[activity(pure)]
async fn ship(_acx: &ActivityCx) -> Result<u64, Failure> {
    #[allow_nondeterminism(clock, reason = "of an activity")]
    let begun = std::time::Instant::now();
    Ok(begun.elapsed().as_secs())
}

#[allow_nondeterminism(clock, reason = "nothing is checked here")]
fn plain() -> SystemTime {
    SystemTime::now()
}
// ANCHOR_END: code

#[durable]
fn elsewhere(limit: SystemTime) {
    #[allow_nondeterminism(clock, reason = "of an import")]
    use std::time::Duration;
    if #[allow_nondeterminism(clock, reason = "of a condition with variables")]
    let Ok(Duration::ZERO) = limit.duration_since(SystemTime::UNIX_EPOCH)
    {}
}

fn main() {
    println!("{} {} {:?}", order::NAME, ship::NAME, plain());
    elsewhere(plain());
}
