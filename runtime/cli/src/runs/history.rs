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
    /// How many events to print; all if nothing is said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Only events with greater numbers
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        hide_default_value = true
    )]
    after: u64,
    /// Print JSON, which a folder of stored histories takes: the whole history
    #[arg(long, conflicts_with_all = ["limit", "after"])]
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
        let text = self.part(&render(&history.units, options), history.length());
        if self.plain {
            return Ok(said(text));
        }
        let (generation, events) = (history.generation, count(history.length(), "event"));
        Ok(said(format!(
            "{run} · generation {generation} · {events}\n{text}"
        )))
    }
}

impl History {
    /// Of the text of a history with so many events those that are asked for. The names of all that ends in it are
    /// told by what comes before.
    fn part(&self, text: &str, events: u64) -> String {
        let last = self
            .limit
            .map_or(events, |limit| self.after.saturating_add(limit));
        if self.after == 0 && last >= events {
            return text.to_owned();
        }
        // An event begins with its number; a long value stands below it, further to the right.
        let width = events.to_string().len().max(2);
        let (mut part, mut event) = (String::new(), 0);
        for line in text.lines() {
            if line.starts_with(&format!("{:>width$} ", event + 1)) {
                event += 1;
            }
            if self.after < event && event <= last {
                part += line;
                part.push('\n');
            }
        }
        if last < events {
            part += &format!("\nthere are more: `--after {last}`\n");
        }
        part
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
