//! What most workflows need: `use perennial::prelude::*;`.

pub use crate::{
    ActivityCx, ActivityError, BoxDurable, Cancelled, Cx, Error, Failure, JoinSet, Never, Outcome,
    Retry, RunId, Timestamp, activity, allow_nondeterminism, days, durable, hours, join, join_all,
    millis, minutes, seconds, select, try_join, workflow,
};
