//! Why there is no answer, and why nobody can be asked.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Why a model has not answered. What it says of itself is cut, has no control characters, and does not have the key.
///
/// | | asked again | may have cost something |
/// |---|---|---|
/// | [`Unreachable`](Self::Unreachable), [`Busy`](Self::Busy) | yes | no |
/// | [`Down`](Self::Down), [`Broken`](Self::Broken), [`Slow`](Self::Slow) | yes, with the same key | yes |
/// | [`Key`](Self::Key), [`Refused`](Self::Refused) | no | no |
/// | [`Unreadable`](Self::Unreadable), [`TooLong`](Self::TooLong) | no, since it would be so again | yes |
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelError {
    /// There is nobody at the address.
    Unreachable {
        /// The address.
        address: String,
        /// What the system said.
        problem: String,
    },
    /// There is too much to do (429).
    Busy {
        /// What it said.
        said: String,
    },
    /// It has a problem of its own (5xx, 408).
    Down {
        /// The HTTP status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// The connection ended before the answer.
    Broken {
        /// What the system said.
        problem: String,
    },
    /// It took too long.
    Slow {
        /// How long it was waited for.
        patience: Duration,
    },
    /// The key is missing, or is not one for this (401, 403). What it said is left out: some repeat the key.
    Key {
        /// The HTTP status.
        status: u16,
    },
    /// It does not do that, or not for this account (other 3xx and 4xx, and 429 where the quota is used up).
    Refused {
        /// The HTTP status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// What came is no answer.
    Unreadable {
        /// What is wrong with it.
        problem: String,
    },
    /// The answer is longer than any should be.
    TooLong {
        /// How many bytes it may have.
        limit: usize,
    },
}

impl ModelError {
    /// Whether another attempt may not meet it.
    #[must_use]
    pub fn passes(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Busy { .. }
                | Self::Down { .. }
                | Self::Broken { .. }
                | Self::Slow { .. }
        )
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { address, problem } => write!(
                f,
                "there is no model at {address}: {problem}\n\n\
                 help: OPENAI_BASE_URL says where it is; with `--stand-in` none is needed"
            ),
            Self::Busy { said } => write!(f, "the model has too much to do (429){}", Said(said)),
            Self::Down { status, said } => {
                write!(f, "the model has a problem ({status}){}", Said(said))
            }
            Self::Broken { problem } => {
                write!(f, "the connection to the model broke: {problem}")
            }
            Self::Slow { patience } => write!(
                f,
                "the model did not answer in {}\n\n\
                 help: OPENAI_TIMEOUT says how long it may take, such as 2m",
                humantime::format_duration(*patience)
            ),
            Self::Key { status } => write!(
                f,
                "the model does not take the key ({status})\n\n\
                 help: OPENAI_API_KEY has the key of the account, and it has to be one for OPENAI_MODEL"
            ),
            Self::Refused { status, said } => write!(
                f,
                "the model does not take the request ({status}){}\n\n\
                 help: OPENAI_BASE_URL and OPENAI_MODEL say who is asked",
                Said(said)
            ),
            Self::Unreadable { problem } => write!(
                f,
                "what came from the model is no answer: {problem}\n\n\
                 help: OPENAI_BASE_URL has to be one of the chat completions of OpenAI, such as \
                 https://api.openai.com/v1"
            ),
            Self::TooLong { limit } => {
                write!(f, "the answer of the model has more than {limit} bytes")
            }
        }
    }
}

/// What somebody said, where that is anything.
struct Said<'a>(&'a str);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            said => write!(f, ": {said}"),
        }
    }
}

impl std::error::Error for ModelError {}

/// Why there is no model to be asked. None of these has the value that is wrong, since it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// Nobody says which model.
    NoModel,
    /// The address is none.
    Address {
        /// What is wrong with it.
        problem: String,
    },
    /// The key would go through a network for everybody to read.
    Exposed,
    /// The key has characters that no key has.
    Key,
    /// The time is none.
    Timeout {
        /// What is wrong with it.
        problem: String,
    },
    /// This machine cannot do what `https` needs.
    NoTls {
        /// What is wrong.
        problem: String,
    },
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoModel => f.write_str(
                "which model is to be asked?\n\n\
                 help: set OPENAI_MODEL, and OPENAI_API_KEY where the address wants a key; with `--stand-in` the \
                 program answers itself, and no account is needed",
            ),
            Self::Address { problem } => write!(
                f,
                "OPENAI_BASE_URL is no address of a model: {problem}\n\n\
                 help: it is one such as https://api.openai.com/v1 or http://127.0.0.1:11434/v1"
            ),
            Self::Exposed => f.write_str(
                "the key would not be a secret for long: the address is on another machine, and is not https\n\n\
                 help: use https, or unset OPENAI_API_KEY where the address wants none",
            ),
            Self::Key => f.write_str(
                "OPENAI_API_KEY has characters that no key has\n\n\
                 help: it is one line of visible ASCII; look for quotes and line ends",
            ),
            Self::Timeout { problem } => write!(
                f,
                "OPENAI_TIMEOUT is no time: {problem}\n\nhelp: it is one such as 90s or 2m"
            ),
            Self::NoTls { problem } => write!(
                f,
                "no https on this machine: {problem}\n\n\
                 help: ask a model on this machine, with http"
            ),
        }
    }
}

impl std::error::Error for SettingError {}
