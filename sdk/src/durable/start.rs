//! What starts without an await.

use super::{At, Durable, await_durable};
use crate::workflow::Site;

/// What is handed to a method called `submit` or `spawn`, and its place.
///
/// A macro cannot see whose method that is. What is durable, as those of [`JoinSet`](crate::JoinSet) and
/// [`Cx`](crate::Cx) demand, takes its place along. Anything else is for a type of the user's, and handed on as it
/// is: a type's own method comes before that of a trait, but only where its bound holds.
#[derive(Debug)]
pub struct Start<F> {
    site: &'static Site,
    given: F,
}

impl<F> Start<F> {
    /// What is given at that place.
    pub fn new(site: &'static Site, given: F) -> Self {
        Self { site, given }
    }
}

impl<F: Durable> Start<F> {
    /// The operation, which knows its place.
    pub fn begin(self) -> At<F::IntoFuture> {
        await_durable(self.site, self.given)
    }
}

/// What [`Start`] does with what is not durable.
pub trait Elsewhere {
    /// What was given.
    type Given;

    /// Gives it back.
    fn begin(self) -> Self::Given;
}

impl<F> Elsewhere for Start<F> {
    type Given = F;

    fn begin(self) -> F {
        self.given
    }
}
