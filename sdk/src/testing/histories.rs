//! Replaying a folder of histories against the code as it is.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use super::export::{self, Found};
use super::files::{in_package, shown};
use super::misfit::{Misfit, Misfits, Unfit, replayed};
use super::replay::changed;
use super::report::Changed;
use super::suggest::closest;
use super::thorough::{self, Sample};
use crate::WorkflowDefinition;
use crate::history::{History, Observation};
use crate::workflow::WorkflowSet;

/// A folder of histories that fit the code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// How many files there are.
    pub files: usize,
    /// How many histories are in them.
    pub histories: usize,
    /// How many of those are of runs that had not ended.
    pub unfinished: usize,
    /// How many of them were replayed in all changed worlds; the others were replayed in one of them.
    pub thoroughly: usize,
    /// What was different when they were replayed again.
    pub changed: Changed,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            files,
            histories,
            unfinished,
            changed,
            ..
        } = self;
        write!(
            f,
            "{histories} histories in {files} files fit this code, {unfinished} of them unfinished; {}",
            replayed(*changed)
        )
    }
}

/// Replays all histories in a folder against the code as it is, and fails with all that do not fit.
///
/// A test that does this tells before a release what would be told after it: that runs which are in flight
/// would be blocked by the new code.
///
/// ```no_run
/// use perennial::testing::check_histories;
/// # use perennial::prelude::*;
/// # #[workflow]
/// # async fn fulfil(cx: &Cx, cents: u64) -> Result<u64, Error> { Ok(cents) }
/// # #[workflow]
/// # async fn refund(cx: &Cx, cents: u64) -> Result<u64, Error> { Ok(cents) }
///
/// # #[allow(dead_code)] fn in_flight() {
/// // #[test]
/// check_histories("tests/histories", (fulfil, refund));
/// # }
/// ```
///
/// The path counts from the folder of the package. Files that end in `.json` hold a
/// [`History`](crate::history::History) each ([`save_history`](super::save_history)); files that end in
/// `.jsonl` are exports of stores (`perennial store export`) with any number of them; others are passed over,
/// folders are looked through. A history of a workflow that is not given does not fit, and a folder without
/// histories is a failure too: what checks nothing does not pass.
///
/// A history of a run that had not ended fits when the code decides what is in it; one of a run that had
/// ended when the code ends there. Each is replayed on a fresh thread, in a changed world: with
/// `perennial-sandbox` linked another clock, other random bytes and other hash keys, without it other hash keys
/// alone. So a history from production also finds code that depends on one of these.
///
/// The first four histories of each kind are replayed in the world as it is, in 16 changed worlds, and a second
/// time on a thread that has replayed the run before, as the kit does with a run of a test; the deadlines of timers
/// and the options of activities must then be the same in all of these worlds, too. Histories are of one kind when
/// they are of the same workflow and have events of the same kinds and names, in whatever number and order; of a
/// workflow with more kinds 32 histories in all are replayed like this. All others are replayed once, the first of
/// them in the first world, the next in the second and so on; what does not fit there is looked at like the first.
/// So a thousand histories cost little more than reading them. [`Checked`] and [`Misfits`] say what was changed.
///
/// # Panics
///
/// With all that does not fit; see [`replay_folder`] for the same as a `Result`.
#[track_caller]
pub fn check_histories<M>(folder: impl AsRef<Path>, workflows: impl WorkflowSet<M>) -> Checked {
    // Not in a closure, whose place would be this file.
    match replay_folder(folder, workflows) {
        Ok(checked) => checked,
        Err(misfits) => panic!("{misfits}"),
    }
}

/// Replays all histories in a folder against the code as it is ([`check_histories`]).
///
/// # Errors
///
/// [`Misfits`] with all that do not fit.
pub fn replay_folder<M>(
    folder: impl AsRef<Path>,
    workflows: impl WorkflowSet<M>,
) -> Result<Checked, Misfits> {
    let folder = folder.as_ref();
    let mut check = Check {
        workflows: workflows.definitions(),
        files: 0,
        fit: 0,
        unfinished: 0,
        misfits: Vec::new(),
        unknown: BTreeSet::new(),
        sample: Sample::default(),
        thoroughly: 0,
        once: 0,
    };
    check.folder(&in_package(folder));
    if check.misfits.is_empty() {
        Ok(Checked {
            files: check.files,
            histories: check.fit,
            unfinished: check.unfinished,
            thoroughly: check.thoroughly,
            changed: changed(),
        })
    } else {
        Err(Misfits {
            folder: shown(folder),
            fit: check.fit,
            misfits: check.misfits,
            changed: changed(),
        })
    }
}

