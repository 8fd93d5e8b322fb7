//! `perennial fork`.

use perennial::RunId;
use perennial_runtime::control::{Answer, Request};

use super::{Of, change, json, other, said, shell};
use crate::{AnyError, Outcome};

/// Forks a run: a new one goes on from where this one was after an event
///
/// The program that has the store open does it, through its control socket, since its code replays what the fork is to
/// begin with. The run itself is only read. Activities that were open then are run again for the new run, and its inbox
/// is empty. It is durable when the command ends with 0. Exit code 4: it is not known whether the new run is there.
#[derive(Debug, clap::Args)]
pub(crate) struct Fork {
    #[command(flatten)]
    of: Of,
    /// The number of the event, as `perennial history` shows it
    event: u64,
    /// The id of the new run, in the same namespace
    #[arg(value_name = "NEW_ID")]
    to: RunId,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Fork {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let run = self.of.run()?;
        let request = Request::Fork {
            run: run.clone(),
            event: self.event,
            to: self.to.clone(),
        };
        let answer = change(&self.of.store, &run, request)?;
        let Answer::Forked(forked) = answer else {
            return Err(other(&answer));
        };
        if self.json {
            return json(&forked);
        }
        let mut text = format!(
            "run {} goes on from where run {} was after event {}\n",
            forked.run, forked.from, forked.last
        );
        if let Ok(command) = shell::about("show", &self.of.store, &forked.run) {
            text += &format!("look at it: {command}\n");
        }
        Ok(said(text))
    }
}
