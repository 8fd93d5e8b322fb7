//! Conditions that the workflow waits for: `cx.until(|| ..)`. They are no events: whether one holds follows from what
//! the code has been told, so a replay finds the same at the same place.
//!
//! All that are open are looked at with each unit, and once more when nothing else changes any more in it: what other
//! parts of the workflow have done in that unit counts too.

use std::collections::BTreeMap;
use std::task::{Poll, Waker};

use super::core::Core;
use super::decide::Apart;
use super::waits::{may_poll, wait};

const CONDITION: Apart = Apart {
    what: "the condition of `cx.until`",
    why: "which is looked at as often as something happens",
    help: "a condition only looks at what the workflow knows; decide something when it holds, after the await",
};

#[derive(Default)]
pub(super) struct Untils {
    /// The wakers of those that are open, where they have one that was not used.
    open: BTreeMap<u64, Option<Waker>>,
    next: u64,
    /// Something may have changed since all of them were looked at.
    changed: bool,
}

impl Untils {
    fn take_wakers(&mut self) -> Vec<Waker> {
        self.open.values_mut().filter_map(Option::take).collect()
    }

    pub(super) fn memory(&self) -> usize {
        self.open.len() * size_of::<(u64, Option<Waker>)>()
    }
}

#[cfg(feature = "testing")]
impl super::Machine {
    /// Whether the workflow waits for a condition.
    pub(crate) fn waits_for_a_condition(&self) -> bool {
        !self.core.state.borrow().untils.open.is_empty()
    }
}

impl Core {
    /// The run is told something.
    pub(super) fn wake_untils(&self) {
        let wakers = {
            let untils = &mut self.state.borrow_mut().untils;
            untils.changed = true;
            untils.take_wakers()
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Nothing else changes any more: looks at all conditions once more, unless none has come to hold since. Says
    /// whether there is something to poll.
    pub(super) fn wake_untils_again(&self) -> bool {
        let wakers = {
            let untils = &mut self.state.borrow_mut().untils;
            if !std::mem::take(&mut untils.changed) {
                return false;
            }
            untils.take_wakers()
        };
        let woken = !wakers.is_empty();
        wakers.into_iter().for_each(Waker::wake);
        woken
    }

    /// Looks at a condition, which is known by `number` once it is open.
    pub(crate) fn poll_until(
        &self,
        number: &mut Option<u64>,
        waker: &Waker,
        condition: impl FnOnce() -> bool,
    ) -> Poll<()> {
        {
            let Some(mut state) = self.deciding() else {
                return Poll::Pending;
            };
            if !may_poll() {
                state.polled_too_often();
            }
            if state.go_on().is_none() {
                return Poll::Pending;
            }
        }
        let holds = {
            let _inside = self.inside(&CONDITION);
            condition()
        };
        let new = waker.clone();
        let state = &mut *self.state.borrow_mut();
        if state.error.is_some() {
            return Poll::Pending;
        }
        if holds {
            state.untils.changed = true;
            if let Some(number) = number.take() {
                state.untils.open.remove(&number);
            }
            return Poll::Ready(());
        }
        let number = *number.get_or_insert_with(|| {
            state.untils.next += 1;
            state.untils.next
        });
        state.untils.open.insert(number, Some(new));
        wait();
        Poll::Pending
    }

    /// Nobody waits for it any more, which decides nothing.
    pub(crate) fn forget_until(&self, number: u64) {
        let waker = self.state.borrow_mut().untils.open.remove(&number);
        drop(waker);
    }
}
