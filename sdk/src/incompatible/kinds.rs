//! What can be wrong between a history and a program, and the stable codes (S17).

use serde::{Deserialize, Serialize};

/// What does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IncompatibleKind {
    /// The history has one thing, the code asks for another.
    Changed,
    /// The same thing with another input.
    ChangedInput,
    /// The code asks for something that the history does not have.
    Inserted,
    /// The history has something that the code does not ask for.
    Removed,
    /// Both have the same things in another order.
    Reordered,
    /// The code has ended and the history goes on.
    LeftOver,
    /// The history has a version of a marker that the code does not support (S36).
    MarkerUnsupported,
    /// The history has a marker that the code does not ask for, and that was not retired (S36).
    MarkerRemoved,
    /// The program has no such workflow or activity.
    NotRegistered,
    /// A recorded value is not of the type that the code expects.
    DoesNotDecode,
    /// The history has an event of a kind that is not known here.
    UnknownEvent,
    /// Events are missing.
    Gap,
    /// A record is damaged.
    Damaged,
    /// It was written by newer software.
    Newer,
    /// Newer software has recorded an error of a kind that is not known here. It is read, and never made.
    #[serde(other)]
    Unknown,
}

impl IncompatibleKind {
    /// All kinds that are made here, in the order of their codes.
    pub const ALL: [Self; 14] = [
        Self::Changed,
        Self::ChangedInput,
        Self::Inserted,
        Self::Removed,
        Self::Reordered,
        Self::LeftOver,
        Self::MarkerUnsupported,
        Self::MarkerRemoved,
        Self::NotRegistered,
        Self::DoesNotDecode,
        Self::UnknownEvent,
        Self::Gap,
        Self::Damaged,
        Self::Newer,
    ];

    /// The stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Changed => "H201",
            Self::ChangedInput => "H202",
            Self::Inserted => "H203",
            Self::Removed => "H204",
            Self::Reordered => "H205",
            Self::LeftOver => "H206",
            Self::MarkerUnsupported => "H207",
            Self::MarkerRemoved => "H208",
            Self::NotRegistered => "H209",
            Self::DoesNotDecode => "H210",
            Self::UnknownEvent => "H211",
            Self::Gap => "H212",
            Self::Damaged => "H213",
            Self::Newer => "H214",
            Self::Unknown => "H200",
        }
    }

    /// The name that goes with the code.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::ChangedInput => "changed input",
            Self::Inserted => "inserted",
            Self::Removed => "removed",
            Self::Reordered => "reordered",
            Self::LeftOver => "left over",
            Self::MarkerUnsupported => "marker unsupported",
            Self::MarkerRemoved => "marker removed",
            Self::NotRegistered => "not registered",
            Self::DoesNotDecode => "does not decode",
            Self::UnknownEvent => "unknown event",
            Self::Gap => "gap",
            Self::Damaged => "damaged",
            Self::Newer => "newer software",
            Self::Unknown => "unknown",
        }
    }

    pub(super) fn summary(self) -> &'static str {
        match self {
            Self::NotRegistered => "the program lacks a part of it",
            Self::Gap | Self::Damaged => "its history cannot be read",
            Self::UnknownEvent | Self::Newer => "its history was written by newer software",
            _ => "its history does not fit this program",
        }
    }
}
