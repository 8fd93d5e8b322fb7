//! `perennial list`.

use std::path::PathBuf;

use clap::ValueEnum;
use perennial::history::Channel;
use perennial::{Namespace, RunKey};
use perennial_runtime::control::{Answer, ListRuns, Request};
use perennial_runtime::{Awaits, RunInfo, RunPage, RunState, Status};

use super::open::named;
use super::text::{count, table, time};
use super::{ask, json, other, said, shell};
use crate::{AnyError, Outcome};

/// Lists the runs of a namespace, in the order of their ids
///
/// A program that has the store open is asked through its control socket. Where none has, the store is opened.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// The folder of the store, or an export
    store: PathBuf,
    /// The namespace
    #[arg(long, value_name = "NAME", default_value_t = Namespace::default())]
    namespace: Namespace,
    /// Only runs of this workflow
    #[arg(long, value_name = "NAME")]
    workflow: Option<String>,
    /// Only runs that stand like this
    #[arg(long, value_enum)]
    state: Option<State>,
    /// Only runs whose ids begin like this
    #[arg(long, value_name = "TEXT", default_value = "")]
    prefix: String,
    /// How many runs to list: 1 to 10,000
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    limit: u64,
    /// Only runs after this one: what stands below the page before
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    /// It goes on, or waits; or it is blocked
    Running,
    /// No program that has tried could go on with it
    Blocked,
    /// Nothing is told to it until it is resumed
    Paused,
    /// It returned a result
    Completed,
    /// It returned an error
    Failed,
    /// It was moved to a new run
    Migrated,
}

impl List {
    pub(crate) fn run(&self) -> Result<(String, Outcome), AnyError> {
        let (status, blocked) = match self.state {
            None => (None, None),
            Some(State::Running) => (Some(Status::Running), None),
            Some(State::Blocked) => (None, Some(true)),
            Some(State::Paused) => (None, None),
            Some(State::Completed) => (Some(Status::Completed), None),
            Some(State::Failed) => (Some(Status::Failed), None),
            Some(State::Migrated) => (Some(Status::Migrated), None),
        };
        let list = ListRuns {
            namespace: self.namespace.clone(),
            workflow: self.workflow.clone(),
            status,
            blocked,
            paused: matches!(self.state, Some(State::Paused)).then_some(true),
            prefix: self.prefix.clone(),
            limit: usize::try_from(self.limit).unwrap_or(usize::MAX),
            after: self.after.clone(),
        };
        let answer = ask(&self.store, Request::List(list))?;
        let Answer::Runs(page) = answer else {
            return Err(other(&answer));
        };
        if self.json {
            return json(&page);
        }
        Ok(said(self.text(&page)))
    }

    fn text(&self, page: &RunPage) -> String {
        if page.runs.is_empty() {
            let all = self.workflow.is_none()
                && self.state.is_none()
                && self.prefix.is_empty()
                && self.after.is_none();
            let such = if all { "" } else { "such " };
            return format!(
                "there is no {such}run in the namespace {}\n",
                self.namespace
            );
        }
        let head = [
            "RUN",
            "WORKFLOW",
            "STATE",
            "EVENTS",
            "BEGAN",
            "ENDED",
            "WAITS FOR",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(page.runs.iter().map(row));
        let mut text = table(&rows);
        if let Some(next) = &page.next {
            text += &format!("\nthere are more: `--after {}`\n", shell::quoted(next));
        }
        text
    }
}

fn row(run: &RunInfo) -> Vec<String> {
    vec![
        // With its namespace, so that it can be given back (O55).
        run.run.to_string(),
        super::inert::line(&run.workflow),
        state(run),
        run.events.to_string(),
        time(run.created),
        run.finished.map(time).unwrap_or_default(),
        waits_for(&run.awaits, run.finished.is_some()),
    ]
}

/// So many names stand in a list.
const NAMES: usize = 3;

/// What somebody could tell a run, and what it was told and has not taken.
fn waits_for(awaits: &Awaits, ended: bool) -> String {
    let messages = awaits.messages.iter().map(|name| (Channel::Message, name));
    let signals = awaits.signals.iter().map(|name| (Channel::Signal, name));
    let names: Vec<_> = messages.chain(signals).collect();
    let mut parts: Vec<_> = names
        .iter()
        .take(NAMES)
        .map(|(channel, name)| named(*channel, name))
        .collect();
    match (names.len().saturating_sub(NAMES), awaits.others) {
        (0, false) => {}
        (0, true) => parts.push("many names".to_owned()),
        (more, _) => parts.push(count(more as u64, "other name")),
    }
    if awaits.stubs > 0 {
        parts.push(count(awaits.stubs, "stub"));
    }
    let mut text = parts.join(", ");
    if awaits.not_taken > 0 {
        let fate = if ended { "unread" } else { "not taken" };
        let separator = if text.is_empty() { "" } else { "; " };
        text += &format!("{separator}{} {fate}", count(awaits.not_taken, "message"));
    }
    text
}

/// How a run stands, in some words.
pub(super) fn state(run: &RunInfo) -> String {
    let state = match &run.state {
        RunState::Running => "running".to_owned(),
        RunState::Blocked { errors } => {
            let mut codes: Vec<_> = errors.iter().map(|error| &*error.code).collect();
            codes.dedup();
            format!("blocked {}", codes.join(" "))
        }
        RunState::Completed => "completed".to_owned(),
        RunState::Failed => "failed".to_owned(),
        RunState::Migrated => match &run.migrated_to {
            Some(to) => {
                let to = RunKey::new(run.run.namespace.clone(), to.clone());
                format!("migrated to {to}")
            }
            None => "migrated".to_owned(),
        },
        // Newer software may say more.
        other => format!("{other:?}").to_lowercase(),
    };
    match (run.purged, run.paused) {
        (Some(_), _) => format!("{state}, purged"),
        (None, Some(_)) => format!("{state}, paused"),
        (None, None) => state,
    }
}
