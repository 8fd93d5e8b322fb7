//! `#[durable]` on a function that waits for nothing: it is checked, and stays as it was.

#![deny(warnings)]
#![allow(dead_code)]

use perennial::prelude::*;

/// Documented, and hidden nowhere.
#[durable]
#[must_use]
pub(crate) fn helper(cx: &Cx) -> u64 {
    cx.random_range(0..9)
}

#[durable]
fn generic<'a, T: Ord, const N: usize>(all: &'a mut [T; N], mut n: usize) -> Option<&'a T> {
    n += 1;
    all.sort();
    all.get(n)
}

#[durable]
const fn constant(n: u32) -> u32 {
    n + 1
}

struct Prices(Vec<u32>);

impl Prices {
    #[durable]
    fn total(&self) -> u32 {
        self.0.iter().sum()
    }
}

trait Total {
    #[durable]
    fn all(&self) -> u32;

    #[durable]
    fn twice(&self) -> u32 {
        self.all() * 2
    }
}

impl Total for Prices {
    #[durable]
    fn all(&self) -> u32 {
        self.total()
    }
}

#[workflow]
async fn order(cx: &Cx, prices: Vec<u32>) -> Result<u64, Error> {
    let prices = Prices(prices);
    Ok(helper(cx) + u64::from(prices.twice() + constant(1)))
}

fn main() {
    let plain: fn(&Cx) -> u64 = helper;
    let _ = (plain, generic::<u8, 3>(&mut [3, 2, 1], 0));
    assert_eq!(const { constant(1) }, 2);
}
