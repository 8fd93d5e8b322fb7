//! `perennial send`, `signal`, `update`, `fulfil`, `pause`, `resume`, `fork`, `list`, `show`, `history`, `messages`,
//! `waiting`, `view` and `stream`: talking to runs, in a program that is at work, in a store that no program has open,
//! and, but for what changes them, in an export.

mod follow;
mod fork;
mod fulfil;
mod history;
mod inert;
mod list;
mod messages;
mod mistaken;
mod open;
mod operation;
mod pause;
mod reference;
mod refused;
mod sample;
mod send;
mod shell;
mod show;
mod stream;
mod text;
mod timeline;
mod update;
mod view;
mod waiting;

use std::fmt;
use std::io::Write;
use std::path::Path;

use perennial::RunKey;
use perennial_runtime::control::{Answer, Request, Runs};
use serde::Serialize;

use crate::{AnyError, Outcome};

pub(crate) use fork::Fork;
pub(crate) use fulfil::Fulfil;
pub(crate) use history::History;
pub(crate) use inert::inert;
use inert::inert_json;
pub(crate) use list::List;
pub(crate) use messages::Messages;
pub(crate) use pause::{Pause, Resume};
use reference::Of;
use refused::About;
pub(crate) use refused::{NotDone, Unusable};
pub(crate) use send::{Send, Signal};
pub(crate) use show::Show;
pub(crate) use stream::Stream;
pub(crate) use update::Update;
pub(crate) use view::View;
pub(crate) use waiting::Waiting;

/// Asks once.
fn ask(store: &Path, request: Request) -> Result<Answer, AnyError> {
    let mut runs = open(store)?;
    let answer = runs
        .ask(request)
        .map_err(|error| NotDone::reading(About::store(store), error))?;
    runs.close()?;
    Ok(answer)
}

/// Asks once, for something about a run to be changed.
fn change(store: &Path, run: &RunKey, request: Request) -> Result<Answer, AnyError> {
    let mut runs = open(store)?;
    let answer = runs
        .ask(request)
        .map_err(|error| NotDone::steering(About::run(store, run), error))?;
    runs.close()?;
    Ok(answer)
}

fn open(store: &Path) -> Result<Runs, NotDone> {
    Runs::at(store).map_err(|error| NotDone::reading(About::store(store), error))
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

/// Says something beside what was asked for, where it is in nobody's way who reads that.
fn remark(errors: &mut dyn Write, text: &str) {
    // Nobody may be reading.
    let _ = errors.write_all(inert(&format!("{text}\n")).as_bytes());
}

/// A text for people, out of what others have written.
fn said(text: impl fmt::Display) -> (String, Outcome) {
    (inert(&text.to_string()), Outcome::Done)
}
