//! What a workflow can do.

mod draw;
mod log;
mod record;
mod spawn;
mod time;

use std::fmt;
use std::rc::Rc;

pub use draw::Draw;
pub use time::Sleep;

use crate::machine::Core;
use crate::{Namespace, RunId};

/// The workflow's handle: all that it does beyond computing goes through it.
///
/// A workflow takes it as its first parameter, `cx: &Cx`, and hands it on to activities and to
/// `#[durable]` helpers. A reference is copied freely, into closures and `async move` blocks too; work for
/// [`spawn`](Cx::spawn) and [`JoinSet`](crate::JoinSet) may outlive it and takes a clone.
#[derive(Clone)]
pub struct Cx(Rc<Core>);

impl Cx {
    pub(crate) fn new(core: &Rc<Core>) -> Self {
        Self(Rc::clone(core))
    }

    pub(crate) fn core(&self) -> &Rc<Core> {
        &self.0
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
        match self.0.run() {
            Some(key) => key,
            None => unreachable!("a workflow's code runs after its first event"),
        }
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cx")
            .field(&self.0.run().map(|run| run.to_string()))
            .finish()
    }
}
