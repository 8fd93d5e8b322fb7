//! The answers of another world. They are the same for the same number of the world, counted from the real
//! ones: what is asked first on a thread is answered alike each time.

use std::time::Duration;

use super::watch;

/// How much later it is: another year, month, weekday, hour, minute and second, up to four times over.
const LATER: Duration = Duration::from_secs(400 * 86_400 + 5 * 3_600 + 7 * 60 + 11);

/// How much later at each look: clocks advance, and no two looks are close together. In other worlds sixty times
/// as much, an hour and more, or sixty times that, days.
const STEP: Duration = Duration::from_nanos(67_089_101_103);

/// No process has a number from here on.
const NO_PROCESS: i32 = 1 << 22;

/// One of the other worlds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changed {
    number: u64,
}

impl Changed {
    pub(super) fn new(number: u64) -> Self {
        Self { number }
    }

    /// How far its clocks are ahead of ours, at the next look at one.
    pub(super) fn ahead(self) -> Duration {
        self.ahead_after(watch::look())
    }

    /// How far they were at the last look, at most.
    pub(super) fn was_ahead(self) -> Duration {
        self.ahead_after(watch::looks())
    }

    fn ahead_after(self, looks: u64) -> Duration {
        // Not so many that a clock comes to its end.
        let looks = u32::try_from(looks).unwrap_or(u32::MAX).min(1_000_000);
        let times = match self.number % 4 {
            1 => 1,
            2 => 2,
            3 => 3,
            _ => 4,
        };
        let steps = match self.number / 4 % 3 {
            0 => 1,
            1 => 60,
            _ => 60 * 60,
        };
        LATER * times + STEP * steps * looks
    }

    /// Its next random bytes.
    pub(super) fn fill(self, bytes: &mut [u8]) {
        let mut state = mixed(self.number) ^ watch::draw();
        for chunk in bytes.chunks_mut(8) {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            for (byte, random) in chunk.iter_mut().zip(mixed(state).to_le_bytes()) {
                *byte = random;
            }
        }
    }

    /// The number of this process.
    pub(super) fn process(self) -> i32 {
        NO_PROCESS + i32::try_from(self.number % 1_000).unwrap_or_default()
    }

    /// The name of this machine.
    pub(super) fn host(self) -> String {
        format!("changed-{}", self.number)
    }
}

/// splitmix64: similar numbers give unlike ones.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
