//! Choices that look random and come from a seed, so that what was found can be found again.
#![allow(dead_code, unreachable_pub)]

use std::ops::Range;

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Choices of their own for the `index`th of many.
    pub fn nth(seed: u64, index: u64) -> Self {
        let mut all = Self(seed ^ index.wrapping_mul(0xd6e8_feb8_6659_fd93));
        all.next();
        all
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number of the range, which must not be empty.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    /// True in so many of 100 cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.within(0..100) < percent
    }

    /// One of several, each as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, choices: &[(u64, T)]) -> T {
        let mut at = self.within(0..choices.iter().map(|(weight, _)| weight).sum());
        for &(weight, choice) in choices {
            if at < weight {
                return choice;
            }
            at -= weight;
        }
        unreachable!("it is below the sum of the weights")
    }

    pub fn one<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let at = self.within(0..choices.len() as u64);
        &choices[usize::try_from(at).unwrap_or(0)]
    }
}
