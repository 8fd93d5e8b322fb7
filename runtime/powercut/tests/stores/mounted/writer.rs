//! A process that writes until it is killed. It tells what is acknowledged in a file: one that has no reader
//! keeps nobody waiting, and holds all that was told when the process is stopped.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use perennial_runtime::store::{Durability, Store as _};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, pidfd_open, waitid,
};

use crate::script::find;
use crate::writing::{Tell, open, scripts, write_beside_readers};
use crate::{embedded, sled};

const LOAD: &str = "PERENNIAL_TEST_WRITER";
const FOLDER: &str = "PERENNIAL_TEST_WRITER_FOLDER";
/// How far each run is, which another process may have written.
const FROM: &str = "PERENNIAL_TEST_WRITER_FROM";
const ERRORS: &str = "errors";
const TOLD: &str = "told: ";
const PATIENCE: Duration = Duration::from_secs(120);

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Load {
    /// To sled as it is.
    Sled,
    Store {
        durability: Durability,
        threads: usize,
        /// Of each thread.
        runs: usize,
        /// Of each run, until the store is opened anew.
        steps: u64,
        /// So many bytes gather before sled takes them over.
        gather: usize,
    },
}

impl Load {
    fn to_text(self) -> String {
        match self {
            Self::Sled => "Sled".into(),
            Self::Store {
                durability,
                threads,
                runs,
                steps,
                gather,
            } => format!("{durability:?} {threads} {runs} {steps} {gather}"),
        }
    }

    fn from_text(text: &str) -> Self {
        let mut words = text.split(' ');
        let durability = match words.next().unwrap() {
            "Sled" => return Self::Sled,
            "Sync" => Durability::Sync,
            "Os" => Durability::Os,
            other => panic!("{other}"),
        };
        let mut number = || words.next().unwrap().parse().unwrap();
        Self::Store {
            durability,
            threads: number(),
            runs: number(),
            steps: number() as u64,
            gather: number(),
        }
    }

    fn runs(self) -> usize {
        match self {
            Self::Sled => 1,
            Self::Store { threads, runs, .. } => threads * runs,
        }
    }
}

/// The process, which is killed when this is dropped.
pub(super) struct Writer {
    process: Child,
    load: Load,
    reports: File,
    /// Has something to read when there is something new in the reports.
    words: OwnedFd,
    /// The last line, while it has no end.
    rest: String,
    lines: u64,
    /// How far each run was told to be.
    told: Vec<u64>,
    place: PathBuf,
    folder: PathBuf,
}

impl Writer {
    /// It writes below `place`. What it says goes into `folder`.
    pub(super) fn start(load: Load, place: &Path, folder: &Path) -> Self {
        Self::start_from(load, place, folder, vec![0; load.runs()])
    }

