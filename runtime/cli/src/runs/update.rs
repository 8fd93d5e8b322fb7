//! `perennial update`.

use perennial_runtime::control::{Answer, Ask, Request};

use super::send::value;
use super::{About, NotDone, Of, json, open, other, said};
use crate::{AnyError, Outcome};

/// Asks a run for a change, and shows its answer
///
/// Only a program that has the store open can do that, and it is asked through its control socket: whether the change may
/// be, and what it does, the code of the run's workflow says. What that refuses leaves no trace in the run's history.
/// Exit code 4: it is not known whether it was done.
#[derive(Debug, clap::Args)]
pub(crate) struct Update {
    #[command(flatten)]
    of: Of,
    /// The name of the update
    name: String,
    /// What is asked, as JSON; `-`: what comes from stdin
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    input: String,
    /// What you call this update, so that it is not done twice when you ask for it again
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Update {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let store = &self.of.store;
        let ask = Ask {
            run: self.of.run()?,
            name: self.name.clone(),
            input: value(&self.input, "nothing was done")?,
            key: self.key.clone(),
            first: None,
        };
        let (run, name) = (ask.run.clone(), ask.name.clone());
        let mut runs = open(store)?;
        let answer = runs
            .ask(Request::Update(ask))
            .map_err(|error| NotDone::asking(About::run(store, &run), error))?;
        runs.close()?;
        let Answer::Updated(answered) = answer else {
            return Err(other(&answer));
        };
        if self.json {
            return json(&answered);
        }
        let (event, at) = (answered.event, answered.at);
        let done = match answered.duplicate {
            true => "was done before, under this key",
            false => "is done",
        };
        Ok(said(format!(
            "\"{name}\" {done}: event {event} of run {run}, {at}\n{}\n",
            answered.value
        )))
    }
}
