//! Another process: this test binary once more, running the one test here that is otherwise ignored.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use perennial_runtime::store::{OpenError, SledStore};

use crate::world::{begin, commit, commit_of, large_unit, os, run, unit, wait};
use perennial_runtime::store::Store as _;

const FOLDER: &str = "PERENNIAL_TEST_STORE";
const PLOT: &str = "PERENNIAL_TEST_PLOT";

/// What the other process does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Plot {
    /// Opens the store and holds it.
    Hold,
    /// Commits unit after unit, and tells the number of each that was acknowledged.
    Commit,
    /// The same with commits of several hundred KB.
    CommitLarge,
    /// Waits until it is killed or nobody else holds the store, then commits a unit and holds it.
    Wait,
}

/// Another process with the store open.
pub(crate) struct Other {
    process: Mortal,
    lines: Told,
}

/// A process that does not outlive its test.
pub(crate) struct Mortal(Child);

impl Drop for Mortal {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What it tells.
pub(crate) struct Told(Lines<BufReader<ChildStdout>>);

impl Told {
    /// The next thing; `None` when it has ended.
    pub(crate) fn next(&mut self) -> Option<String> {
        loop {
            let line = self.0.next()?.unwrap();
            // The test harness talks too.
            if let Some((_, told)) = line.split_once("other process: ") {
                return Some(told.to_owned());
            }
        }
    }
}

impl Other {
    pub(crate) fn start(folder: &Path, plot: Plot) -> Self {
        let mut other = Self::begin(folder, plot);
        assert_eq!(other.next().as_deref(), Some("open"));
        other
    }

    /// Without waiting until it has the store open.
    pub(crate) fn begin(folder: &Path, plot: Plot) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([
                "child::other_process",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env(FOLDER, folder)
            .env(PLOT, format!("{plot:?}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self {
            process: Mortal(process),
            lines: Told(lines),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.0.id()
    }

    /// The next thing that it tells; `None` when it has ended.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.lines.next()
    }

    /// What it tells, and the process.
    pub(crate) fn split(self) -> (Told, Mortal) {
        (self.lines, self.process)
    }

    /// Ends it without notice, and gives the last number that it told.
    pub(crate) fn kill(self) -> Option<u64> {
        let (mut lines, process) = self.split();
        drop(process);
        let mut last = None;
        while let Some(told) = lines.next() {
            last = told.parse().ok().or(last);
        }
        last
    }
}

fn tell(what: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "other process: {what}").unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "only makes sense as another process"]
fn other_process() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    match std::env::var(PLOT).unwrap().as_str() {
        "Hold" => {
            let _store = os().open(folder).unwrap();
            tell("open");
            std::thread::park();
        }
        "Wait" => {
            tell("waits");
            let store = loop {
                match SledStore::open(&folder) {
                    Ok(store) => break store,
                    Err(OpenError::Held { .. }) => std::thread::yield_now(),
                    Err(error) => return tell(format!("error {error}").replace('\n', " ")),
                }
            };
            let run = run("order-42");
            if store.load(&run).unwrap().is_none() {
                begin(&store, &run);
            }
            let number = store.load(&run).unwrap().unwrap().head.sequence + 1;
            commit(&store, &run, number).unwrap();
            tell(number);
            std::thread::park();
        }
        plot => {
            let store = SledStore::open(folder).unwrap();
            tell("open");
            let run = run("order-42");
            if store.load(&run).unwrap().is_none() {
                begin(&store, &run);
            }
            let mut number = store.load(&run).unwrap().unwrap().head.sequence + 1;
            loop {
                if plot == "Commit" {
                    commit(&store, &run, number).unwrap();
                    number += 1;
                } else {
                    let large = large_unit(number, 300_000);
                    wait(|ack| store.commit(commit_of(&run, large), ack)).unwrap();
                    number += 2;
                    wait(|ack| store.commit(commit_of(&run, unit(number)), ack)).unwrap();
                    number += 1;
                }
                tell(number - 1);
            }
        }
    }
}
