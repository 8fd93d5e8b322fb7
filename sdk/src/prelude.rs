//! What most workflows need: `use perennial::prelude::*;`.

pub use crate::{
    ActivityCx, ActivityError, BoxDurable, Cancelled, Cx, Error, Failure, JoinSet, Message, Never,
    OldRun, Outcome, Receipt, ReceiveError, Refuse, Retry, RunId, SendFailure, Signal, SleepError,
    Stream, Timestamp, View, activity, allow_nondeterminism, days, durable, hours, join, join_all,
    migration, millis, minutes, seconds, select, try_join, workflow,
};
