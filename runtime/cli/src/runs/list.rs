//! `perennial list`.

use std::path::PathBuf;

use clap::ValueEnum;
use perennial::Namespace;
use perennial_runtime::control::{Answer, ListRuns, Request};
use perennial_runtime::{RunInfo, RunPage, RunState, Status};

use super::text::{table, time};
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
            Some(State::Completed) => (Some(Status::Completed), None),
            Some(State::Failed) => (Some(Status::Failed), None),
            Some(State::Migrated) => (Some(Status::Migrated), None),
        };
        let list = ListRuns {
            namespace: self.namespace.clone(),
            workflow: self.workflow.clone(),
            status,
            blocked,
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
            return format!("there is no such run in the namespace {}\n", self.namespace);
        }
        let head = ["RUN", "WORKFLOW", "STATE", "EVENTS", "BEGAN", "ENDED"];
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
        run.run.id.to_string(),
        super::inert::line(&run.workflow),
        state(run),
        run.events.to_string(),
        time(run.created),
        run.finished.map(time).unwrap_or_default(),
    ]
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
            Some(to) => format!("migrated to {to}"),
            None => "migrated".to_owned(),
        },
        // Newer software may say more.
        other => format!("{other:?}").to_lowercase(),
    };
    match run.purged {
        Some(_) => format!("{state}, purged"),
        None => state,
    }
}
