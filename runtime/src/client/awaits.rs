//! What a run is to be told, as far as its store knows without a look at its history.

use perennial::history::Channel;
use serde::{Deserialize, Serialize};

use crate::store::{Awaited, Inbox};

/// What a run waits for from outside, and what it has and did not take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Awaits {
    /// The names of the messages that it waits for.
    pub messages: Vec<String>,
    /// The names of the signals that it waits for.
    pub signals: Vec<String>,
    /// It waits for more names than are kept beside its history: none of them is above.
    pub others: bool,
    /// How many calls of stubs are open: [`Client::offers`](super::Client::offers) has them.
    pub stubs: u64,
    /// How many messages it has that it has not taken. Of a run that has ended those stay unread.
    pub not_taken: u64,
}

impl Awaits {
    pub(super) fn of(inbox: &Inbox) -> Self {
        let (names, others) = match &inbox.awaited {
            Awaited::Names(names) => (&**names, false),
            Awaited::Anything => (&[][..], true),
        };
        let of = |channel: Channel| {
            let names = names.iter().filter(|(of, _)| *of == channel);
            names.map(|(_, name)| name.clone()).collect()
        };
        Self {
            messages: of(Channel::Message),
            signals: of(Channel::Signal),
            others,
            stubs: inbox.offers,
            not_taken: inbox.messages,
        }
    }

    /// Whether it waits for something from outside.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.others || self.stubs > 0 || !self.messages.is_empty() || !self.signals.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_head_knows_of_waits_is_told_apart() {
        let inbox = Inbox {
            awaited: Awaited::of([(Channel::Message, "approval"), (Channel::Signal, "hurry")]),
            messages: 2,
            offers: 1,
            ..Inbox::default()
        };
        let awaits = Awaits::of(&inbox);
        assert_eq!(awaits.messages, ["approval"]);
        assert_eq!(awaits.signals, ["hurry"]);
        assert_eq!((awaits.stubs, awaits.not_taken), (1, 2));
        assert!(awaits.waits() && !awaits.others);
        let inbox = Inbox {
            awaited: Awaited::Anything,
            ..Inbox::default()
        };
        assert!(Awaits::of(&inbox).others);
        assert!(!Awaits::of(&Inbox::default()).waits());
    }
}
