//! Runs and operations as they are written on a command line: whatever is printed as one can be given back (O55).

use std::path::{Path, PathBuf};
use std::str::FromStr;

use perennial::{InvalidId, Namespace, OperationId, RunId, RunKey};
use perennial_runtime::control::{Answer, AskError, ListRuns, Refused, Request, Runs};

use super::{About, NotDone, Unusable, other};
use crate::AnyError;

/// A run of some store or export.
#[derive(Debug, clap::Args)]
pub(crate) struct Of {
    /// The folder of the store; where nothing is changed, an export too
    pub(super) store: PathBuf,
    /// The run: `order-42`, or `namespace/order-42` outside the default namespace
    ///
    /// Where nothing is changed the beginning of an id will do that no other begins with.
    run: Named,
    /// The namespace of the run
    #[arg(long, value_name = "NAME")]
    namespace: Option<Namespace>,
}

/// A run, or an operation of one, of some store or export.
#[derive(Debug, clap::Args)]
pub(crate) struct OfAny {
    /// The folder of the store, or an export
    pub(super) store: PathBuf,
    /// The run: `order-42`, or `namespace/order-42` outside the default namespace; or an operation of it, `order-42~7`
    ///
    /// The beginning of an id will do that no other begins with.
    #[arg(value_name = "RUN")]
    run: Named,
    /// The namespace of the run
    #[arg(long, value_name = "NAME")]
    namespace: Option<Namespace>,
}

/// An operation of a run of some store.
#[derive(Debug, clap::Args)]
pub(crate) struct OfCall {
    /// The folder of the store
    pub(super) store: PathBuf,
    /// The operation: `order-42~7`, or `namespace/order-42~7` outside the default namespace
    reference: Named,
    /// The namespace of the run
    #[arg(long, value_name = "NAME")]
    namespace: Option<Namespace>,
}

/// A run or an operation as it is written.
#[derive(Clone, Debug)]
struct Named {
    namespace: Option<Namespace>,
    id: RunId,
    operation: Option<u64>,
}

impl FromStr for Named {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let (namespace, id) = match text.split_once('/') {
            Some((namespace, id)) => (Some(Namespace::new(namespace)?), id),
            None => (None, text),
        };
        let (id, operation) = if id.contains('~') {
            let OperationId { run, number } = id.parse()?;
            (run, Some(number))
        } else {
            (RunId::new(id)?, None)
        };
        Ok(Self {
            namespace,
            id,
            operation,
        })
    }
}

impl Named {
    /// The run, where a namespace may be named beside it.
    fn key(&self, beside: Option<&Namespace>) -> Result<RunKey, AnyError> {
        let namespace = match (&self.namespace, beside) {
            (Some(one), Some(other)) if one != other => {
                let text = format!(
                    "two namespaces are named: {one}/{} and `--namespace {other}`\n\nhelp: name one of them",
                    self.id
                );
                return Err(Unusable(text).into());
            }
            (Some(namespace), _) | (None, Some(namespace)) => namespace.clone(),
            (None, None) => Namespace::default(),
        };
        Ok(RunKey::new(namespace, self.id.clone()))
    }
}

impl Of {
    pub(super) fn run(&self) -> Result<RunKey, AnyError> {
        let run = self.run.key(self.namespace.as_ref())?;
        match self.run.operation {
            None => Ok(run),
            Some(operation) => {
                let text = format!(
                    "{} is an operation, and this is about a run\n\nhelp: name its run: {run}",
                    reference(&run, operation)
                );
                Err(Unusable(text).into())
            }
        }
    }
}

impl OfAny {
    /// The run, and the operation if one is named.
    pub(super) fn what(&self) -> Result<(RunKey, Option<u64>), AnyError> {
        let run = self.run.key(self.namespace.as_ref())?;
        Ok((run, self.run.operation))
    }
}

impl OfCall {
    pub(super) fn operation(&self) -> Result<(RunKey, u64), AnyError> {
        let run = self.reference.key(self.namespace.as_ref())?;
        match self.reference.operation {
            Some(operation) => Ok((run, operation)),
            // It says what one looks like.
            None => match run.to_string().parse::<OperationId>() {
                Ok(reference) => Ok((run, reference.number)),
                Err(error) => Err(Unusable(error.to_string()).into()),
            },
        }
    }
}

/// An operation of a run, as it can be given back.
pub(super) fn reference(run: &RunKey, operation: u64) -> String {
    format!("{run}~{operation}")
}

/// So many runs are named where one is meant.
const NAMED: usize = 5;

/// Asks about a run. Where there is none of that id it is the one whose id begins like that, if there is one such; then
/// `run` is that one.
pub(super) fn ask_about(
    runs: &mut Runs,
    store: &Path,
    run: &mut RunKey,
    request: impl Fn(RunKey) -> Request,
) -> Result<Answer, AnyError> {
    let answer = match runs.ask(request(run.clone())) {
        Err(AskError::Refused(refused)) if refused.code == Refused::RUN_NOT_FOUND => {
            match begins_like(runs, store, run)? {
                Some(found) => *run = found,
                None => return Err(NotDone::reading(About::run(store, run), refused.into()).into()),
            }
            runs.ask(request(run.clone()))
        }
        answer => answer,
    };
    answer.map_err(|error| NotDone::reading(About::run(store, run), error).into())
}

/// The one run whose id begins like that.
fn begins_like(runs: &mut Runs, store: &Path, begin: &RunKey) -> Result<Option<RunKey>, AnyError> {
    let list = ListRuns {
        namespace: begin.namespace.clone(),
        prefix: begin.id.to_string(),
        limit: NAMED + 1,
        ..ListRuns::default()
    };
    let answer = runs
        .ask(Request::List(list))
        .map_err(|error| NotDone::reading(About::store(store), error))?;
    let Answer::Runs(page) = answer else {
        return Err(other(&answer));
    };
    let mut found: Vec<_> = page.runs.into_iter().map(|run| run.run).collect();
    if found.len() <= 1 {
        return Ok(found.pop());
    }
    let more = found.len() > NAMED;
    found.truncate(NAMED);
    let mut names: Vec<_> = found.iter().map(RunKey::to_string).collect();
    if more {
        names.push("…".to_owned());
    }
    let text = format!(
        "there is no run {begin}, and more than one run's id begins like that: {}\n\n\
         help: name one of them, or more of its id",
        names.join(", ")
    );
    Err(text.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(text: &str) -> (String, Option<u64>) {
        let named: Named = text.parse().unwrap();
        (named.key(None).unwrap().to_string(), named.operation)
    }

    #[test]
    fn o55_a_reference_is_read_as_it_is_printed() {
        for (run, operation) in [("order-42", 7), ("shop/order-42", u64::MAX)] {
            let key: RunKey = run.parse().unwrap();
            assert_eq!(read(&key.to_string()), (run.to_owned(), None));
            assert_eq!(
                read(&reference(&key, operation)),
                (run.to_owned(), Some(operation))
            );
        }
    }

    #[test]
    fn what_is_no_reference_is_told() {
        for text in [
            "order-42~",
            "order-42~0",
            "order-42~x",
            "~7",
            "a/b/c",
            "a~1~2",
        ] {
            assert!(text.parse::<Named>().is_err(), "{text}");
        }
    }
}
