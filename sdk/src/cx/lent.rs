//! Handles that are lent to runs.
//!
//! A workflow's blocks may outlive the function that made them (`cx.spawn(async move { .. })`), so a borrowed
//! handle must be good for as long as the run is in memory. Each thread keeps handles for that: one is lent
//! to a run and comes back with it, so there are at most as many as there were runs at a time.

use std::cell::RefCell;
use std::rc::Rc;

use super::Cx;
use crate::machine::Core;

thread_local! {
    static FREE: RefCell<Vec<&'static Cx>> = const { RefCell::new(Vec::new()) };
}

/// A handle that a run has borrowed. It is empty again once this is dropped, after all that the run has made.
pub(crate) struct Lent(&'static Cx);

impl Lent {
    pub(crate) fn new(core: &Rc<Core>) -> Self {
        let free = FREE.with_borrow_mut(Vec::pop);
        let cx = free.unwrap_or_else(|| Box::leak(Box::new(Cx(RefCell::new(None)))));
        cx.0.replace(Some(Rc::clone(core)));
        Self(cx)
    }

    pub(crate) fn get(&self) -> &'static Cx {
        self.0
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.0.replace(None);
        // While the thread ends there is nobody to lend it to any more.
        let _ = FREE.try_with(|free| free.borrow_mut().push(self.0));
    }
}
