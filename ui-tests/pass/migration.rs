//! Migrations in all the places where a function may stand.

#![deny(warnings, clippy::pedantic)]
#![allow(missing_docs, clippy::wildcard_imports)]

use perennial::prelude::*;

#[workflow]
async fn order(_cx: &Cx, id: String) -> Result<(), Error> {
    drop(id);
    Ok(())
}

mod shop {
    use perennial::prelude::*;

    #[workflow]
    pub(crate) async fn order_v2(_cx: &Cx, id: String, cents: u64) -> Result<(), Error> {
        drop((id, cents));
        Ok(())
    }

    /// Orders have a price now.
    #[migration(from = super::order, to = order_v2)]
    pub(crate) fn to_v2(old: &OldRun) -> Result<(String, u64), Refuse> {
        Ok((old.input()?, 5))
    }
}

/// Of code that is not there any more, with an error of its own type on the way.
#[migration(from = "cart", to = order, name = "from-cart")]
fn from_cart(old: &perennial::OldRun) -> Result<String, perennial::Refuse> {
    let list: Vec<String> = old.input()?;
    list.into_iter()
        .next()
        .ok_or_else(|| Refuse::because("it is empty"))
}

/// To the same workflow.
#[migration(from = order)]
#[allow(clippy::needless_return)]
fn again(old: &OldRun) -> Result<String, Refuse> {
    return old.input();
}

fn named<X, F: perennial::MigrationFn<X>>(_: F) -> &'static str {
    <F::M as perennial::Migration>::NAME
}

fn main() {
    assert_eq!(named(shop::to_v2), "to_v2");
    assert_eq!(named(from_cart), "from-cart");
    assert_eq!(again::NAME, "again");
}
