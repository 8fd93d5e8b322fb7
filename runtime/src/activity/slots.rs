//! How many activities may run at once in this process. What finds no slot waits in line; a slot that
//! becomes free is handed to the first in line.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perennial::RunKey;

/// An attempt that waits for a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) run: RunKey,
    pub(crate) operation: u64,
}

/// Called with whoever is first in line and the slot that is theirs now.
type Grant = Box<dyn Fn(Waiting, Slot) + Send + Sync>;

/// The slots of this process.
#[derive(Clone)]
pub(crate) struct Slots(Arc<Inner>);

struct Inner {
    line: Mutex<Line>,
    grant: Grant,
}

struct Line {
    count: usize,
    free: usize,
    waiting: VecDeque<Waiting>,
    /// No slot is given away any more.
    closed: bool,
}

impl std::fmt::Debug for Slots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slots")
            .field("free", &self.0.lock().free)
            .finish_non_exhaustive()
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    pub(crate) fn new(count: usize, grant: Grant) -> Self {
        let line = Line {
            count,
            free: count,
            waiting: VecDeque::new(),
            closed: false,
        };
        Self(Arc::new(Inner {
            line: Mutex::new(line),
            grant,
        }))
    }

    /// A slot, if one is free and nobody waits for it.
    pub(crate) fn take(&self) -> Option<Slot> {
        let mut line = self.0.lock();
        if line.closed || line.free == 0 || !line.waiting.is_empty() {
            return None;
        }
        line.free -= 1;
        Some(Slot(Some(Arc::clone(&self.0))))
    }

    /// Puts an attempt at the end of the line; it is told when it is its turn.
    pub(crate) fn wait(&self, waiting: Waiting) {
        let mut line = self.0.lock();
        if line.closed {
            return;
        }
        line.waiting.push_back(waiting);
        self.hand_over(line);
    }

    /// How many slots are taken.
    pub(crate) fn taken(&self) -> usize {
        let line = self.0.lock();
        line.count - line.free
    }

    /// Gives no more slots away. Those that are taken stay taken.
    pub(crate) fn close(&self) {
        let mut line = self.0.lock();
        line.closed = true;
        line.waiting.clear();
    }

    fn hand_over(&self, mut line: MutexGuard<'_, Line>) {
        if line.free > 0
            && !line.closed
            && let Some(next) = line.waiting.pop_front()
        {
            line.free -= 1;
            drop(line);
            (self.0.grant)(next, Slot(Some(Arc::clone(&self.0))));
        }
    }
}

/// The right to run one attempt. Dropping it passes it on.
pub(crate) struct Slot(Option<Arc<Inner>>);

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            let slots = Slots(inner);
            let mut line = slots.0.lock();
            line.free += 1;
            slots.hand_over(line);
        }
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slot")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::mpsc;

    fn waiting(operation: u64) -> Waiting {
        Waiting {
            run: RunKey::new("default".parse().unwrap(), "r".parse().unwrap()),
            operation,
        }
    }

    #[test]
    fn a_slot_goes_to_the_first_in_line() {
        let (granted, grants) = mpsc::channel();
        let slots = Slots::new(
            1,
            Box::new(move |waiting, slot| granted.send((waiting.operation, slot)).unwrap()),
        );
        let first = slots.take().unwrap();
        assert!(slots.take().is_none());
        slots.wait(waiting(2));
        slots.wait(waiting(3));
        assert!(grants.try_recv().is_err());
        drop(first);
        let (operation, slot) = grants.try_recv().unwrap();
        assert_eq!(operation, 2);
        assert!(slots.take().is_none(), "nobody overtakes the line");
        drop(slot);
        assert_eq!(grants.try_recv().unwrap().0, 3);
        // The slot of 3 was dropped with its tuple.
        assert!(slots.take().is_some());
    }

    #[test]
    fn closed_slots_are_given_to_nobody() {
        let slots = Slots::new(1, Box::new(|_, _| panic!("nobody is granted a slot")));
        let slot = slots.take();
        slots.wait(waiting(1));
        slots.close();
        drop(slot);
        slots.wait(waiting(2));
        assert!(slots.take().is_none());
    }
}
