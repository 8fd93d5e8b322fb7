//! Runs, wherever they are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use perennial::RunKey;
use tokio::sync::oneshot;

#[cfg(unix)]
use super::ask::Connection;
use super::error::AskError;
use super::follow::{Ended, Follow, GivenUp, Listener};
use super::offers;
use super::refused::Refused;
use super::request::{Answer, ListRuns, Request};
use super::serve::{Exported, Serve, Stopped, cut_runs, query, read_only};
use crate::client::{RunInfo, RunPage};
use crate::store::export::{self, Content, ImportError, OneRun, Step};
use crate::store::{BlockedRecord, Head, MemoryStore, OpenError, SledStore, is_listed};

/// Runs that can be asked about: those of a running program, of a store that no program has open, or of an export.
///
/// ```no_run
/// use perennial_runtime::control::{Answer, ListRuns, Request, Runs};
///
/// # fn look() -> Result<(), Box<dyn std::error::Error>> {
/// let mut runs = Runs::at("./data")?;
/// if let Answer::Runs(page) = runs.ask(Request::List(ListRuns::default()))? {
///     for run in page.runs {
///         println!("{} {}", run.run, run.workflow);
///     }
/// }
/// runs.close()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Runs(Kind);

#[derive(Debug)]
enum Kind {
    #[cfg(unix)]
    Program(Connection),
    Stopped(Stopped),
    Export {
        path: PathBuf,
        /// The run that was asked about last.
        loaded: Option<(RunKey, Exported)>,
    },
}

/// Where runs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Whereabouts {
    /// In a running program: what is sent is told to a run at once.
    Program,
    /// In a store that no program has open: what is sent is told to a run by the next program that is started.
    Stopped,
    /// In an export, in which nothing can be changed.
    Export,
}

