//! `perennial show`.

use std::path::Path;

use perennial::history::Channel;
use perennial::{Namespace, RunKey};
use perennial_runtime::control::{Answer, Request, RunDetails, Runs};
use perennial_runtime::{RunState, TypeManifest};

use super::inert::{inert, line};
use super::list::state;
use super::sample::sample;
use super::text::{long, table, time};
use super::timeline::{Open, Timeline, timeline};
use super::{NotDone, Of, history, json, open, other, said, shell};
use crate::{AnyError, Outcome};

/// Shows a run as a timeline: what it did, what it was told, what it waits for and how to answer it
///
/// Of a program that has the store open it is asked through its control socket. Where none has, the store is opened.
/// Times are in UTC.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    of: Of,
    /// Print JSON: how the run stands, and what is kept beside its history
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let (run, store) = (self.of.run()?, &*self.of.store);
        let mut runs = open(store)?;
        let details = details(&mut runs, store, &run)?;
        if self.json {
            runs.close()?;
            return json(&details);
        }
        // Of a purged run there is none.
        let units = match details.info.purged {
            Some(_) => Vec::new(),
            None => history::read(&mut runs, store, &run)?.units,
        };
        runs.close()?;
        let timeline = timeline(&units, &details);
        Ok(said(text(store, &details, &timeline)))
    }
}

fn details(runs: &mut Runs, store: &Path, run: &RunKey) -> Result<RunDetails, AnyError> {
    let run = run.clone();
    let answer = runs
        .ask(Request::Show { run })
        .map_err(|error| NotDone::reading(store, error))?;
    match answer {
        Answer::Run(details) => Ok(*details),
        answer => Err(other(&answer)),
    }
}

fn text(store: &Path, details: &RunDetails, timeline: &Timeline) -> String {
    let info = &details.info;
    let mut text = format!(
        "{} · {} · {}\n",
        info.run,
        line(&info.workflow),
        head(details, timeline)
    );
    let rows: Vec<_> = timeline
        .lines
        .iter()
        .map(|line| {
            vec![
                format!("  {}", time(line.at)),
                line.what.clone(),
                line.said.clone(),
            ]
        })
        .collect();
    text += &table(&rows);
    if let RunState::Blocked { errors } = &info.state {
        for error in errors {
            let by = match &*error.artifact {
                "" => String::new(),
                artifact => format!(" in program {}", line(artifact)),
            };
            text += &format!("\nblocked{by}, {}:\n", time(error.at));
            for line in inert(&error.text).lines() {
                text += format!("  {line}").trim_end();
                text.push('\n');
            }
        }
    }
    if info.finished.is_none() {
        text += &answers(store, details, timeline);
    }
    text
}

/// How it stands, after its name.
fn head(details: &RunDetails, timeline: &Timeline) -> String {
    let info = &details.info;
    if let Some(finished) = info.finished {
        return format!(
            "{} {}, after {}",
            state(info),
            time(finished),
            long(finished.since(info.created))
        );
    }
    let since = long(details.at.since(timeline.last));
    let open: Vec<_> = timeline.open.iter().map(Open::name).collect();
    let waiting = match &*open {
        [] => format!("nothing since {since}"),
        open => format!("waiting {since} for {}", open.join(", ")),
    };
    match info.state {
        RunState::Blocked { .. } => format!("{}, {waiting}", state(info)),
        _ => waiting,
    }
}

/// Command lines for what it waits to be told.
fn answers(store: &Path, details: &RunDetails, timeline: &Timeline) -> String {
    let mut text = String::new();
    let mut told = Vec::new();
    for open in &timeline.open {
        let Open::Receive { channel, name } = open else {
            continue;
        };
        if told.contains(&(*channel, name)) {
            continue;
        }
        told.push((*channel, name));
        let receives = details.receives.iter();
        let known = receives
            .filter(|known| known.channel == *channel && known.name == *name)
            .find_map(|known| known.data.as_ref());
        text += &answer(store, &details.info.run, *channel, name, known);
    }
    text
}

fn answer(
    store: &Path,
    run: &RunKey,
    channel: Channel,
    name: &str,
    data: Option<&TypeManifest>,
) -> String {
    let Some(store) = store.to_str() else {
        return "answer it: the path of the store has characters that no command line can be shown with\n".to_owned();
    };
    let kind = match channel {
        Channel::Message => "send",
        Channel::Signal => "signal",
    };
    let namespace = run.namespace.as_str();
    let options = [kind, "--namespace", namespace];
    let options = match run.namespace == Namespace::default() {
        true => &options[..1],
        false => &options[..],
    };
    let sample = data.and_then(sample);
    let payload = sample.as_deref().unwrap_or("JSON");
    let command = shell::command(options, &[store, run.id.as_str(), name, payload]);
    if inert(&command) != command {
        // What is shown would not be what a shell takes.
        return format!(
            "answer it: perennial {kind}, with characters that cannot be shown: {}\n",
            line(&command)
        );
    }
    match (sample, data) {
        (Some(_), _) => format!("answer it: {command}\n"),
        (None, Some(data)) => {
            format!(
                "answer it: {command}\n           where JSON is of the type {}\n",
                line(&data.name)
            )
        }
        (None, None) => format!("answer it: {command}\n"),
    }
}
