//! Printing what comes, as it comes.

use std::io::Write;
use std::path::Path;

use perennial::RunKey;
use perennial_runtime::control::{Answer, AskError, Ended, Whereabouts};
use serde::Serialize;

use super::inert::{inert, inert_json};
use super::{NotDone, other, said};
use crate::{AnyError, Outcome};

/// Where it is printed.
pub(super) struct Following<'a> {
    out: &'a mut dyn Write,
    json: bool,
    /// What came that is not understood.
    problem: Option<AnyError>,
}

impl<'a> Following<'a> {
    pub(super) fn new(out: &'a mut dyn Write, json: bool) -> Self {
        let problem = None;
        Self { out, json, problem }
    }

    /// Prints a text for people. `false`: nobody reads it.
    pub(super) fn text(&mut self, text: &str) -> bool {
        self.print(&inert(text))
    }

    /// Prints an object on a line of its own. `false`: nobody reads it.
    pub(super) fn object(&mut self, what: &impl Serialize) -> bool {
        match serde_json::to_string(what) {
            Ok(text) => self.print(&(inert_json(&text) + "\n")),
            Err(error) => {
                self.problem = Some(error.into());
                false
            }
        }
    }

    /// Ends it.
    pub(super) fn misunderstood(&mut self, answer: &Answer) -> bool {
        self.problem = Some(other(answer));
        false
    }

    fn print(&mut self, text: &str) -> bool {
        let printed = self.out.write_all(text.as_bytes());
        printed.and_then(|()| self.out.flush()).is_ok()
    }
}

/// What there is to say at the end. `help`: how to go on where it has ended too early.
pub(super) fn outcome(
    store: &Path,
    run: &RunKey,
    following: Following<'_>,
    ended: Result<Ended, AskError>,
    whereabouts: Whereabouts,
    help: &str,
) -> Result<(String, Outcome), AnyError> {
    let Following { json, problem, .. } = following;
    if let Some(problem) = problem {
        return Err(problem);
    }
    let ended = ended.map_err(|error| NotDone::following(store, error, help))?;
    Ok(match whereabouts {
        _ if json => (String::new(), Outcome::Done),
        _ if ended.finished => said(format!("run {run} has ended\n")),
        Whereabouts::Stopped => {
            said("no program has the store open: more comes when one goes on with the run\n")
        }
        Whereabouts::Export => said("an export has no more\n"),
        // Nobody reads it any more.
        _ => (String::new(), Outcome::Done),
    })
}
