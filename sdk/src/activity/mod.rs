//! Activities: code with effects, as workflows call it and drivers run it.

mod call;
mod context;
mod definition;
mod failure;
mod options;

use std::time::Duration;

pub use call::{Call, CallFuture};
pub use context::{ActivityCx, Attempt, StateType, States, Stop};
#[cfg(feature = "testing")]
pub(crate) use definition::end;
pub use definition::{
    ActivityDefinition, ActivityFn, ActivitySet, AttemptEnd, AttemptFuture, Attempted,
};
pub use failure::{ActivityResult, Failure};
pub use options::{ActivityOptions, Class, Retry};

use crate::Data;
use crate::types::Schemas;

/// A function with `#[activity]`. Implemented by the attribute.
pub trait Activity: 'static {
    /// The name under which histories know it.
    const NAME: &'static str;
    /// What it declares.
    const OPTIONS: ActivityOptions;
    /// The input: `()`, the one parameter, or a tuple of the parameters.
    type Input: Data;
    /// What the function returns.
    type Output: ActivityResult;

    /// The application state that it asks for.
    fn states() -> Vec<StateType>;

    #[doc(hidden)]
    #[must_use]
    fn schemas() -> Schemas {
        Schemas::default()
    }

    /// Runs the function once.
    fn run(acx: ActivityCx, input: Self::Input) -> AttemptFuture<Self::Output>;
}

/// Options that a call sets in place of what the activity declares.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overrides {
    attempt: Option<Duration>,
    timeout: Option<Duration>,
    retry: Option<Retry>,
}

impl Overrides {
    fn apply(self, mut options: ActivityOptions) -> ActivityOptions {
        options.attempt = self.attempt.or(options.attempt);
        options.timeout = self.timeout.or(options.timeout);
        options.retry = self.retry.unwrap_or(options.retry);
        options
    }
}