struct Check {
    workflows: Vec<WorkflowDefinition>,
    files: usize,
    fit: usize,
    unfinished: usize,
    misfits: Vec<Misfit>,
    /// Files and the workflows that were missed in them: an export may have many runs of each.
    unknown: BTreeSet<(String, String)>,
    sample: Sample,
    /// How many histories were replayed in all worlds.
    thoroughly: usize,
    /// How many were replayed in one.
    once: u64,
}

impl Check {
    fn folder(&mut self, folder: &Path) {
        let mut names = BTreeSet::new();
        if let Some(twice) = self
            .workflows
            .iter()
            .find(|known| !names.insert(known.name))
        {
            let workflow = twice.name;
            return self.misfit("", None, Unfit::SameName { workflow });
        }
        let mut files = Vec::new();
        if let Err(error) = collect(folder, &mut BTreeSet::new(), &mut files) {
            let error = error.to_string();
            return self.misfit("", None, Unfit::NoFolder { error });
        }
        files.sort();
        for path in &files {
            let name = shown(path.strip_prefix(folder).unwrap_or(path));
            if ends_in(path, "json") {
                self.history_file(path, &name);
            } else {
                self.export_file(path, &name);
            }
        }
        self.files = files.len();
        if self.fit == 0 && self.misfits.is_empty() {
            self.misfit("", None, Unfit::Empty);
        }
    }

    fn misfit(&mut self, file: &str, run: Option<String>, why: Unfit) {
        self.misfits.push(Misfit {
            file: file.to_owned(),
            run,
            why,
        });
    }

    fn history_file(&mut self, path: &Path, name: &str) {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => {
                let error = error.to_string();
                return self.misfit(name, None, Unfit::Io { error });
            }
        };
        match History::from_json(&text) {
            Ok(history) => self.history(name, history),
            Err(error) => self.misfit(name, None, Unfit::NotAHistory(error)),
        }
    }

    fn export_file(&mut self, path: &Path, name: &str) {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) => {
                let error = error.to_string();
                return self.misfit(name, None, Unfit::Io { error });
            }
        };
        let read = export::read(BufReader::new(file), &mut |found| match found {
            Found::History(history) => self.history(name, history),
            Found::Partial(run) => self.misfit(name, Some(run.to_string()), Unfit::Partial),
        });
        if let Err(export::Unreadable { line, problem }) = read {
            self.misfit(name, None, Unfit::NotAnExport { line, problem });
        }
    }

    fn history(&mut self, file: &str, history: History) {
        let run = Some(history.run.to_string());
        let started = match history.units.first().map(|unit| &unit.observation) {
            Some(Observation::Started(started)) => Some(started),
            Some(Observation::Migrated(migrated)) => migrated.unstarted.as_deref(),
            _ => None,
        };
        let Some(started) = started else {
            return self.misfit(file, run, Unfit::NotStarted);
        };
        let workflow = &started.workflow;
        let known = self.workflows.iter().find(|known| known.name == workflow);
        let Some(definition) = known.copied() else {
            if self.unknown.insert((file.to_owned(), workflow.clone())) {
                let given: Vec<_> = self.workflows.iter().map(|known| known.name).collect();
                let why = Unfit::UnknownWorkflow {
                    workflow: workflow.clone(),
                    closest: closest(workflow, given.iter().copied()),
                    given,
                };
                self.misfit(file, run, why);
            }
            return;
        };
        match self.replay(definition, &history) {
            Ok(finished) => {
                self.fit += 1;
                self.unfinished += usize::from(!finished);
            }
            Err(why) => self.misfit(file, run, why),
        }
    }

    /// `true`: the run had ended.
    fn replay(&mut self, definition: WorkflowDefinition, history: &History) -> Result<bool, Unfit> {
        if self.sample.takes(definition.name, history) {
            self.thoroughly += 1;
            return thorough::replay(definition, history);
        }
        self.once += 1;
        thorough::replay_once(definition, history, self.once)
    }
}

/// All files of histories in a folder and those within it.
fn collect(
    folder: &Path,
    seen: &mut BTreeSet<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> io::Result<()> {
    // A link may lead back.
    if !seen.insert(folder.canonicalize()?) {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, seen, files)?;
        } else if ends_in(&path, "json") || ends_in(&path, "jsonl") {
            files.push(path);
        }
    }
    Ok(())
}

fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}
