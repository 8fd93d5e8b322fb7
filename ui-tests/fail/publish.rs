//! Items of streams and values of views: of another type, of one that cannot be stored, and under names of the wrong
//! kind (B18).

use perennial::prelude::*;

struct NotStored(u64);

const OUTPUT: Stream<u64> = Stream::new("output");
const STATUS: View<String> = View::new("status");
const RAW: Stream<NotStored> = Stream::new("raw");

#[workflow]
async fn of_another_type(cx: &Cx) -> Result<(), Error> {
    cx.emit(OUTPUT, "five");
    cx.set(STATUS, 5);
    Ok(())
}

#[workflow]
async fn not_stored(cx: &Cx) -> Result<(), Error> {
    cx.emit(RAW, NotStored(5));
    Ok(())
}

#[workflow]
async fn of_the_wrong_kind(cx: &Cx) -> Result<(), Error> {
    cx.emit(STATUS, "begins".to_owned());
    cx.set(OUTPUT, 5);
    cx.emit("output", 5);
    Ok(())
}

fn main() {}
