//! What a session is told, what it says, how it stands, and how it ends.

use std::fmt;
use std::time::Duration;

use perennial::prelude::*;
use serde::{Deserialize, Serialize};

/// What the user says. There is one open offer of it at all times, whatever the session is at.
#[stub]
pub async fn hear(cx: &Cx) -> String;

/// The outbox: all that happens in a session, once each.
pub const OUTPUT: Stream<Event> = Stream::new("output");

/// How a session stands.
pub const STANDING: View<Standing> = View::new("standing");

/// What a session begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// What the model is told before all else. It stands in the history, so that a program with another text goes on
    /// with the old one.
    pub instructions: String,
    /// How long the user may be silent before the session ends.
    pub idle: Duration,
    /// How many steps the agent may take without a word of the user.
    pub steps: u32,
    /// How much may happen in the session, words of the user and steps: each is a few events, and a history has its
    /// bound.
    pub most: u64,
}

/// What a model is told about itself, where nothing else is said.
pub const INSTRUCTIONS: &str = "You are an agent that works in steps. Each of your messages is one step, and the user \
    sees it at once. If you have more to do before the user needs to say something, end the message with a line that \
    says only CONTINUE. The user may say something while you work; you see it before your next step.";

impl Default for Settings {
    fn default() -> Self {
        Self {
            instructions: INSTRUCTIONS.to_owned(),
            idle: minutes(30),
            steps: 8,
            most: 10_000,
        }
    }
}

/// Something that has happened in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The user has said something.
    UserSaid {
        /// What.
        text: String,
    },
    /// What came was not taken for something that the user has said.
    NotHeard {
        /// Why.
        problem: String,
    },
    /// The model is asked.
    StepBegan {
        /// The step's number in the session, from 1.
        step: u64,
    },
    /// The model has answered, and the step has ended.
    AssistantSaid {
        /// The step's number.
        step: u64,
        /// What it has said.
        text: String,
    },
    /// The user has stopped the step. Whatever the model still says to it is not heard.
    Stopped {
        /// The step's number.
        step: u64,
    },
    /// There was no answer, and the agent waits for the user.
    StepFailed {
        /// The step's number.
        step: u64,
        /// Why.
        problem: String,
    },
    /// The agent would go on, and has taken all the steps that it may take without a word of the user.
    Enough {
        /// How many those are.
        steps: u32,
    },
    /// The session has ended.
    Ended {
        /// Why.
        why: Why,
    },
}

/// Why a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The user has said so.
    Quit,
    /// The user was silent for too long.
    Idle,
    /// It has become too long for one history.
    Full,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quit => "the user has ended it",
            Self::Idle => "the user was silent for too long",
            Self::Full => "it has become too long",
        })
    }
}

/// How a session stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// What it is at.
    pub doing: Doing,
    /// How much has come from the user, commands and what was not heard among it.
    pub heard: u64,
    /// How many steps have begun.
    pub steps: u64,
    /// How many tokens they have cost, as far as the model says so.
    pub tokens: u64,
}

/// What a session is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// It waits for the user, and ends at that time.
    Waits {
        /// When it ends, if nothing comes.
        until: Timestamp,
    },
    /// It waits for the model.
    Works,
    /// It has ended.
    Ended {
        /// Why.
        why: Why,
    },
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            doing,
            steps,
            tokens,
            ..
        } = self;
        match doing {
            Doing::Waits { until } => write!(f, "waits for the user until {until}")?,
            Doing::Works => f.write_str("works")?,
            Doing::Ended { why } => write!(f, "has ended: {why}")?,
        }
        write!(f, " (steps: {steps}, tokens: {tokens})")
    }
}

/// What has become of a session: the workflow's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Why it has ended.
    pub why: Why,
    /// How many steps there were.
    pub steps: u64,
    /// How many tokens they have cost, as far as the model has said so.
    pub tokens: u64,
}
