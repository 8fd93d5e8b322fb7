//! What can be asked for in a shell.

use std::time::Duration;

use clap::{Args, Subcommand};
use perennial::{MAX_SLEEP, OperationId, RunId};

use super::Settings;

/// What can be asked for.
#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum Command {
    /// Talk with the agent: what is typed is said, and what happens is shown
    ///
    /// What is typed while the agent is at work is seen before its next step. `/stop` ends the step that it is at,
    /// `/quit` ends the session. Ctrl-D ends the program as soon as the agent waits; the session is there the next
    /// time.
    Chat(Chat),
    /// Say one thing, and show what the agent does until it waits again
    ///
    /// It begins with the reference under which it was said. Where it is not known whether it was, after a kill, it is
    /// said again with `--as` that reference, and is heard once.
    Say {
        /// What the session is called
        session: RunId,
        /// What to say
        #[arg(required = true)]
        text: Vec<String>,
        /// Say it under this reference: again, where it is not known whether it was said before
        #[arg(long = "as", value_name = "REFERENCE")]
        reference: Option<OperationId>,
    },
    /// Show what happens in a session until it ends, or with `--no-wait` what has happened
    Follow {
        /// What the session is called
        session: RunId,
        /// Show what comes after the item of this number
        #[arg(long, value_name = "N", default_value_t = 0)]
        after: u64,
        /// End where there is nothing more to show
        #[arg(long)]
        no_wait: bool,
    },
    /// List the sessions
    List,
    /// Stand in for a model, on this machine alone, until it is stopped
    StandIn {
        /// Where to listen
        #[arg(long, value_name = "PORT", default_value_t = 8437)]
        port: u16,
    },
}

/// A session that is talked with.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct Chat {
    /// What the session is called, such as plan-1. It is begun if it is not there
    pub session: RunId,
    /// Show what comes after the item of this number
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub after: u64,
    /// How long you may be silent before the session ends, such as 90s or 2h
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = limit)]
    pub idle: Duration,
    /// How many steps the agent may take without a word of yours
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: u32,
}

impl Chat {
    /// What the session begins with, if it is not there.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            idle: self.idle,
            steps: self.steps,
            ..Settings::default()
        }
    }
}

/// How long the user may be silent, which has its bound.
fn limit(text: &str) -> Result<Duration, String> {
    let limit = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if limit > MAX_SLEEP {
        return Err("nobody is silent for more than a hundred years".to_owned());
    }
    Ok(limit)
}
