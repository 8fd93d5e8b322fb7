//! What a workflow can do.

mod draw;
mod emit;
mod fulfil;
mod handle;
mod lent;
mod log;
mod receive;
mod record;
mod send;
mod spawn;
mod time;
mod until;
mod version;
mod view;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

pub use draw::Draw;
pub use fulfil::Fulfilling;
pub(crate) use lent::Lent;
pub use receive::{Receive, ReceiveError, ReceiveTimeout};
pub use send::Sending;
pub(crate) use time::too_long;
pub use time::{MAX_SLEEP, Sleep, SleepError};
pub use until::Until;

use crate::machine::Core;
use crate::{Namespace, RunId};

/// The workflow's handle: all that it does beyond computing goes through it.
///
/// A workflow takes it as its first parameter, `cx: &Cx`, and hands it on to activities and to
/// `#[durable]` helpers. The reference is copied freely, into closures and `async move` blocks too, those
/// for [`spawn`](Cx::spawn) and [`JoinSet`](crate::JoinSet) included: it is good for as long as the run is
/// in memory. (A `#[durable]` helper that spawns such blocks says so: `cx: &'static Cx`.)
///
/// It must not be kept outside the workflow, in a static or a thread-local: handles are used again, and
/// this one may belong to another run later.
#[derive(Clone)]
pub struct Cx(RefCell<Option<Rc<Core>>>);

impl Cx {
    /// # Panics
    ///
    /// When it is used after its run has left the memory, as by what the workflow has put into a static.
    pub(crate) fn core(&self) -> Rc<Core> {
        match &*self.0.borrow() {
            Some(core) => Rc::clone(core),
            None => panic!("a workflow's `cx` was used after its run had left the memory"),
        }
    }

    /// The id of this run.
    #[must_use]
    pub fn run_id(&self) -> RunId {
        self.key().id
    }

    /// The namespace of this run.
    #[must_use]
    pub fn namespace(&self) -> Namespace {
        self.key().namespace
    }

    fn key(&self) -> crate::RunKey {
        match self.core().run() {
            Some(key) => key,
            None => unreachable!("a workflow's code runs after its first event"),
        }
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cx")
            .field(
                &self
                    .0
                    .borrow()
                    .as_ref()
                    .and_then(|core| core.run())
                    .map(|run| run.to_string()),
            )
            .finish()
    }
}
