//! What a run waits for, or has left behind, when it is moved.

use std::fmt;

use crate::Timestamp;
use crate::history::{CallSite, Channel};

/// An operation that has begun and has not come to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Open {
    /// Its number.
    pub operation: u64,
    /// What it is.
    pub kind: OpenKind,
    /// Where in the source it was begun, where that was recorded.
    pub site: Option<CallSite>,
}

/// What an open operation is, and so what can become of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenKind {
    /// A call of an activity: code that touches the world, and may be at it just now. It can be kept.
    Activity {
        /// The activity's name.
        name: String,
        /// The workflow had given it up. It is the run's all the same: dropping is not rollback (S12).
        dropped: bool,
    },
    /// A timer. Nothing but its run sees it, so there is nothing to be kept; it can be stopped.
    Timer {
        /// When it would fire.
        deadline: Timestamp,
    },
    /// An offer of a stub that nobody has fulfilled. Somebody may have been given its reference, and finds it closed
    /// afterwards; it can be closed.
    Stub {
        /// The stub's name.
        name: String,
    },
    /// A wait for a message or a signal. It ends with the run, and nothing has to be said of it: nobody else sees a
    /// wait, and it holds nothing. The messages that it might have taken are the run's, not the wait's, and are told
    /// by [`messages`](super::OldRun::messages).
    Receive {
        /// For which of them.
        channel: Channel,
        /// The name.
        name: String,
    },
}

impl Open {
    /// Whether a migration has to say what becomes of it.
    pub(super) fn needs_a_word(&self) -> bool {
        match self.kind {
            OpenKind::Activity { .. } | OpenKind::Timer { .. } | OpenKind::Stub { .. } => true,
            OpenKind::Receive { .. } => false,
        }
    }
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            operation,
            kind,
            site,
        } = self;
        match kind {
            OpenKind::Activity { name, dropped } => {
                write!(f, "activity {} ~{operation}", name.escape_debug())?;
                if *dropped {
                    f.write_str(", given up by the workflow and still at work")?;
                }
            }
            OpenKind::Timer { deadline } => write!(f, "timer ~{operation}, due at {deadline}")?,
            OpenKind::Stub { name } => {
                write!(f, "offer of the stub {} ~{operation}", name.escape_debug())?;
            }
            OpenKind::Receive { channel, name } => {
                let what = match channel {
                    Channel::Message => "message",
                    Channel::Signal => "signal",
                };
                write!(
                    f,
                    "wait for the {what} \"{}\" ~{operation}",
                    name.escape_debug()
                )?;
            }
        }
        match site {
            Some(site) => write!(f, "  {site}"),
            None => Ok(()),
        }
    }
}
