//! What is to be bought, what is said about it, and how it ends.

use std::fmt;
use std::time::Duration;

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

/// What is to be bought: the workflow's input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// What.
    pub item: String,
    /// For how much.
    pub price: u64,
    /// How long an answer is waited for.
    pub within: Duration,
}

/// The answers to the question whether a purchase may be made.
pub const APPROVAL: Message<Answer> = Message::new("approval");

/// What somebody says about a purchase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Who says it.
    pub by: String,
    /// Whether it may be made.
    pub yes: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl Answer {
    /// Yes.
    pub fn yes(by: impl Into<String>) -> Self {
        Self {
            by: by.into(),
            yes: true,
            because: None,
        }
    }

    /// No, and why.
    pub fn no(by: impl Into<String>, because: Option<String>) -> Self {
        Self {
            by: by.into(),
            yes: false,
            because,
        }
    }
}

/// How a purchase ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was made.
    Bought {
        /// The number of the order.
        order: String,
        /// Who approved of it.
        by: String,
    },
    /// It was not made.
    Refused {
        /// Who refused it.
        by: String,
        /// Why.
        because: Option<String>,
    },
    /// Nobody answered in time.
    Unanswered,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bought { order, by } => write!(f, "bought as order {order}, approved by {by}"),
            Self::Refused { by, because: None } => write!(f, "refused by {by}"),
            Self::Refused {
                by,
                because: Some(because),
            } => write!(f, "refused by {by}: {because}"),
            Self::Unanswered => f.write_str("not bought, since nobody answered in time"),
        }
    }
}
