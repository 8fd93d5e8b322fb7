//! Sessions as they are, for who only looks: no session goes on because of it, and no model is asked.

use std::path::Path;

use perennial::{Namespace, RunId, RunKey};
use perennial_runtime::RunPage;
use perennial_runtime::control::{
    Answer, AskError, ListRuns, ReadStream, Refused as NotAnswered, Request, Runs,
};

use super::{Event, OUTPUT, Refused, STANDING, Standing};

/// The sessions in a folder: those of the store, or of the program that has it and lets itself be asked.
#[derive(Debug)]
pub struct Look {
    /// `None`: nobody has begun one.
    runs: Option<Runs>,
}

impl Look {
    /// Finds the sessions whose store is at `store`. None is made where there is none.
    ///
    /// # Errors
    ///
    /// [`Refused::Held`]: a program has them, and cannot be asked. Or they cannot be read.
    pub fn at(store: &Path) -> Result<Self, Refused> {
        let runs = match Runs::at(store) {
            Ok(runs) => Some(runs),
            Err(AskError::Missing { .. }) => None,
            Err(AskError::NoSocket { process, .. }) => return Err(Refused::Held { process }),
            Err(error) => return Err(error.into()),
        };
        Ok(Self { runs })
    }

    /// The sessions that there are, each with how it stands.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub fn list(&mut self) -> Result<Vec<(RunId, Option<Standing>)>, Refused> {
        let Some(runs) = &mut self.runs else {
            return Ok(Vec::new());
        };
        let (mut sessions, mut after) = (Vec::new(), None);
        loop {
            let page = page(runs, after)?;
            for info in page.runs {
                let standing = standing(runs, &info.run)?;
                sessions.push((info.run.id, standing));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(sessions),
            }
        }
    }

    /// What has happened in a session after the item of that number, each with its own.
    ///
    /// # Errors
    ///
    /// [`Refused::NoSession`].
    pub fn output(&mut self, id: &RunId, mut after: u64) -> Result<Vec<(u64, Event)>, Refused> {
        let none = || Refused::NoSession { id: id.clone() };
        let runs = self.runs.as_mut().ok_or_else(none)?;
        let run = RunKey::new(Namespace::default(), id.clone());
        let mut all = Vec::new();
        loop {
            let read = ReadStream {
                run: run.clone(),
                stream: OUTPUT.name().to_owned(),
                after,
                limit: 0,
            };
            let page = match runs.ask(Request::Stream(read)) {
                Ok(Answer::Items(page)) => page,
                Ok(other) => return Err(unexpected(&other)),
                Err(AskError::Refused(no)) if no.code == NotAnswered::RUN_NOT_FOUND => {
                    return Err(none());
                }
                Err(error) => return Err(error.into()),
            };
            for item in page.items {
                after = item.number;
                all.push((item.number, item.value.decode()?));
            }
            if !page.more {
                return Ok(all);
            }
        }
    }
}

fn page(runs: &mut Runs, after: Option<String>) -> Result<RunPage, Refused> {
    let list = ListRuns {
        workflow: Some("session".to_owned()),
        after,
        ..ListRuns::default()
    };
    match runs.ask(Request::List(list))? {
        Answer::Runs(page) => Ok(page),
        other => Err(unexpected(&other)),
    }
}

fn standing(runs: &mut Runs, run: &RunKey) -> Result<Option<Standing>, Refused> {
    let request = Request::View {
        run: run.clone(),
        name: Some(STANDING.name().to_owned()),
    };
    match runs.ask(request)? {
        Answer::Views(views) => {
            let shown = views.views.first().map(|shown| shown.value.decode());
            Ok(shown.transpose()?)
        }
        other => Err(unexpected(&other)),
    }
}

fn unexpected(answer: &Answer) -> Refused {
    Refused::Other(format!("the program has answered something else: {answer:?}").into())
}
