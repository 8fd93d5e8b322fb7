//! Inputs and results come out of a history and belong to nobody else.

use std::borrow::Cow;

use perennial::prelude::*;

#[workflow]
async fn borrowed(cx: &Cx, name: &str, list: Vec<&'static str>) -> Result<usize, Error> {
    let _ = cx;
    Ok(name.len() + list.len())
}

#[workflow]
async fn perhaps_borrowed(cx: &Cx, name: Cow<'_, str>) -> Result<usize, Error> {
    let _ = cx;
    Ok(name.len())
}

#[workflow]
async fn without_a_name(cx: &Cx, name: impl ToString) -> Result<String, Error> {
    let _ = cx;
    Ok(name.to_string())
}

#[activity(pure)]
async fn borrowed_result(acx: &ActivityCx) -> Result<&str, Failure> {
    let _ = acx;
    Ok("")
}

#[activity(pure)]
async fn result_without_a_name(acx: &ActivityCx) -> impl Sized {
    let _ = acx;
}

fn main() {}