    fn start_from(load: Load, place: &Path, folder: &Path, told: Vec<u64>) -> Self {
        let reports = folder.join("reports");
        let from: Vec<_> = told.iter().map(u64::to_string).collect();
        let output = File::create(&reports).unwrap();
        let words = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
        inotify::add_watch(&words, &reports, inotify::WatchFlags::MODIFY).unwrap();
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["mounted::writer::writing_process", "--exact"])
            .args(["--ignored", "--nocapture"])
            .env(LOAD, load.to_text())
            .env(FOLDER, place)
            .env(FROM, from.join(" "))
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(File::create(folder.join(ERRORS)).unwrap())
            .spawn()
            .unwrap();
        Self {
            process,
            load,
            reports: File::open(reports).unwrap(),
            words,
            rest: String::new(),
            lines: 0,
            told,
            place: place.into(),
            folder: folder.into(),
        }
    }

    /// Kills it. Another one goes on.
    pub(super) fn start_again(&mut self) {
        self.kill();
        self.listen();
        let told = std::mem::take(&mut self.told);
        *self = Self::start_from(self.load, &self.place, &self.folder, told);
    }

    /// Reads what it has told since this was last called.
    fn listen(&mut self) {
        self.reports.read_to_string(&mut self.rest).unwrap();
        let Some(end) = self.rest.rfind('\n') else {
            return;
        };
        let rest = self.rest.split_off(end + 1);
        for line in std::mem::replace(&mut self.rest, rest).lines() {
            let Some((_, told)) = line.split_once(TOLD) else {
                continue;
            };
            self.lines += 1;
            let (run, steps) = told.split_once(' ').unwrap();
            let told = &mut self.told[run.parse::<usize>().unwrap()];
            *told = (*told).max(steps.parse().unwrap());
        }
    }

    /// Waits until it has told so much more.
    pub(super) fn wait_for(&mut self, lines: u64) {
        let lines = self.lines + lines;
        self.listen();
        while self.lines < lines {
            if !self.says_more() {
                let ended = self.process.try_wait().unwrap();
                let errors = std::fs::read_to_string(self.folder.join(ERRORS)).unwrap();
                panic!("{lines} lines do not come ({ended:?}): {errors}");
            }
            self.listen();
        }
    }

    /// Waits until something is told. `false`: it has ended without a word, or patience has.
    fn says_more(&self) -> bool {
        let patience = Timespec::try_from(PATIENCE).unwrap();
        let process = pidfd_open(self.pid(), PidfdFlags::empty()).unwrap();
        let mut on = [
            PollFd::new(&self.words, PollFlags::IN),
            PollFd::new(&process, PollFlags::IN),
        ];
        poll(&mut on, Some(&patience)).unwrap();
        // What is said stands in the file.
        let mut events = [0; 4_096];
        rustix::io::read(&self.words, &mut events).is_ok()
    }

    /// How far each run was told to be.
    pub(super) fn told(&mut self) -> Vec<u64> {
        self.listen();
        self.told.clone()
    }

    /// What is promised when so much was told before the cut, and so much until after it.
    pub(super) fn promise(&self, least: &[u64], most: &[u64]) -> String {
        match self.load {
            Load::Sled => least[0].to_string(),
            Load::Store { durability, .. } => embedded::promise(durability, least, most),
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    fn send(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Stops it; each of its threads ends the call that it is in, and the last of them is waited for.
    pub(super) fn stop(&self) {
        self.send(Signal::STOP);
        let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.pid()), options).unwrap();
        assert!(
            status.is_some_and(|status| status.stopped()),
            "it has ended"
        );
    }

    pub(super) fn go_on(&self) {
        self.send(Signal::CONT);
    }

    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn tell((run, steps): (usize, u64)) {
    println!("{TOLD}{run} {steps}");
}

#[test]
#[ignore = "only makes sense as another process"]
fn writing_process() {
    let place = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let folder = place.join("store");
    match Load::from_text(&std::env::var(LOAD).unwrap()) {
        Load::Sled => {
            std::fs::create_dir(&folder).unwrap();
            sled::make(&folder);
            // That there is a database is not in question.
            rustix::fs::syncfs(File::open(&place).unwrap()).unwrap();
            sled::write(&folder, u64::MAX, |commit| tell((0, commit)));
        }
        Load::Store {
            durability,
            threads,
            runs,
            steps,
            gather,
        } => {
            let open =
                || open(&folder, durability, gather).unwrap_or_else(|error| panic!("{error}"));
            let tell: Tell = Arc::new(tell);
            let mut scripts = scripts(threads, runs);
            let mut store = open();
            let told = std::env::var(FROM).unwrap();
            let told = told.split(' ').map(|steps| steps.parse().unwrap());
            for ((run, script), told) in scripts.iter_mut().flatten().zip(told) {
                *script = find(&store, *run, told..=told + 1).unwrap();
                tell((*run, script.steps()));
            }
            loop {
                store.enroll().unwrap();
                write_beside_readers(&store, &mut scripts, steps, &tell);
                drop(store);
                store = open();
            }
        }
    }
}
