//! What a run has begun that has not ended.

use perennial::Timestamp;
use perennial::history::Channel;

use super::text::{short, time};

/// What a run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Activity {
        name: String,
    },
    Timer {
        deadline: Timestamp,
    },
    Receive {
        channel: Channel,
        name: String,
    },
    /// A call of a stub, which somebody else answers.
    Stub {
        name: String,
        reference: String,
    },
    /// What it sends to another run: it waits for that in the very next moment alone.
    Send {
        channel: Channel,
        name: String,
    },
    /// What it fulfils of what another run offers: the same.
    Fulfil {
        stub: String,
        reference: String,
    },
}

impl Open {
    /// What it is, after "waiting for".
    pub(super) fn name(&self) -> String {
        match self {
            Self::Activity { name } => format!("activity {}", short(name, 80)),
            Self::Timer { deadline } => format!("sleep until {}", time(*deadline)),
            Self::Receive { channel, name } => named(*channel, name),
            Self::Stub { name, reference } => {
                format!("stub {} ({reference})", short(name, 80))
            }
            Self::Send { channel, name } => format!("{} to be sent", named(*channel, name)),
            Self::Fulfil { stub, reference } => {
                format!("{reference} to be fulfilled ({})", short(stub, 80))
            }
        }
    }
}

/// A message or a signal.
pub(super) fn named(channel: Channel, name: &str) -> String {
    let kind = match channel {
        Channel::Message => "message",
        Channel::Signal => "signal",
    };
    format!("{kind} \"{}\"", short(name, 128))
}
