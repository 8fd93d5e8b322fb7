//! A history stores concrete data.

use perennial::prelude::*;

#[workflow]
async fn of_a_type<T: Clone>(cx: &Cx, x: T) -> Result<(), Error> {
    let _ = (cx, x.clone());
    Ok(())
}

#[workflow]
async fn of_a_lifetime<'a>(cx: &'a Cx, x: &'a str) -> Result<(), Error> {
    let _ = (cx, x);
    Ok(())
}

#[activity(pure)]
async fn of_a_number<const N: usize>(acx: &ActivityCx) -> Result<usize, Failure> {
    let _ = acx;
    Ok(N)
}

fn main() {}
