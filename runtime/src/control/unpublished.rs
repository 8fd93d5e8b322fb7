//! Names under which a run is known to publish nothing.

use std::fmt;

use perennial::{Publication, RunKey};

use super::declared::declarations;
use super::refused::Refused;
use crate::error::ReadError;
use crate::registry::closest;
use crate::store::Store;

/// A stream or a view that a run does not have, and will not have as far as its workflow tells.
#[derive(Debug, PartialEq, Eq)]
struct NotPublished {
    run: RunKey,
    kind: Publication,
    name: String,
    workflow: String,
    /// Those that it has, or may come to have.
    known: Vec<String>,
}

/// Refuses a stream or a view that a run does not have, where all programs that have its workflow tell that they publish
/// nothing of that name: whoever waited for it would wait for ever.
pub(super) fn check_published(
    store: &dyn Store,
    run: &RunKey,
    kind: Publication,
    name: &str,
) -> Result<(), Refused> {
    // What is the matter with the run is said where it is read.
    let Some(head) = store.head(run).map_err(ReadError::from)? else {
        return Ok(());
    };
    let mut known = match kind {
        Publication::Stream => head.streams.into_iter().map(|one| one.name).collect(),
        Publication::View => {
            let views = store.views(run).map_err(ReadError::from)?;
            views.into_iter().map(|one| one.name).collect()
        }
        // Newer software may know of more.
        _ => return Ok(()),
    };
    let is_it = |known: &Vec<String>| known.iter().any(|known| known == name);
    if is_it(&known) {
        return Ok(());
    }
    let Some(programs) = declarations(store, &head.workflow).map_err(ReadError::from)? else {
        return Ok(());
    };
    if programs.iter().any(|workflow| workflow.publishes_others) {
        return Ok(());
    }
    let others = programs.into_iter().flat_map(|workflow| workflow.publishes);
    let others = others.filter(|other| other.kind == kind);
    known.extend(others.map(|other| other.name));
    if is_it(&known) {
        return Ok(());
    }
    known.sort();
    known.dedup();
    Err(NotPublished {
        run: run.clone(),
        kind,
        name: name.to_owned(),
        workflow: head.workflow,
        known,
    }
    .into())
}

impl NotPublished {
    /// The name that was probably meant.
    fn closest(&self) -> Option<String> {
        closest(&self.name, self.known.iter().map(String::as_str))
    }
}

impl fmt::Display for NotPublished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            run,
            kind,
            name,
            workflow,
            known,
        } = self;
        let (name, workflow) = (name.escape_debug(), workflow.escape_debug());
        match kind {
            Publication::View => write!(
                f,
                "run {run} does not show \"{name}\": its workflow `{workflow}` has no view of that name"
            )?,
            _ => write!(
                f,
                "run {run} gives out nothing in \"{name}\": its workflow `{workflow}` has no stream of that name"
            )?,
        }
        if !known.is_empty() {
            let quoted = |name: &String| format!("\"{}\"", name.escape_debug());
            let known: Vec<_> = known.iter().map(quoted).collect();
            write!(f, "; it has {}", known.join(", "))?;
        }
        match self.closest() {
            Some(closest) => write!(
                f,
                "\n\nhelp: there is one called \"{}\"",
                closest.escape_debug()
            ),
            None => f.write_str(
                "\n\nhelp: declare the name once, as a `const`, and use that where it is published and where it is read",
            ),
        }
    }
}

impl From<NotPublished> for Refused {
    fn from(error: NotPublished) -> Self {
        let code = match error.kind {
            Publication::View => Self::NO_SUCH_VIEW,
            _ => Self::NO_SUCH_STREAM,
        };
        let closest = error.closest();
        Self::new(code, error).with_closest(closest)
    }
}
