//! What most workflows need: `use perennial::prelude::*;`.

pub use crate::{
    ActivityCx, ActivityError, BoxDurable, Cancelled, Close, Cx, Error, Failure, FulfilFailure,
    JoinSet, Mailbox, Message, Never, OldRun, OperationId, Outcome, Receipt, ReceiveError, Refuse,
    Retry, RunId, SendFailure, Signal, SleepError, Stream, StubError, Timestamp, Update, View,
    activity, allow_nondeterminism, days, durable, hours, join, join_all, migration, millis,
    minutes, seconds, select, stub, try_join, workflow,
};
