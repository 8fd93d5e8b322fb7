//! Is what the body calls the same at each replay?

mod rules;

pub(crate) use self::rules::rule;
pub use self::rules::{Denied, Kind, Rule, rules};
