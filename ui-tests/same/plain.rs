//! Stands in for the attributes: without them an activity is called with the workflow's context.

pub use perennial::Cx as ActivityCx;
pub use perennial::prelude::*;
