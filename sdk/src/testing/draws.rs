//! Random numbers for `cx.random()` and its like: the same in each execution of a test.

use crate::RunId;
use crate::machine::Entropy;

/// The draws of a run: they depend on the test's seed and the run's id alone.
pub(super) fn draws(seed: u64, run: &RunId) -> Entropy {
    // FNV-1a.
    let mut state = run
        .as_str()
        .bytes()
        .fold(seed ^ 0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
    Box::new(move || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}
