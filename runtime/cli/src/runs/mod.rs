//! `perennial send`, `signal`, `update`, `list`, `show`, `history` and `messages`: talking to runs, in a program that is at
//! work, in a store that no program has open, and, but for sending, in an export.

mod history;
mod inert;
mod list;
mod messages;
mod refused;
mod sample;
mod send;
mod shell;
mod show;
mod text;
mod timeline;
mod update;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use perennial::{InvalidId, Namespace, RunId, RunKey};
use perennial_runtime::control::{Answer, Request, Runs};
use serde::Serialize;

use crate::{AnyError, Outcome};

pub(crate) use history::History;
pub(crate) use inert::inert;
use inert::inert_json;
pub(crate) use list::List;
pub(crate) use messages::Messages;
pub(crate) use refused::{NotDone, Unusable};
pub(crate) use send::{Send, Signal};
pub(crate) use show::Show;
pub(crate) use update::Update;

/// A run of some store or export.
#[derive(Debug, clap::Args)]
pub(crate) struct Of {
    /// The folder of the store; where nothing is sent, an export too
    store: PathBuf,
    /// The run: `order-42`, or `namespace/order-42` outside the default namespace
    run: Named,
    /// The namespace of the run
    #[arg(long, value_name = "NAME")]
    namespace: Option<Namespace>,
}

/// A run as it is written.
#[derive(Clone, Debug)]
struct Named {
    namespace: Option<Namespace>,
    id: RunId,
}

impl FromStr for Named {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let (namespace, id) = match text.split_once('/') {
            Some((namespace, id)) => (Some(Namespace::new(namespace)?), id),
            None => (None, text),
        };
        let id = RunId::new(id)?;
        Ok(Self { namespace, id })
    }
}

impl Of {
    fn run(&self) -> Result<RunKey, AnyError> {
        let Self { run, namespace, .. } = self;
        let namespace = match (&run.namespace, namespace) {
            (Some(one), Some(other)) if one != other => {
                let text = format!(
                    "two namespaces are named: {one}/{} and `--namespace {other}`\n\nhelp: name one of them",
                    run.id
                );
                return Err(Unusable(text).into());
            }
            (Some(namespace), _) | (None, Some(namespace)) => namespace.clone(),
            (None, None) => Namespace::default(),
        };
        Ok(RunKey::new(namespace, run.id.clone()))
    }
}

/// Asks once.
fn ask(store: &Path, request: Request) -> Result<Answer, AnyError> {
    let mut runs = open(store)?;
    let answer = runs
        .ask(request)
        .map_err(|error| NotDone::reading(store, error))?;
    runs.close()?;
    Ok(answer)
}

fn open(store: &Path) -> Result<Runs, NotDone> {
    Runs::at(store).map_err(|error| NotDone::reading(store, error))
}

/// What to say of an answer that is none to what was asked.
fn other(answer: &Answer) -> AnyError {
    format!("the program has answered something else: {answer:?}").into()
}

fn json(what: &impl Serialize) -> Result<(String, Outcome), AnyError> {
    let mut text = serde_json::to_string_pretty(what)?;
    text.push('\n');
    Ok((inert_json(&text), Outcome::Done))
}

/// A text for people, out of what others have written.
fn said(text: impl fmt::Display) -> (String, Outcome) {
    (inert(&text.to_string()), Outcome::Done)
}
