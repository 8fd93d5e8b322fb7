//! Blocked runs in a program that has no `tracing` subscriber: their errors would reach nobody who does not ask for
//! them, so the program says on stderr that there are some. A line of the first second, then at most one a minute,
//! however many runs and runtimes the process has.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use perennial::RunKey;
use tracing::dispatcher;
use tracing::subscriber::NoSubscriber;

use crate::words::{counted, verb};

/// What comes in a burst, as at the start of a program, is one line.
const GATHER: Duration = Duration::from_secs(1);
/// So long there is no other line.
const PAUSE: Duration = Duration::from_secs(60);

/// Of the whole process.
static UNSAID: Mutex<Unsaid> = Mutex::new(Unsaid::new());

/// What a runtime has to do with it.
#[derive(Debug, Default)]
pub(super) struct Unheard {
    /// Its thread for timers is to say it.
    rings: AtomicBool,
}

impl Unheard {
    /// A run is blocked. Where nobody hears of that, `ring` sees to it that [`say`](Self::say) is called at a time.
    pub(super) fn note(&self, run: &RunKey, code: &'static str, ring: impl FnOnce(Instant)) {
        // A subscriber that leaves this out was told to.
        if !dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>()) {
            return;
        }
        let at = unsaid(|unsaid| unsaid.note(run, code, Instant::now()));
        if !self.rings.swap(true, Ordering::Relaxed) {
            ring(at);
        }
    }

    /// Says what has not been said, if it is time.
    pub(super) fn say(&self) {
        self.rings.store(false, Ordering::Relaxed);
        if let Some(line) = unsaid(|unsaid| unsaid.line(Instant::now())) {
            // Nobody may be there at all.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

fn unsaid<T>(change: impl FnOnce(&mut Unsaid) -> T) -> T {
    change(&mut UNSAID.lock().unwrap_or_else(PoisonError::into_inner))
}

#[derive(Debug)]
struct Unsaid {
    count: u64,
    first: Option<(RunKey, &'static str)>,
    said: Option<Instant>,
}

impl Unsaid {
    const fn new() -> Self {
        Self {
            count: 0,
            first: None,
            said: None,
        }
    }

    /// When it is to be said.
    fn note(&mut self, run: &RunKey, code: &'static str, now: Instant) -> Instant {
        self.count += 1;
        self.first.get_or_insert_with(|| (run.clone(), code));
        let earliest = self.said.map(|said| said + PAUSE);
        earliest.unwrap_or(now).max(now + GATHER)
    }

    fn line(&mut self, now: Instant) -> Option<String> {
        if self.said.is_some_and(|said| now < said + PAUSE) {
            return None;
        }
        let (run, code) = self.first.take()?;
        let count = std::mem::take(&mut self.count);
        self.said = Some(now);
        Some(format!(
            "perennial: {} {} blocked{} {run} [{code}]; {} in `client.list().blocked(true)`, and here with a \
             `tracing` subscriber",
            counted(count, "run"),
            verb(count, "was", "were"),
            verb(count, ":", ", the first is"),
            verb(count, "its error is", "their errors are"),
        ))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn note(unsaid: &mut Unsaid, id: &str, now: Instant) -> Instant {
        unsaid.note(&id.parse().unwrap(), "H202", now)
    }

    #[test]
    fn a_burst_is_one_line_and_then_there_is_at_most_one_a_minute() {
        let (mut unsaid, begin) = (Unsaid::new(), Instant::now());
        assert_eq!(unsaid.line(begin), None);
        let at = note(&mut unsaid, "order-1", begin);
        assert_eq!(at, begin + GATHER);
        note(&mut unsaid, "order-2", begin);
        note(&mut unsaid, "order-3", begin);
        let line = unsaid.line(at).unwrap();
        assert_eq!(
            line,
            "perennial: 3 runs were blocked, the first is order-1 [H202]; their errors are in \
             `client.list().blocked(true)`, and here with a `tracing` subscriber"
        );
        assert_eq!(unsaid.line(at + PAUSE), None, "nothing has come");

        let next = note(&mut unsaid, "shop/order-4", at + GATHER);
        assert_eq!(next, at + PAUSE);
        assert_eq!(unsaid.line(at + GATHER * 2), None, "a minute is not over");
        let line = unsaid.line(next).unwrap();
        assert_eq!(
            line,
            "perennial: 1 run was blocked: shop/order-4 [H202]; its error is in \
             `client.list().blocked(true)`, and here with a `tracing` subscriber"
        );
    }
}
