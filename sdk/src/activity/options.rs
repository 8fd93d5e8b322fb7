//! What an activity declares, and what a call may set in its place.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What happens when an activity runs twice, as its author declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Class {
    /// It has no effects. An attempt whose outcome is not known is run again.
    Pure,
    /// Its effects happen once however often it runs with the same
    /// [idempotency key](crate::ActivityCx::idempotency_key). An attempt whose outcome is not known is run
    /// again, with the same key.
    Idempotent,
}

/// How often and how soon a failed attempt is followed by another (S19).
///
/// The wait before attempt *n* + 1 is `initial · factor^(n − 1)`, at most `cap`, and then shortened by up to
/// a quarter at random, so that operations that failed together do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// How many attempts may fail in all; `None`: as many as it takes. An attempt whose process ended is not
    /// counted: nobody said no.
    pub attempts: Option<u32>,
    /// The wait after the first failure.
    pub initial: Duration,
    /// The longest wait.
    pub cap: Duration,
    /// What each wait is multiplied with to give the next.
    pub factor: u32,
}

impl Retry {
    /// Any number of attempts, after 100 ms, 200 ms, 400 ms … up to a minute.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            attempts: None,
            initial: Duration::from_millis(100),
            cap: Duration::from_secs(60),
            factor: 2,
        }
    }

    /// One attempt and no other.
    #[must_use]
    pub const fn never() -> Self {
        Self::new().attempts(1)
    }

    /// At most `attempts` attempts; 0 counts as 1.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = Some(if attempts == 0 { 1 } else { attempts });
        self
    }

    /// The wait after the first failure.
    #[must_use]
    pub const fn initial(mut self, initial: Duration) -> Self {
        self.initial = initial;
        self
    }

    /// The longest wait.
    #[must_use]
    pub const fn cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// What each wait is multiplied with to give the next; 0 counts as 1.
    #[must_use]
    pub const fn factor(mut self, factor: u32) -> Self {
        self.factor = if factor == 0 { 1 } else { factor };
        self
    }

    /// Whether another attempt is allowed after `attempts` of them.
    #[must_use]
    pub fn allows_another(&self, attempts: u32) -> bool {
        self.attempts.is_none_or(|most| attempts < most)
    }

    /// The wait after attempt number `attempt`. `jitter` is drawn evenly from all numbers.
    #[must_use]
    pub fn wait_after(&self, attempt: u32, jitter: u64) -> Duration {
        let steps = attempt.saturating_sub(1);
        let factor = self.factor.checked_pow(steps).unwrap_or(u32::MAX);
        let wait = self.initial.saturating_mul(factor).min(self.cap);
        let nanoseconds = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        let most = nanoseconds / 4;
        Duration::from_nanos(nanoseconds - if most == 0 { 0 } else { jitter % (most + 1) })
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self::new()
    }
}

/// All that an activity declares about its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ActivityOptions {
    /// What happens when it runs twice.
    pub class: Class,
    /// How long one attempt may take; one that takes longer has failed.
    pub attempt: Option<Duration>,
    /// How long all attempts together may take, counted from the moment it was scheduled.
    pub timeout: Option<Duration>,
    /// What follows a failed attempt.
    pub retry: Retry,
}

impl ActivityOptions {
    /// No deadlines, [`Retry::new`].
    #[must_use]
    pub const fn new(class: Class) -> Self {
        Self {
            class,
            attempt: None,
            timeout: None,
            retry: Retry::new(),
        }
    }

    /// How long one attempt may take.
    #[must_use]
    pub const fn attempt(mut self, deadline: Duration) -> Self {
        self.attempt = Some(deadline);
        self
    }

    /// How long all attempts together may take.
    #[must_use]
    pub const fn timeout(mut self, deadline: Duration) -> Self {
        self.timeout = Some(deadline);
        self
    }

    /// What follows a failed attempt.
    #[must_use]
    pub const fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{millis, seconds};

    #[test]
    fn waits_grow_to_the_cap_and_are_shortened_by_at_most_a_quarter() {
        let retry = Retry::new().initial(millis(100)).cap(seconds(1));
        let waits: Vec<_> = (1..=6)
            .map(|attempt| retry.wait_after(attempt, 0).as_millis())
            .collect();
        assert_eq!(waits, [100, 200, 400, 800, 1000, 1000]);
        for jitter in [1, 7, u64::MAX / 3, u64::MAX] {
            let wait = retry.wait_after(4_000_000, jitter);
            assert!(wait <= seconds(1) && wait >= millis(750), "{wait:?}");
        }
        assert_eq!(
            Retry::new().initial(Duration::ZERO).wait_after(3, 9),
            Duration::ZERO
        );
    }

    #[test]
    fn the_budget_counts_all_attempts() {
        assert!(Retry::new().allows_another(u32::MAX));
        assert!(Retry::new().attempts(3).allows_another(2));
        assert!(!Retry::new().attempts(3).allows_another(3));
        assert!(!Retry::never().allows_another(1));
    }
}
