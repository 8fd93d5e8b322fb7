//! Printing what comes, as it comes.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use perennial::{Publication, RunKey};
use perennial_runtime::control::{Answer, AskError, Ended, Publishes, RunDetails, Whereabouts};
use serde::Serialize;

use super::inert::{inert, inert_json, line};
use super::{About, NotDone, Unusable, other, said};
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

/// Whether the workflow of a run is known to publish something of that name.
pub(super) fn is_declared(details: &RunDetails, kind: Publication, name: &str) -> bool {
    declared(&details.publishes, kind).any(|known| known == name)
}

/// The names under which a workflow is known to publish.
pub(super) fn declared(
    publishes: &[Publishes],
    kind: Publication,
) -> impl Iterator<Item = &String> {
    let publishes = publishes.iter();
    publishes
        .filter(move |known| known.kind == kind)
        .map(|known| &known.name)
}

/// That it is not said what is to be followed, with what there is to choose from. `what`: a stream or a view.
pub(super) fn unnamed<'a>(
    option: &str,
    what: &str,
    run: &RunKey,
    names: impl Iterator<Item = &'a String>,
) -> AnyError {
    let names: BTreeSet<_> = names.map(|name| line(name)).collect();
    let names: Vec<_> = names.into_iter().collect();
    let help = match &*names {
        [] => format!("of run {run} no {what} is known"),
        names => format!("name a {what} of run {run}: {}", names.join(", ")),
    };
    let text = format!("`{option}` needs the name of a {what}\n\nhelp: {help}");
    Unusable(text).into()
}

/// What there is so far, to whoever waits for more: a name may be mistyped.
pub(super) fn awaited(text: &str, whereabouts: Whereabouts) -> String {
    match whereabouts {
        Whereabouts::Program => format!("{text}; waiting for it until the run ends"),
        _ => text.to_owned(),
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
    let ended = ended.map_err(|error| NotDone::following(About::run(store, run), error, help))?;
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
