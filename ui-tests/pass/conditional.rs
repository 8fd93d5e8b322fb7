//! `#[cfg]` on items and on arguments: what is configured away leaves nothing behind. RW-35.

#![deny(warnings)]
// Written in odd ways on purpose. What clippy says of plain code is shown in `tests/lints.rs`.
#![allow(clippy::all, clippy::cast_possible_truncation, clippy::unwrap_used)]
#![allow(dead_code)]

use perennial::prelude::*;

#[activity(pure)]
async fn some(
    _acx: &ActivityCx,
    x: u32,
    #[cfg(any())] gone: Missing,
    #[cfg(all())] y: u32,
    #[cfg_attr(all(), allow(unused_variables))] z: u32,
) -> Result<u32, Failure> {
    Ok(x + y)
}

#[activity(pure)]
async fn one_left(
    _acx: &ActivityCx,
    #[cfg(any())] gone: Missing,
    #[cfg(not(any()))] left: String,
) -> Result<String, Failure> {
    Ok(left)
}

#[workflow]
async fn none_left(_cx: &Cx, #[cfg(any())] gone: Missing) -> Result<(), Error> {
    #[cfg(any())]
    missing(_cx, gone).await?;
    Ok(())
}

#[durable]
async fn help(cx: &Cx, #[cfg(any())] gone: Missing, #[cfg(all())] here: u32) -> Result<u32, Error> {
    Ok(some(cx, here, 2, 3).await?)
}

#[cfg(any())]
#[workflow]
async fn off(cx: &Cx) -> Result<(), Error> {
    not_existing()
}

#[workflow]
#[cfg(any())]
async fn off_below(cx: &Cx) -> Result<(), Error> {
    not_existing()
}

#[activity(pure)]
#[cfg(any())]
async fn off_activity(acx: &ActivityCx, x: Missing) -> Result<(), Failure> {
    not_existing()
}

#[durable]
#[cfg(any())]
async fn off_durable(cx: &Cx) -> Missing {
    not_existing()
}

#[workflow]
async fn all(cx: &Cx) -> Result<(), Error> {
    one_left(cx, "text".to_owned()).await?;
    help(cx, 1).await?;
    Ok(())
}

fn input_of<A: perennial::Activity>() -> &'static str {
    std::any::type_name::<A::Input>()
}

pub(crate) fn main() {
    assert_eq!(input_of::<some>(), "(u32, u32, u32)");
    assert_eq!(input_of::<one_left>(), "alloc::string::String");
    assert_eq!(
        std::any::type_name::<<none_left as perennial::Workflow>::Input>(),
        "()"
    );
    assert_eq!(all::NAME, "all");
}
