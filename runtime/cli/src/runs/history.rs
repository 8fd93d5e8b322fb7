//! `perennial history`.

use std::path::Path;

use perennial::RunKey;
use perennial::history::{History as Events, Render, render};
use perennial_runtime::control::{Answer, Request, Runs};

use super::inert::inert_json;
use super::reference::ask_about;
use super::text::count;
use super::{Of, open, other, said};
use crate::{AnyError, Outcome};

/// Prints the history of a run, an event a line
///
/// Of a program that has the store open it is asked through its control socket. Where none has, the store is opened.
#[derive(Debug, clap::Args)]
pub(crate) struct History {
    #[command(flatten)]
    of: Of,
    /// Without times and lines of source: the same for each run that does the same
    #[arg(long)]
    plain: bool,
    /// Print JSON, which a folder of stored histories takes
    #[arg(long)]
    json: bool,
}

impl History {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let mut run = self.of.run()?;
        let mut runs = open(&self.of.store)?;
        let history = read(&mut runs, &self.of.store, &mut run)?;
        runs.close()?;
        if self.json {
            return Ok((inert_json(&history.to_json()?), Outcome::Done));
        }
        let mut options = Render::default();
        options.times = !self.plain;
        options.lines = !self.plain;
        options.references = !self.plain;
        let text = render(&history.units, options);
        if self.plain {
            return Ok(said(text));
        }
        let (generation, events) = (history.generation, count(history.length(), "event"));
        Ok(said(format!(
            "{run} · generation {generation} · {events}\n{text}"
        )))
    }
}

/// The whole history of a run's last generation, part by part.
pub(super) fn read(runs: &mut Runs, store: &Path, run: &mut RunKey) -> Result<Events, AnyError> {
    let mut history = Events {
        run: run.clone(),
        generation: 0,
        units: Vec::new(),
    };
    loop {
        let from = history.length() + 1;
        let answer = ask_about(runs, store, run, |run| Request::History { run, from })?;
        history.run.clone_from(run);
        let Answer::History(part) = answer else {
            return Err(other(&answer));
        };
        if history.generation != part.generation && from > 1 {
            return Err(begun_anew(run));
        }
        history.generation = part.generation;
        let is_last = part.units.is_empty();
        history.units.extend(part.units);
        if is_last || history.length() >= part.events {
            return Ok(history);
        }
    }
}

/// That what was read does not belong together.
pub(super) fn begun_anew(run: &RunKey) -> AnyError {
    format!("run {run} has begun anew while it was read\n\nhelp: ask again").into()
}
