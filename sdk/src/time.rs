//! Points in time as histories record them. Nothing here reads a clock.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A point in time: whole milliseconds since 1970-01-01 UTC.
///
/// Workflows get theirs from [`Cx::now`](crate::Cx::now). Adding and subtracting saturates.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The last point in time that can be shown as a date: the end of the year 9999.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// The point `milliseconds` after 1970-01-01 UTC.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(milliseconds)
    }

    /// Milliseconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// How much later this is than `earlier`; zero when it is not.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    /// Rounds up to a whole millisecond, so that a deadline is never early, and stops at
    /// [`Timestamp::MAX`].
    fn add(self, duration: Duration) -> Self {
        let milliseconds =
            u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(milliseconds)).min(Self::MAX)
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(milliseconds))
    }
}

impl From<Timestamp> for SystemTime {
    fn from(at: Timestamp) -> Self {
        UNIX_EPOCH + Duration::from_millis(at.0)
    }
}

/// A time before 1970 becomes 1970.
impl From<SystemTime> for Timestamp {
    fn from(at: SystemTime) -> Self {
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)).min(Self::MAX)
    }
}

/// As RFC 3339 in UTC, with milliseconds.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(
            &humantime::format_rfc3339_millis((*self).min(Self::MAX).into()),
            f,
        )
    }
}

/// `n` milliseconds.
#[must_use]
pub const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// `n` seconds.
#[must_use]
pub const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// `n` minutes.
#[must_use]
pub const fn minutes(n: u64) -> Duration {
    Duration::from_secs(n.saturating_mul(60))
}

/// `n` hours.
#[must_use]
pub const fn hours(n: u64) -> Duration {
    Duration::from_secs(n.saturating_mul(3_600))
}

/// `n` days of 24 hours.
#[must_use]
pub const fn days(n: u64) -> Duration {
    Duration::from_secs(n.saturating_mul(86_400))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_rounded_up_and_stops_at_the_last_date() {
        let start = Timestamp::from_millis(1_000);
        assert_eq!((start + Duration::from_nanos(1)).as_millis(), 1_001);
        assert_eq!(start + Duration::MAX, Timestamp::MAX);
        assert_eq!(start - days(1), Timestamp::from_millis(0));
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
    }
}
