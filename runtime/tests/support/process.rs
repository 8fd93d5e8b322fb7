//! Other processes: this test binary once more, running one test that is otherwise ignored. What it tells, it
//! tells in lines; it may be killed, abort, ask for all memory or come to no end.
#![allow(dead_code, clippy::unwrap_used, unreachable_pub)]

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The test harness of the other process talks too.
const SAYS: &str = "other process: ";

/// What the other process tells, in it.
pub fn tell(what: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{SAYS}{what}").unwrap();
    out.flush().unwrap();
}

/// A variable that the one who started this process has set.
pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// A bound for its memory; and what exceeds a bound for files is refused, and does not end the process.
const BOUNDS: &str = "trap '' XFSZ; ulimit -v 8000000; ulimit -c 0; exec \"$@\"";

/// How to start another process.
#[derive(Debug)]
pub struct Role(Command);

impl Role {
    /// `test` is the whole name of the test that it runs.
    pub fn new(test: &str) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut command = if cfg!(unix) {
            let mut command = Command::new("sh");
            command.args(["-c", BOUNDS, "sh"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command
            .args([test, "--exact", "--ignored", "--nocapture"])
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self(command)
    }

    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// As a user who may do nothing in particular.
    #[cfg(unix)]
    pub fn by_nobody(mut self) -> Self {
        std::os::unix::process::CommandExt::uid(&mut self.0, 65_534);
        std::os::unix::process::CommandExt::gid(&mut self.0, 65_534);
        self
    }

    pub fn start(self) -> Process {
        self.try_start().unwrap()
    }

    pub fn try_start(mut self) -> std::io::Result<Process> {
        let mut child = self.0.spawn()?;
        let (line, lines) = channel();
        let (out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let reading = std::thread::spawn(move || {
            for text in BufReader::new(out).lines().map_while(Result::ok) {
                if let Some((_, said)) = text.split_once(SAYS) {
                    let _ = line.send(said.to_owned());
                }
            }
        });
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = err.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Process {
            child: Mortal(child),
            lines,
            reading,
            errors,
        })
    }
}

/// A process that does not outlive its test.
#[derive(Debug)]
struct Mortal(Child);

impl Drop for Mortal {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Another process.
#[derive(Debug)]
pub struct Process {
    child: Mortal,
    lines: Receiver<String>,
    reading: JoinHandle<()>,
    errors: JoinHandle<String>,
}

/// Why there is no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoLine {
    /// It has ended.
    Ended,
    /// It has told nothing in time.
    Silent,
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// What it told that nobody had asked for yet.
    pub lines: Vec<String>,
    errors: String,
}

impl Ended {
    /// The end of what it wrote to stderr.
    pub fn last_words(&self) -> String {
        let lines: Vec<_> = self.errors.lines().rev().take(8).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n    ")
    }
}

impl Process {
    pub fn id(&self) -> u32 {
        self.child.0.id()
    }

    /// The next line, once it is there.
    pub fn line(&self) -> Option<String> {
        self.lines.recv().ok()
    }

    /// The next line, if it comes in time.
    pub fn line_until(&self, until: Instant) -> Result<String, NoLine> {
        let time = until.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(time).map_err(|error| match error {
            RecvTimeoutError::Timeout => NoLine::Silent,
            RecvTimeoutError::Disconnected => NoLine::Ended,
        })
    }

    pub fn kill(&mut self) {
        self.child.0.kill().unwrap();
    }

    /// Kills it, and gives what it told before.
    pub fn killed(mut self) -> Ended {
        self.kill();
        self.ended()
    }

    /// Waits for its end.
    pub fn ended(mut self) -> Ended {
        let status = self.child.0.wait().unwrap();
        self.reading.join().unwrap();
        Ended {
            status,
            lines: self.lines.iter().collect(),
            errors: self.errors.join().unwrap(),
        }
    }

    /// Waits for its end; one that comes to none in time is killed. `Err`: it was.
    pub fn ended_within(mut self, patience: Duration) -> Result<Ended, Ended> {
        let until = Instant::now() + patience;
        let mut lines = Vec::new();
        let end = loop {
            match self.line_until(until) {
                Ok(line) => lines.push(line),
                Err(end) => break end,
            }
        };
        if end == NoLine::Silent {
            self.kill();
        }
        let mut ended = self.ended();
        lines.append(&mut ended.lines);
        ended.lines = lines;
        match end {
            NoLine::Ended => Ok(ended),
            NoLine::Silent => Err(ended),
        }
    }
}
