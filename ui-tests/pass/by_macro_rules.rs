//! Workflows and activities that `macro_rules` write, with all kinds of fragments.

#![deny(warnings)]
// Written in odd ways on purpose. What clippy says of plain code is shown in `tests/lints.rs`.
#![allow(clippy::all, clippy::cast_possible_truncation, clippy::unwrap_used)]
#![allow(dead_code)]

use perennial::prelude::*;

macro_rules! activity {
    ($(#[$attr:meta])* $vis:vis $name:ident, $text:literal, $arg:ident: $ty:ty => $value:expr) => {
        $(#[$attr])*
        #[perennial::activity(pure, name = $text)]
        $vis async fn $name(acx: &ActivityCx, $arg: $ty) -> Result<$ty, Failure> {
            let _ = acx;
            let number = $value;
            Ok(number)
        }
    };
}

macro_rules! workflow {
    ($name:ident, $cx:ident, $context:ty, $input:pat => $ty:ty, $ret:ty, $body:block, $then:expr) => {
        #[perennial::workflow]
        async fn $name($cx: $context, $input: $ty) -> $ret {
            let first = $body;
            let hidden = helper($cx, first).await?;
            let (a, b) = join!($then, helper($cx, hidden));
            Ok(a? + b?)
        }
    };
}

activity!(
    /// Doubles.
    pub(crate) double, "double-it", n: u32 => n * 2
);
workflow!(generated, cx, &Cx, (a, _) => (u32, u8), Result<u32, Error>, { helper(cx, a).await? }, helper(cx, 2));

#[durable]
async fn helper(cx: &Cx, n: u32) -> Result<u32, Error> {
    Ok(double(cx, n).await?)
}

pub(crate) fn main() {
    assert_eq!(double::NAME, "double-it");
    assert_eq!(generated::NAME, "generated");
}
