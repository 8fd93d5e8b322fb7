//! `perennial pause` and `perennial resume`.

use perennial_runtime::control::{Answer, Request};

use super::text::time;
use super::{Of, change, json, other, said};
use crate::{AnyError, Outcome};

/// Pauses a run: nothing is told to it until it is resumed
///
/// What arrives meanwhile is kept in its order, its activities go on, and deadlines that pass count. A program that has
/// the store open is asked through its control socket. Where none has, it is noted in the store. It is durable when the
/// command ends with 0. Exit code 4: it is not known whether the run is paused.
#[derive(Debug, clap::Args)]
pub(crate) struct Pause {
    #[command(flatten)]
    of: Of,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lets a run go on that was paused
///
/// It is told what has arrived, in the order in which that did. A program that has the store open is asked through its
/// control socket. Where none has, it goes on with the next program that is started. It is durable when the command ends
/// with 0. Exit code 4: it is not known whether the run goes on.
#[derive(Debug, clap::Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    of: Of,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Pause {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let run = self.of.run()?;
        let answer = change(&self.of.store, &run.clone(), Request::Pause { run })?;
        let Answer::Paused(paused) = answer else {
            return Err(other(&answer));
        };
        if self.json {
            return json(&paused);
        }
        let (run, at) = (&paused.run, time(paused.at));
        Ok(said(match paused.already {
            true => format!("run {run} is paused already, since {at}\n"),
            false => format!("run {run} is paused, {at}\n"),
        }))
    }
}

impl Resume {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let run = self.of.run()?;
        let answer = change(&self.of.store, &run.clone(), Request::Resume { run })?;
        let Answer::Resumed(resumed) = answer else {
            return Err(other(&answer));
        };
        if self.json {
            return json(&resumed);
        }
        let run = &resumed.run;
        Ok(said(match resumed.since {
            Some(since) => format!("run {run} goes on; it was paused since {}\n", time(since)),
            None => format!("run {run} was not paused\n"),
        }))
    }
}
