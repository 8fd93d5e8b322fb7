//! What a store claims to do, as data (O61, O62).
//!
//! A claim is not more than what the [conformance suite](crate::store::conformance) shows of the store:
//! [`PROOFS`](crate::store::conformance::PROOFS) names the properties that stand for each. What nobody can
//! show is not claimed; a store says `not_offered` there.

use std::fmt;

use perennial::value::MAX_VALUE_BYTES;
use perennial::{MAX_STREAMS, MAX_VIEWS};
use serde::{Deserialize, Serialize};

use crate::store::{
    KEY_WINDOW, MAX_INBOX, MAX_KEYS, MAX_NAME_BYTES, MAX_TEXT_BYTES, MAX_UNIT_BYTES,
};

/// The value of a claim that is not made.
pub const NOT_OFFERED: &str = "not_offered";

/// One claim of a [`Profile`], in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Claim {
    /// What it is about: the name of a field of [`Profile`].
    pub name: &'static str,
    /// What is claimed: the name of a value, as in the profile's JSON.
    pub value: &'static str,
    /// What that means.
    pub meaning: &'static str,
}

/// Makes the type of each claim, and the profile that has one of each.
macro_rules! claims {
    ($(
        $(#[$about:meta])*
        $field:ident: $claim:ident {
            $($value:ident = $name:literal, $meaning:literal;)+
        }
    )+) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
            #[non_exhaustive]
            pub enum $claim {
                $(
                    #[doc = concat!("`", $name, "`: ", $meaning, ".")]
                    #[serde(rename = $name)]
                    $value,
                )+
            }

            impl $claim {
                fn claim(self) -> Claim {
                    let (value, meaning) = match self {
                        $(Self::$value => ($name, $meaning),)+
                    };
                    Claim { name: stringify!($field), value, meaning }
                }
            }
        )+

        /// What a store does, claim by claim.
        ///
        /// It can be shown as text, and written and read as JSON. A store has to state each claim, so a claim
        /// that is added here does not compile until every store has said what it does about it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub struct Profile {
            $($(#[$about])* pub $field: $claim,)+
            /// How much of what the store takes.
            pub bounds: Bounds,
        }

        impl Profile {
            /// All claims.
            #[must_use]
            pub fn claims(&self) -> Vec<Claim> {
                vec![$(self.$field.claim()),+]
            }
        }
    };
}

claims! {
    /// What a write that was acknowledged survives.
    durability: Durability {
        Memory = "memory", "it is kept until the store is dropped";
        Process = "process", "it survives the end of the process, but not of the power";
        Device = "device", "it is on the device, and survives the end of the power";
    }
    /// How runs that have something to do are found.
    scheduling: Scheduling {
        Listed = "listed", "a run with an open task, a row in its queue or a blocked record is listed from the acknowledgement on, in the order of names; nobody is told";
    }
    /// What is kept of timers.
    timer: Timer {
        Listed = "listed", "timers of all runs are listed by deadline, in milliseconds; waiting is the engine's";
    }
    /// Who may own a run.
    lease: Lease {
        OneProcess = "one_process", "one process has the store; of several owners in it the last that claimed a run can write, and a claim does not expire";
        ManyProcesses = "many_processes", "several processes share the store; of their owners the last that claimed a run can write";
    }
    /// What is known of a history that is read back.
    replay: Replay {
        Numbered = "numbered", "it is whole, or an error names the first event that is missing";
        Checked = "checked", "it is whole and as it was written, or an error names the place that is missing, changed or written by newer software";
    }
    /// What becomes of runs that have finished.
    retention: Retention {
        Purged = "purged", "they are listed in the order of their ends and kept until they are purged, in slices; id and input digest can outlive the rest";
    }
    /// Whether what is stored can be read without a key.
    encryption: Encryption {
        NotOffered = "not_offered", "whoever can read the files or the memory can read the runs";
    }
    /// What keeps the runs of different users apart.
    tenancy: Tenancy {
        Namespaces = "namespaces", "a namespace is a world of names of its own; whoever can open the store can open all of them";
    }
    /// What an opening after the end of a process finds.
    recovery: Recovery {
        NotOffered = "not_offered", "nothing is left behind";
        Whole = "whole", "each write is there as a whole or not at all, numbers and guards stand where they stood, and a new owner is told from all before it";
    }
    /// What can be seen from outside.
    observation: Observation {
        Acknowledged = "acknowledged", "heads, histories, attempts, queues and lists show a write from its acknowledgement on, to everybody";
    }
}

/// How much of what a store takes (S15). More bytes are refused as
/// [`StoreError::TooLarge`](crate::store::StoreError::TooLarge), and more messages as
/// [`Refusal::InboxFull`](crate::store::Refusal::InboxFull).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bounds {
    /// A value in bytes: an input, a result, the payload of an event.
    pub value: u64,
    /// A unit of a history, and a row of a queue, in bytes.
    pub unit: u64,
    /// The text of an error or of a blocked record, in bytes.
    pub text: u64,
    /// The name of a workflow, an activity or an artifact, in bytes.
    pub name: u64,
    /// How many messages a run may have that it has not taken, and how many signals in its queue (M12).
    pub inbox: u64,
    /// Of how many sends a run knows the idempotency keys: the newest ones (S26).
    pub keys: u64,
    /// And for how long, in milliseconds.
    pub key_window: u64,
    /// In how many streams a run may give out items (S28).
    pub streams: u64,
    /// How many views a run may have.
    pub views: u64,
}

impl Default for Bounds {
    /// Those that the engine works within.
    fn default() -> Self {
        Self {
            value: MAX_VALUE_BYTES as u64,
            unit: MAX_UNIT_BYTES as u64,
            text: MAX_TEXT_BYTES as u64,
            name: MAX_NAME_BYTES as u64,
            inbox: MAX_INBOX,
            keys: MAX_KEYS,
            key_window: KEY_WINDOW,
            streams: MAX_STREAMS as u64,
            views: MAX_VIEWS as u64,
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.name, self.value, self.meaning)
    }
}

/// A line for each claim.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for claim in self.claims() {
            writeln!(f, "{claim}")?;
        }
        let Bounds {
            value,
            unit,
            text,
            name,
            inbox,
            keys,
            key_window,
            streams,
            views,
        } = self.bounds;
        let days = key_window / (24 * 60 * 60 * 1_000);
        write!(
            f,
            "bounds: a value {value} bytes, a unit {unit}, a text {text}, a name {name}\n\
             of a run: {inbox} unread messages and as many signals, the idempotency keys of the last {days} days, at \
             most {keys}; {streams} streams, {views} views"
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::store::{MemoryStore, Store};

    #[test]
    fn a_profile_is_shown_as_text_and_read_back_from_json() {
        let profile = MemoryStore::new().profile();
        insta::assert_snapshot!(profile);
        let json = serde_json::to_string(&profile).unwrap();
        assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), profile);
        let fields: serde_json::Value = serde_json::from_str(&json).unwrap();
        for claim in profile.claims() {
            assert_eq!(fields[claim.name], claim.value, "{claim}");
        }
    }
}