impl Runs {
    /// Those at `path`: the folder of a store, or an export.
    ///
    /// Where a program has the store open, it is asked through its [control
    /// socket](crate::Builder::control_socket). Where none has, the store is opened, which keeps programs from
    /// opening it until this is [closed](Self::close) or dropped, and does what a process that was killed has left
    /// undone. A store is never made.
    ///
    /// # Errors
    ///
    /// [`AskError`]: there is nothing, it cannot be opened or read, or a program has it that cannot be asked.
    pub fn at(path: impl AsRef<Path>) -> Result<Self, AskError> {
        let path = path.as_ref();
        let owned = || path.to_owned();
        if path.is_file() {
            // So that what is none is told now.
            export::open(path)?;
            let (path, loaded) = (owned(), None);
            return Ok(Self(Kind::Export { path, loaded }));
        }
        if !path.exists() {
            return Err(AskError::Missing { path: owned() });
        }
        if let Some(program) = Self::program(path)? {
            return Ok(program);
        }
        match SledStore::open_existing(path) {
            Ok(store) => Ok(Self(Kind::Stopped(Stopped(Arc::new(store))))),
            Err(OpenError::Held { folder, process }) => {
                // It may have been started just now.
                Self::program(path)?.ok_or(AskError::NoSocket { folder, process })
            }
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(unix)]
    fn program(folder: &Path) -> Result<Option<Self>, AskError> {
        Ok(Connection::open(folder)?.map(|program| Self(Kind::Program(program))))
    }

    #[cfg(not(unix))]
    fn program(_: &Path) -> Result<Option<Self>, AskError> {
        Ok(None)
    }

    /// Where they are.
    #[must_use]
    pub fn whereabouts(&self) -> Whereabouts {
        match &self.0 {
            #[cfg(unix)]
            Kind::Program(_) => Whereabouts::Program,
            Kind::Stopped(_) => Whereabouts::Stopped,
            Kind::Export { .. } => Whereabouts::Export,
        }
    }

    /// Asks, and waits for the answer, which is not [`Answer::Refused`]: that is the error.
    ///
    /// # Errors
    ///
    /// [`AskError`]. Where [`AskError::may_be_done`] says no, nothing was changed.
    pub fn ask(&mut self, request: Request) -> Result<Answer, AskError> {
        match &mut self.0 {
            #[cfg(unix)]
            Kind::Program(connection) => connection.ask(&request),
            Kind::Stopped(stopped) => Ok(stopped.serve(request)?),
            Kind::Export { path, loaded } => {
                let run = match &request {
                    Request::Send(_) | Request::Fulfil(_) => return Err(read_only("sent").into()),
                    Request::Update(_)
                    | Request::Pause { .. }
                    | Request::Resume { .. }
                    | Request::Fork { .. } => {
                        return Err(read_only("changed").into());
                    }
                    Request::List(list) => return Ok(Answer::Runs(list_export(path, list)?)),
                    Request::Waiting(list) => {
                        return Ok(Answer::Offers(offers::waiting_in_export(path, list)?));
                    }
                    Request::Show { run }
                    | Request::History { run, .. }
                    | Request::View { run, .. } => run,
                    Request::Messages(list) => &list.run,
                    Request::Stream(read) => &read.run,
                };
                Ok(of_export(path, loaded, run)?.serve(request)?)
            }
        }
    }

    /// Follows what a run gives out or shows, and hands each [`Answer::Items`] or [`Answer::Views`] to `each` as soon as
    /// it is there, until nothing more comes, or `each` says `false`. A program hands on what is durable, without
    /// being asked again and again. Of a store that no program has open, and of an export, there comes what there is.
    ///
    /// # Errors
    ///
    /// [`AskError`]. What has come until then is as it is: who follows again says after which item.
    pub fn follow(
        self,
        follow: Follow,
        mut each: impl FnMut(Answer) -> bool,
    ) -> Result<Ended, AskError> {
        let stopped = |serve: &dyn Serve, follow, each: &mut dyn FnMut(Answer) -> bool| {
            // Nobody goes.
            let (_here, gone) = oneshot::channel();
            match serve.follow_known(follow, Listener { tell: each, gone }) {
                Ok(ended) => Ok(ended),
                Err(GivenUp::NotTaken) => Ok(Ended::default()),
                Err(GivenUp::Refused(refused)) => Err(AskError::from(refused)),
            }
        };
        match self.0 {
            #[cfg(unix)]
            Kind::Program(connection) => connection.follow(&follow, &mut each),
            Kind::Stopped(store) => {
                let ended = stopped(&store, follow, &mut each)?;
                store.0.close().map_err(Refused::from)?;
                Ok(ended)
            }
            Kind::Export { path, mut loaded } => {
                let run = match &follow {
                    Follow::Stream { run, .. } | Follow::View { run, .. } => run,
                };
                let export = of_export(&path, &mut loaded, run)?;
                stopped(export, follow, &mut each)
            }
        }
    }

    /// Lets go of the store. Dropping does so too, and does not say what went wrong.
    ///
    /// # Errors
    ///
    /// When what was written cannot be made durable: see [`Store::close`](crate::store::Store::close).
    pub fn close(self) -> Result<(), crate::store::StoreError> {
        match self.0 {
            Kind::Stopped(Stopped(store)) => store.close(),
            _ => Ok(()),
        }
    }
}

/// A page of the runs of an export, which is read to its end.
fn list_export(path: &Path, list: &ListRuns) -> Result<RunPage, AskError> {
    let query = query(list.clone()).map_err(Refused::from)?;
    let mut reader = export::open(path)?;
    let mut runs = Vec::new();
    let mut more = false;
    // A run that is withdrawn does not count, so a run counts at its end.
    let mut open: Option<(RunKey, Box<Head>, Vec<BlockedRecord>)> = None;
    loop {
        match reader.step()? {
            Step::Line(run, Content::Head(head)) => open = Some((run, head, Vec::new())),
            Step::Line(_, Content::Withdrawn) => open = None,
            Step::Line(_, Content::Blocked(record)) => {
                if let Some((_, _, records)) = &mut open {
                    records.push(record);
                }
            }
            Step::Done => {
                let Some((run, head, records)) = open.take() else {
                    continue;
                };
                if run.namespace != query.namespace
                    || query.after.as_ref().is_some_and(|after| run.id <= *after)
                    || !is_listed(&query, &run.id, &head)
                {
                    continue;
                }
                if runs.len() < query.limit {
                    runs.push(RunInfo::new(run, *head, records));
                } else {
                    more = true;
                }
            }
            Step::End => break,
            Step::Program(_) | Step::Line(..) => {}
        }
    }
    let last = runs.last().filter(|_| more);
    let next = last.map(|last| last.run.id.to_string());
    Ok(cut_runs(RunPage { runs, next }))
}

/// One run of an export, as it was loaded before or is now.
fn of_export<'a>(
    path: &Path,
    loaded: &'a mut Option<(RunKey, Exported)>,
    run: &RunKey,
) -> Result<&'a Exported, AskError> {
    let run = match loaded.take() {
        Some(before) if before.0 == *run => loaded.insert(before),
        _ => loaded.insert((run.clone(), load(path, run)?)),
    };
    Ok(&run.1)
}

/// One run of an export.
fn load(path: &Path, run: &RunKey) -> Result<Exported, AskError> {
    let mut reader = export::open(path)?;
    let at = reader.begin().at;
    let store = Arc::new(MemoryStore::new());
    match export::import_run(&mut reader, &*store, run) {
        // Where there is no such run, the store says so when it is asked.
        Ok(OneRun::Whole | OneRun::Missing) => Ok(Exported { store, at }),
        Ok(OneRun::Partial(problems)) => {
            let text = format!(
                "run {run} is in {}, and not whole: {}\n\n\
                 help: the lines of the export have what is left of it",
                path.display(),
                problems.join("; ")
            );
            Err(Refused::new(Refused::RUN_NOT_WHOLE, text).into())
        }
        Err(ImportError::Unreadable(error)) => Err(error.into()),
        Err(error) => Err(Refused::new(Refused::UNAVAILABLE, error).into()),
    }
}
